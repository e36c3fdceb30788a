/**
 * What programs can use of zksh: ZooKeeper sessions, their errors, locks, and a server in memory
 * for tests.
 */

export type { KeeperOptions } from "./embedded/dialect.ts";
export { type EmbeddedServer, startEmbeddedServer } from "./embedded/server.ts";
export type { EmbeddedServerOptions } from "./embedded/settings.ts";
export {
  ConflictError,
  ConnectionError,
  DeadlineError,
  type ErrorDetails,
  InterruptedError,
  type InterruptedErrorDetails,
  LockError,
  type LockErrorDetails,
  type LockErrorReason,
  NoNodeError,
  OperationError,
  PartialError,
  PermissionError,
  RefusedError,
  type TlsProblem,
  UsageError,
  ZkshError,
} from "./errors.ts";
export { Election, type ElectionOptions } from "./recipes/locks/election.ts";
export type {
  At,
  Contending,
  Gone,
  LockEvent,
  LockListener,
  LostLockReason,
  Permits,
  Waiting,
} from "./recipes/locks/events.ts";
export type { HeldLock } from "./recipes/locks/held-lock.ts";
export type { HeldLocks } from "./recipes/locks/held-locks.ts";
export type {
  HolderRecord,
  LockMode,
  Party,
  RevokeRequest,
} from "./recipes/locks/holder-record.ts";
export {
  type InspectOptions,
  inspectLock,
  type LockLayout,
  type LockReport,
  type QueueMember,
} from "./recipes/locks/inspect/inspect-lock.ts";
export type { AcquireOptions, Holder, LockOptions } from "./recipes/locks/lock-recipe.ts";
export { MultiLock } from "./recipes/locks/multi-lock.ts";
export { Mutex } from "./recipes/locks/mutex.ts";
export { Once, type OnceFound, type OnceOptions } from "./recipes/locks/once/once.ts";
export type { OnceTurn } from "./recipes/locks/once/once-turn.ts";
export { CALENDAR, type Per, type Period } from "./recipes/locks/once/period.ts";
export type { Run } from "./recipes/locks/once/runs.ts";
export type { QueueLock } from "./recipes/locks/queue/queue-lock.ts";
export type { Removed } from "./recipes/locks/queue/remove-znodes.ts";
export { ReadWriteLock, type WriteSide } from "./recipes/locks/read-write-lock.ts";
export { Semaphore, type SemaphoreOptions } from "./recipes/locks/semaphore.ts";
export { UniqueLock } from "./recipes/locks/unique-lock.ts";
export { parseConnectString } from "./session/connect-string.ts";
export type * from "./session/options.ts";
export * from "./session/session.ts";
export { readKeyStore, readTrustStore, type StoreOptions } from "./session/stores/stores.ts";
export { openSession } from "./session/zookeeper/client.ts";
