import { RefusedError, UsageError } from "../errors.ts";
import type { Finding } from "../recipes/doctor/finding.ts";
import type { DoctorTarget } from "../results/doctor.ts";
import { flag, option, type ValueParser } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { Examination } from "./examination.ts";

/** Some seconds of reading, where a whole tree may take minutes. */
const MAX_ZNODES = 200_000;

const count: ValueParser<number> = (text) => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`bad number '${text}'`, { hint: "use a whole number; 0 reads no tree" });
};

export const doctor = defineCommand({
  details:
    "doctor asks each server of the connect string and each other member of the ensemble (srvr, " +
    "and mntr of the leader), and reads the tree. It prints only findings, each with a fix: exit " +
    "code 1 if there are any, 6 if no server can be reached, 8 if only some znodes cannot be read. " +
    "Findings are parents from 10,000 children on; data and lists of children from 70 % of " +
    "jute.maxbuffer on (1 MB, or --max-request); znodes at the top that world:anyone may write or " +
    "admin; quotas from 90 % on; clocks from 1 s on. Clocks are compared where servers allow cons; " +
    "elsewhere only a time in the future shows that the leader's clock is ahead. Nothing is written " +
    "without --test-write. A fix that is a command needs the --tls-… and --auth options of this one " +
    "too; words in capitals are to be filled in.",
  examples: ["doctor", "doctor --max-znodes 1000000", "doctor --test-write"],
  effect: "read",
  args: {},
  options: {
    maxZnodes: option("", "n", count, "read at most n znodes of the tree (default: 200,000)"),
    testWrite: flag("", "create and delete one znode, to compare the leader's clock"),
  },
  async *run(context, _args, { maxZnodes = MAX_ZNODES, testWrite }) {
    const options = await context.servers.options();
    if (testWrite && options.readOnly === true) {
      throw new RefusedError(
        "read-only",
        "doctor --test-write is refused: the session is read-only",
        {
          hint: "leave out --read-only (-r) to allow writes",
        },
      );
    }
    const target = targetOf(context, options);
    const examination = new Examination(context, {
      target,
      maxZnodes,
      testsWrite: testWrite,
      maxBuffer: options.maxRequestBytes,
    });
    let findings = 0;
    const checks = new Set<Finding["check"]>();
    try {
      for await (const finding of limited(examination.findings())) {
        findings += 1;
        const isRepeated = "path" in finding && checks.has(finding.check);
        checks.add(finding.check);
        yield { kind: "finding", finding, from: target, isRepeated };
      }
      yield* examination.unreadable.named();
      yield examination.result(findings);
    } finally {
      await examination.close();
    }
  },
});

function targetOf(
  { shell }: Context,
  { servers, chroot = "", tls }: Awaited<ReturnType<Context["servers"]["options"]>>,
): DoctorTarget {
  return { servers, chroot, isTls: tls !== undefined, isOneShot: shell.isOneShot };
}

/** Of each check of znodes; the others are counted. */
const MAX_NAMED = 20;

async function* limited(findings: AsyncIterable<Finding>): AsyncGenerator<Finding> {
  const counts = new Map<Exclude<Finding["check"], "more">, number>();
  for await (const finding of findings) {
    if (finding.check === "more") continue;
    const number = (counts.get(finding.check) ?? 0) + 1;
    counts.set(finding.check, number);
    if (!("path" in finding) || number <= MAX_NAMED) yield finding;
  }
  for (const [of, number] of counts)
    if (number > MAX_NAMED)
      yield { check: "more", severity: "note", of, count: number - MAX_NAMED };
}
