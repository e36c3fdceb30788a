/** The steps in the file of `--status-file`. */
import { nameWithReason } from "../../text/party-name.ts";
import type { ToldStep } from "./lock-story.ts";

/** Returns a step: the event, its time, and the queue at that time. */
export function statusStep({ at, progress }: ToldStep): Record<string, unknown> {
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
