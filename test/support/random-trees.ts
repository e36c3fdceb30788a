/** Trees for copies, exports and imports, and how they are compared. */
import { readTree } from "../../src/recipes/trees/read-tree.ts";
import { nextSequence } from "../../src/session/node-kind.ts";
import { type Acl, Permission, type Session } from "../../src/session/session.ts";
import { Random } from "./random.ts";
import { runZksh } from "./zksh-process.ts";

const signal = new AbortController().signal;
const READ_ONLY = [{ scheme: "world", id: "anyone", perms: Permission.read | Permission.admin }];

export async function zksh(server: string, ...args: string[]) {
  const { code, stdout, stderr } = await runZksh(["-s", server, ...args]);
  return { code, stdout: String(stdout), stderr: String(stderr) };
}

/** Paths relative to the root, with data, ACL and counter. */
export async function snapshot(session: Session, root: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const entries of readTree(session, root, { signal, onFailure() {} })) {
    const acls = await Promise.all(entries.map(({ path }) => session.getAcl(path)));
    for (const [index, { path, data, stat }] of entries.entries()) {
      const acl = acls[index]?.acl;
      const below = path.slice(root.length);
      found.set(below, JSON.stringify([data?.toString("base64"), acl, nextSequence(stat)]));
    }
  }
  return found;
}

export interface PlantOptions {
  /** Left out: `/src`. */
  readonly root?: string;
  /** What some of the znodes get; null: none. */
  readonly acl?: readonly Acl[] | null;
  readonly znodes?: number;
  /** Znodes of 60 KB each: 20 are more than one request takes. */
  readonly large?: number;
  /** Small ones below one parent that comes last: a lost batch of them is missed by no other. */
  readonly leaves?: number;
}

/** With odd names, binary data, sequence counters and ACLs that forbid to create children. */
export async function plantRandomTree(
  session: Session,
  seed: number,
  { acl = READ_ONLY, znodes = 25, large = 0, leaves = 0, root = "/src" }: PlantOptions = {},
): Promise<void> {
  const random = new Random(seed);
  await session.create(root, Buffer.from("root"));
  const paths = [root];
  for (let i = 0; i < znodes; i++) {
    const parent = paths[random.index(paths.length)] as string;
    const name = random.chance(0.3) ? "job-" : `${["a b", "ü", "q\"'", "n"][random.index(4)]}${i}`;
    const data = Buffer.from(Array.from({ length: random.index(40) }, () => random.index(256)));
    const path = await session.create(`${parent}/${name}`, random.chance(0.2) ? null : data, {
      mode: name === "job-" ? "persistentSequential" : "persistent",
    });
    if (random.chance(0.2) && name === "job-") await session.delete(path);
    else paths.push(path);
  }
  for (let i = 0; i < large; i++)
    await session.create(`${root}/large-${i}`, Buffer.alloc(60_000, "x"));
  if (leaves > 0) {
    const parent = `${root}/ÿ`;
    const ops = Array.from({ length: leaves }, (_, i) => ({ path: `${parent}/${i}`, data: null }));
    await session.multi([{ path: parent }, ...ops].map((op) => ({ op: "create", ...op })));
  }
  if (acl === null) return;
  for (const path of paths.reverse()) if (random.chance(0.3)) await session.setAcl(path, acl);
}
