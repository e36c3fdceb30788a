import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { startZksh, type ZkshProcess } from "../support/zksh-process.ts";

const directory = temporaryDirectory("watch");
let server: string;
let other: Session;

afterAll(() => removeDirectory(directory));

beforeEach(async () => {
  server = await freshChroot();
  other = openFor(server);
});

async function proxied() {
  const [address = "", chroot] = server.split("/");
  const proxy = await startFaultProxy(Number(address.split(":")[1]));
  onTestFinished(() => proxy.close());
  return { proxy, through: `${proxy.address}/${chroot}` };
}

function lastLine(zksh: ZkshProcess, line: string): Promise<unknown> {
  return eventually(() => expect(withoutTimes(zksh.stdout).split("\n").at(-2)).toBe(line));
}

function withoutTimes(text: string): string {
  return text.replace(/\t\d{4}-[\dT:.-]+Z$|,"at":"[^"]+"(?=}$)/gm, "");
}

async function interrupted(zksh: ZkshProcess): Promise<void> {
  zksh.kill("SIGINT");
  expect((await zksh.result).code).toBe(130);
}

describe("watch", () => {
  test.each([{ options: [] }, { options: ["-R"] }])(
    "$options loses nothing over a reconnect",
    async ({ options }) => {
      const { proxy, through } = await proxied();
      await other.create("/n", Buffer.from("0"));
      const zksh = startZksh(["-s", through, "watch", ...options, "/n"]);
      await lastLine(zksh, "current /n (version 0): 0");
      await proxy.refuse();
      await other.setData("/n", Buffer.from("1"));
      await other.setData("/n", Buffer.from("2"));
      await proxy.listen();
      await lastLine(zksh, "changed /n (version 2): 2");
      await proxy.refuse();
      await other.delete("/n");
      await other.create("/n", Buffer.from("new"));
      await proxy.listen();
      await lastLine(zksh, "created /n (version 0): new");
      expect(withoutTimes(zksh.stdout)).toContain("\ndeleted /n\n");
      expect(zksh.stderr).toBe("");
      await interrupted(zksh);
    },
  );

  test.each([{ options: [] }, { options: ["-R"] }])(
    "$options goes on in a new session when its own is lost",
    async ({ options }) => {
      const { proxy, through } = await proxied();
      await other.create("/n", Buffer.from("0"));
      const zksh = startZksh([
        "-s",
        through,
        "-t",
        "3s",
        "--connect-timeout",
        "3s",
        "watch",
        ...options,
        "/n",
      ]);
      await lastLine(zksh, "current /n (version 0): 0");
      await proxy.refuse();
      await eventually(() =>
        zksh.stderr.includes("note: the session was lost; opening a new one\n"),
      );
      await other.setData("/n", Buffer.from("1"));
      await proxy.listen();
      await lastLine(zksh, "changed /n (version 1): 1");
      expect(zksh.stderr).toBe(
        "note: the session was lost; opening a new one\nnote: watching /n in a new session\n",
      );
      await other.setData("/n", Buffer.from("2"));
      await lastLine(zksh, "changed /n (version 2): 2");
      await interrupted(zksh);
    },
  );

  test("-R finds what happened below while no server answered", async () => {
    const { proxy, through } = await proxied();
    await other.create("/n", null);
    await other.create("/n/a", null);
    await other.create("/n/b", null);
    const zksh = startZksh(["-s", through, "watch", "-R", "/n"]);
    await lastLine(zksh, "current /n/b (version 0)");
    await proxy.refuse();
    await other.setData("/n/a", Buffer.from("x"));
    await other.delete("/n/b");
    await other.create("/n/c", null);
    await proxy.listen();
    await lastLine(zksh, "deleted /n/b");
    expect(withoutTimes(zksh.stdout)).toContain(
      "\nchanged /n/a (version 1): x\ncreated /n/c (version 0)\n",
    );
    await interrupted(zksh);
  });

  test("ends with 6 when there never was a server", async () => {
    const { proxy, through } = await proxied();
    await proxy.refuse();
    expect((await startZksh(["-s", through, "watch", "/n"]).result).code).toBe(6);
  });

  test("writes each change at once", async () => {
    const zksh = startZksh(["-s", server, "--json", "watch", "/n"]);
    await lastLine(zksh, '{"event":"absent","path":"/n"}');
    await other.create("/n", null);
    await eventually(() => zksh.stdout.split("\n").length === 3);
    await interrupted(zksh);
  });

  test("works in a script", async () => {
    await other.create("/n", Buffer.from("x"));
    const zksh = startZksh(["-s", server], { input: "watch /n --count 1\nget /n\n" });
    await lastLine(zksh, "current /n (version 0): x");
    await other.setData("/n", Buffer.from("y"));
    const { code, stdout } = await zksh.result;
    expect([code, withoutTimes(String(stdout))]).toEqual([
      0,
      "current /n (version 0): x\nchanged /n (version 1): y\ny",
    ]);
  });
});

describe("watch PATH -- COMMAND", () => {
  test("keeps a file up to date", async () => {
    const file = join(directory, "config");
    await other.create("/n", Buffer.from("one"));
    const script = `cat > ${file}.new; echo " $ZKSH_WATCH_EVENT $ZKSH_WATCH_VERSION" >> ${file}.new; mv ${file}.new ${file}; echo done`;
    const zksh = startZksh(["-s", server, "watch", "/n", "--", "sh", "-c", script]);
    const holds = (text: string) => eventually(() => expect(readFileSync(file, "utf8")).toBe(text));
    await holds("one current 0\n");
    await other.setData("/n", Buffer.from("two"));
    await holds("two changed 1\n");
    // stdout is the command's own.
    await eventually(() => expect(zksh.stdout).toBe("done\ndone\n"));
    await interrupted(zksh);
  });

  test("stops the command, and what it has started, at Ctrl-C", async () => {
    const file = join(directory, "pid");
    await other.create("/n", null);
    const zksh = startZksh([
      "-s",
      server,
      "watch",
      "/n",
      "--",
      "sh",
      "-c",
      `sleep 300 & echo $! > ${file}; wait`,
    ]);
    const pid = await eventually(
      () =>
        existsSync(file) &&
        Number(readFileSync(file, "utf8")) > 0 &&
        Number(readFileSync(file, "utf8")),
    );
    await interrupted(zksh);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow());
  });

  test("says at once that there is no such command", async () => {
    await other.create("/n", null);
    const { code, stderr } = await startZksh(["-s", server, "watch", "/n", "--", "/no/such"])
      .result;
    expect([code, stderr]).toEqual([2, "error: cannot run /no/such: no such program\n"]);
  });
});
