/** What `doctor` finds: values only; how they are said, and what helps, is the renderer's. */
import type { WordFailure } from "../../session/four-letter-word.ts";
import type { ServerAddress } from "../../session/options.ts";
import type { Acl } from "../../session/session.ts";

/**
 * `error`: something does not work now. `warning`: it is near a limit, or unsafe. `note`: something
 * could not be examined, or could be better.
 */
type Severity = "error" | "warning" | "note";

interface Rated {
  readonly severity: Severity;
}

/** About one server; `server` is `host:port`, with the address behind it where there are several. */
interface OfServer extends Rated {
  readonly server: string;
}

interface OfZnode extends Rated {
  readonly path: string;
}

export type ServerFinding =
  | (OfServer & { readonly check: "dns"; readonly says: string })
  | (OfServer & {
      readonly check: "unreachable";
      readonly why: WordFailure;
      readonly says: string;
      /** Other addresses of the same name answer. */
      readonly isOneAddress: boolean;
    })
  /** What listens there answers `srvr` in no form that is known. */
  | (OfServer & { readonly check: "not-zookeeper" })
  | (OfServer & { readonly check: "not-serving" })
  | (OfServer & { readonly check: "read-only" })
  | (OfServer & {
      readonly check: "slow";
      readonly avgMs: number;
      readonly maxMs: number;
      readonly requests: number;
    })
  | (OfServer & { readonly check: "outstanding"; readonly outstanding: number })
  | (OfServer & { readonly check: "word-not-allowed"; readonly word: "srvr" | "mntr" })
  | (OfServer & {
      readonly check: "lag";
      readonly zxid: bigint;
      /** What the leader had applied before `waitedMs` began. */
      readonly leaderZxid: bigint;
      readonly waitedMs: number;
    });

export type EnsembleFinding =
  | (Rated & { readonly check: "no-leader"; readonly servers: readonly string[] })
  | (Rated & { readonly check: "several-leaders"; readonly servers: readonly string[] })
  | (Rated & { readonly check: "several-ensembles"; readonly servers: readonly string[] })
  | (Rated & {
      readonly check: "version-skew";
      readonly releases: readonly { readonly server: string; readonly release: string }[];
    })
  | (OfServer & {
      readonly check: "followers-not-synced";
      readonly synced: number;
      /** Of all members that vote, without the leader. */
      readonly followers: number;
    })
  | (Rated & {
      readonly check: "member-not-listed";
      readonly members: readonly ServerAddress[];
    })
  | (Rated & { readonly check: "no-session"; readonly server?: string; readonly says: string });

export type ClockFinding = Rated & {
  readonly check: "clock-skew";
  /** Left out: this machine's clock differs from those of all servers. */
  readonly server?: string;
  /** At least so much ahead of this machine's clock; behind, where it is negative. */
  readonly aheadMs: number;
  /** The znode whose time is in the future, where that is the evidence. */
  readonly path?: string;
};

type ChrootFinding = Rated & { readonly check: "chroot-missing"; readonly chroot: string };

export type SizeFinding =
  | (OfZnode & {
      readonly check: "wide-parent";
      readonly children: number;
      /** Of the list of names; left out where it was not read to its end. */
      readonly bytes?: number;
      readonly limit: number;
    })
  | (OfZnode & { readonly check: "large-znode"; readonly bytes: number; readonly limit: number });

export type OpenAclFinding = OfZnode & {
  readonly check: "open-acl";
  /** The whole list. */
  readonly acl: readonly Acl[];
  /** The session has authenticated: an ACL can name it. */
  readonly hasIdentity: boolean;
};

/** `path` is the whole one, without the chroot taken off: so quotas are kept. */
export type QuotaFinding = OfZnode & {
  readonly check: "quota";
  readonly what: "count" | "bytes";
  readonly isHard: boolean;
  readonly used: bigint;
  readonly limit: bigint;
};

type NamedFinding =
  | ServerFinding
  | EnsembleFinding
  | ClockFinding
  | ChrootFinding
  | SizeFinding
  | OpenAclFinding
  | QuotaFinding;

/** More of one check than are named one by one. */
type MoreFindings = Rated & {
  readonly check: "more";
  readonly of: NamedFinding["check"];
  readonly count: number;
};

export type Finding = NamedFinding | MoreFindings;
