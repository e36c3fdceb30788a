/** The numbers of ZooKeeper's protocol. */

export const Opcode = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  deleteContainer: 20,
  createTtl: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  closeSession: -11,
  error: -1,
} as const;
export type OpcodeName = keyof typeof Opcode;

/** Returns the name of an opcode, or its number if it is unknown, for traces. */
export function opcodeName(opcode: number): string {
  return Object.entries(Opcode).find(([, number]) => number === opcode)?.[0] ?? `op ${opcode}`;
}

/**
 * The xids of replies that answer no numbered request. That of SASL is our choice: requests are
 * numbered from 1.
 */
export const Xid = { notification: -1, ping: -2, auth: -4, setWatches: -8, sasl: 0 } as const;

export const EventType = { created: 1, deleted: 2, dataChanged: 3, childrenChanged: 4 } as const;

/** The only session state that servers name in their events. */
export const SYNC_CONNECTED = 3;

export const WatcherType = { children: 1, data: 2, any: 3 } as const;

export const AddWatchMode = { persistent: 0, recursive: 1 } as const;

/** ZooKeeper's error numbers by the names of its own table (KeeperException.Code). */
export const ErrorCode = {
  systemError: -1,
  runtimeInconsistency: -2,
  dataInconsistency: -3,
  connectionLoss: -4,
  marshallingError: -5,
  unimplemented: -6,
  operationTimeout: -7,
  badArguments: -8,
  unknownSession: -12,
  newConfigNoQuorum: -13,
  reconfigInProgress: -14,
  apiError: -100,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  noChildrenForEphemerals: -108,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidCallback: -113,
  invalidAcl: -114,
  authFailed: -115,
  sessionMoved: -118,
  notReadOnly: -119,
  ephemeralOnLocalSession: -120,
  noWatcher: -121,
  requestTimeout: -122,
  reconfigDisabled: -123,
  sessionClosedRequireSaslAuth: -124,
  quotaExceeded: -125,
  throttledOp: -127,
} as const;
