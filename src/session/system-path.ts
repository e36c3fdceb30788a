/** What ZooKeeper keeps for itself: quotas and the configuration of the ensemble. */
export const SYSTEM_PATH = "/zookeeper";
export const CONFIG_PATH = `${SYSTEM_PATH}/config`;
/** Where ClickHouse Keeper keeps it. */
export const KEEPER_CONFIG_PATH = "/keeper/config";
export const QUOTA_ROOT = `${SYSTEM_PATH}/quota`;

const KEEPER_PATH = "/keeper";

/** As {@link isSystemPath}, on ClickHouse Keeper; on other servers /keeper is a znode like others. */
export function isKeeperPath(path: string): boolean {
  return path === KEEPER_PATH || path.startsWith(`${KEEPER_PATH}/`);
}

export function isSystemPath(path: string): boolean {
  return path === SYSTEM_PATH || path.startsWith(`${SYSTEM_PATH}/`);
}

/** The root and what ZooKeeper keeps for itself: never locked, and no tree to delete or change. */
export function isProtectedPath(path: string): boolean {
  return path === "/" || isSystemPath(path);
}
