/** setpriv(1) makes the kernel signal a program when zksh dies. */
import { execFile } from "node:child_process";
import type { Environment } from "./child-requests.ts";

export function setprivWords(signal: "SIGTERM" | "SIGKILL"): string[] {
  return ["setpriv", "--pdeathsig", signal.replace("SIG", ""), "--"];
}

export function findSetpriv(environment: Environment): Promise<boolean> {
  if (process.platform !== "linux") return Promise.resolve(false);
  const [file = "", ...args] = setprivWords("SIGTERM");
  // Older versions, and busybox, do not know the option.
  return new Promise((resolve) => {
    execFile(file, [...args, "true"], { env: { ...environment } }, (error) => resolve(!error));
  });
}
