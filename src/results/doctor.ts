/** What `doctor` finds, and what it has examined. */

import type { Finding } from "../recipes/doctor/finding.ts";
import type { ServerAddress } from "../session/options.ts";

/** Something that is wrong; any makes doctor end with exit code 1. */
export interface FindingResult {
  readonly kind: "finding";
  readonly finding: Finding;
  readonly from: DoctorTarget;
  /** The same is wrong with a znode that was named before: its fix needs no words again. */
  readonly isRepeated?: boolean;
}

/** What was examined, as far as a line that helps must name it. */
export interface DoctorTarget {
  readonly servers: readonly ServerAddress[];
  readonly chroot: string;
  readonly isTls: boolean;
  /** Lines are typed into a system shell; else at the prompt. */
  readonly isOneShot: boolean;
}

/** The examination has ended. */
export interface ExaminedResult {
  readonly kind: "examined";
  readonly servers: readonly ExaminedServer[];
  /** Left out where no server took a session, or the chroot does not exist. */
  readonly znodes?: number;
  /** False if there are more than the limit. */
  readonly isWholeTree: boolean;
  /** Named on stderr. */
  readonly unreadable: number;
  /** How many servers told their time. */
  readonly clocks: number;
  readonly findings: number;
}

export interface ExaminedServer {
  readonly server: string;
  readonly isListed: boolean;
  readonly isTls: boolean;
  /** It answered, even if only to refuse. */
  readonly isReached: boolean;
  readonly release?: string | undefined;
  readonly mode?: string | undefined;
  /** From a question to its answer, as measured here. */
  readonly roundTripMs?: number;
  /** What the server tells of all its requests. */
  readonly latency?:
    | { readonly min: number; readonly avg: number; readonly max: number }
    | undefined;
  readonly zxid?: bigint | undefined;
  /** Transactions behind the leader, where it is behind. */
  readonly lag: bigint;
  readonly outstanding?: number | undefined;
}

export type DoctorResult = FindingResult | ExaminedResult;
