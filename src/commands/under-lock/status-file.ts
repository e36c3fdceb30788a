/** The file of `--status-file`: how a run ended, and its steps. */
import { UsageError } from "../../errors.ts";
import { escapeJson } from "../../text/escape.ts";
import { nameWithReason } from "../../text/party-name.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import type { ToldStep } from "./lock-story.ts";

/** Checked before queuing, so that the outcome of a run is never lost. */
export async function mustBeWritable({ context, values }: LockRun): Promise<void> {
  if (values.statusFile === undefined) return;
  const why = await context.files.cannotWrite(values.statusFile);
  if (why !== undefined) throw new UsageError(`cannot write the status file: ${why}`);
}

/** Writes the file, if the line names one; a failure is an event only. */
export async function writeStatus(
  task: LockRun,
  token: bigint | undefined,
  ending: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { context, values, story, tell } = task;
  const { statusFile: file } = values;
  if (file === undefined) return;
  const path = pathOf(task);
  const steps = story.told.map(statusStep);
  const facts = {
    ...ending,
    path,
    ...(token !== undefined && { token: String(token) }),
    ...(steps.length > 0 && { steps }),
  };
  try {
    // Neighbours' names are in it, and the file may be shown on a terminal, or be one.
    await context.files.write(file, `${escapeJson(JSON.stringify(facts))}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    tell({ event: "unrecorded", path, file, why });
  }
}

/** Returns a step: the event, its time, and the queue at that time. */
function statusStep({ at, progress }: ToldStep): Record<string, unknown> {
  const { event, path } = progress;
  const step = { event: event.replaceAll("-", "_"), at: new Date(at).toISOString(), path };
  switch (progress.event) {
    case "queued":
    case "leased":
      return { ...step, node: progress.node };
    case "waiting": {
      const { position, of, ahead, holder } = progress;
      return { ...step, position, of, ahead, ...(holder && { holder: nameWithReason(holder) }) };
    }
    case "predecessor-gone":
    case "contender-gone":
      return { ...step, ahead: progress.ahead };
    case "acquired":
      return {
        ...step,
        node: progress.node,
        token: String(progress.token),
        waitedMs: Math.round(progress.waitedMs),
      };
    default:
      return step;
  }
}
