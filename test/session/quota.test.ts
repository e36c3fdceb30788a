import { describe, expect, test } from "vitest";
import { formatQuota, limitsPath, parseQuota, usagePath } from "../../src/session/quota.ts";

const texts = [
  { text: "count=2,bytes=-1", numbers: { count: 2n, bytes: -1n } },
  {
    text: "count=2,bytes=-1=;byteHardLimit=5;countHardLimit=-1",
    numbers: { count: 2n, bytes: -1n, byteHardLimit: 5n, countHardLimit: -1n },
  },
  {
    text: "count=1,bytes=9223372036854775807",
    numbers: { count: 1n, bytes: 9223372036854775807n },
  },
];

describe("quotas", () => {
  test.each(texts)("$text is read and written", ({ text, numbers }) => {
    expect(parseQuota(Buffer.from(text))).toEqual(numbers);
    expect(formatQuota(numbers)).toBe(text);
  });

  test.each([null, Buffer.from(""), Buffer.from("count=,bytes"), Buffer.from("garbage")])(
    "%s is no limit",
    (data) => {
      expect(parseQuota(data)).toEqual({ count: -1n, bytes: -1n });
    },
  );

  test("are kept beside each other", () => {
    expect([limitsPath("/a/b"), usagePath("/a/b")]).toEqual([
      "/zookeeper/quota/a/b/zookeeper_limits",
      "/zookeeper/quota/a/b/zookeeper_stats",
    ]);
  });
});
