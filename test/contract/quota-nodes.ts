import type { StatRecord } from "../../src/wire/records.ts";
import type { RawClient } from "./raw-client.ts";

interface QuotaNodes {
  dropLimits(): Promise<void>;
  statsStat(): Promise<StatRecord | undefined>;
}

/** Makes what zkCli's setquota makes below /zookeeper/quota: both znodes with all their parents. */
export async function quotaNodes(
  client: RawClient,
  path: string,
  limits: string,
): Promise<QuotaNodes> {
  const root = outside(client);
  let parent = "/zookeeper/quota";
  for (const name of client.full(path).slice(1).split("/")) {
    parent = `${parent}/${name}`;
    await root.create(parent);
  }
  const files = { zookeeper_stats: "count=0,bytes=0", zookeeper_limits: limits };
  for (const [name, data] of Object.entries(files)) {
    const { err } = await root.create(`${parent}/${name}`, { data });
    if (err !== 0) throw new Error(`no ${parent}/${name}: ${err}`);
  }
  return {
    dropLimits: async () => {
      await root.delete(`${parent}/zookeeper_limits`);
    },
    statsStat: async () => (await root.exists(`${parent}/zookeeper_stats`)).stat,
  };
}

export async function statsOf(client: RawClient, path: string): Promise<string | null | undefined> {
  return (await outside(client).getData(`/zookeeper/quota${client.full(path)}/zookeeper_stats`))
    .data;
}

/** The same connection without the chroot. */
function outside(client: RawClient): RawClient {
  return client.withChroot("");
}
