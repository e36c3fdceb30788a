import { expect, test } from "vitest";
import { javaDate } from "../../src/render/java-date.ts";

const WINTER = Date.UTC(2026, 0, 5, 4, 2, 1);
const SUMMER = Date.UTC(2026, 6, 16, 14, 42, 11);

// What `java` 17 prints for new Date(…) with -Duser.timezone=….
test.each([
  { zone: "UTC", winter: "Mon Jan 05 04:02:01 UTC 2026", summer: "Thu Jul 16 14:42:11 UTC 2026" },
  {
    zone: "Europe/Berlin",
    winter: "Mon Jan 05 05:02:01 CET 2026",
    summer: "Thu Jul 16 16:42:11 CEST 2026",
  },
  {
    zone: "America/New_York",
    winter: "Sun Jan 04 23:02:01 EST 2026",
    summer: "Thu Jul 16 10:42:11 EDT 2026",
  },
  {
    zone: "Asia/Tokyo",
    winter: "Mon Jan 05 13:02:01 JST 2026",
    summer: "Thu Jul 16 23:42:11 JST 2026",
  },
  {
    zone: "Asia/Kolkata",
    winter: "Mon Jan 05 09:32:01 IST 2026",
    summer: "Thu Jul 16 20:12:11 IST 2026",
  },
  {
    zone: "Australia/Sydney",
    winter: "Mon Jan 05 15:02:01 AEDT 2026",
    summer: "Fri Jul 17 00:42:11 AEST 2026",
  },
  {
    zone: "Europe/Dublin",
    winter: "Mon Jan 05 04:02:01 GMT 2026",
    summer: "Thu Jul 16 15:42:11 IST 2026",
  },
  {
    zone: "America/Sao_Paulo",
    winter: "Mon Jan 05 01:02:01 BRT 2026",
    summer: "Thu Jul 16 11:42:11 BRT 2026",
  },
])("$zone", ({ zone, winter, summer }) => {
  process.env.TZ = zone;
  expect([javaDate(WINTER), javaDate(SUMMER)]).toEqual([winter, summer]);
});
