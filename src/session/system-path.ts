/** What ZooKeeper keeps for itself: quotas and the configuration of the ensemble. */
export const SYSTEM_PATH = "/zookeeper";
export const CONFIG_PATH = `${SYSTEM_PATH}/config`;
/** Where ClickHouse Keeper keeps it. */
export const KEEPER_CONFIG_PATH = "/keeper/config";
export const QUOTA_ROOT = `${SYSTEM_PATH}/quota`;

export function isSystemPath(path: string): boolean {
  return path === SYSTEM_PATH || path.startsWith(`${SYSTEM_PATH}/`);
}

/** The root and what ZooKeeper keeps for itself: never locked, and no tree to delete or change. */
export function isProtectedPath(path: string): boolean {
  return path === "/" || isSystemPath(path);
}
