// The local world's small cron: what wrangler.toml uses, at the right minute, and nothing that it would get wrong.

import { expect, it } from "vitest";
import { isDue } from "../scripts/worker/cron.ts";
import { readWranglerConfig } from "../scripts/worker/miniflare-options.ts";

const at = (time: string) => Date.parse(`2026-03-01T${time}:00Z`); // A Sunday.

it("is due every minute for stars and at its minute for a number", () => {
  expect(isDue("* * * * *", at("10:05"))).toBe(true);
  expect(isDue("17 * * * *", at("10:17"))).toBe(true);
  expect(isDue("17 * * * *", at("10:18"))).toBe(false);
  expect(isDue("0 3 1 3 1", at("03:00"))).toBe(true);
  expect(isDue("0 3 1 3 2", at("03:00"))).toBe(false);
});

it("refuses a form that it does not know instead of never running it", () => {
  for (const cron of ["*/5 * * * *", "1-5 * * * *", "* * * *", "@hourly"]) {
    expect(() => isDue(cron, at("10:00")), cron).toThrow("cannot run the cron");
  }
});

it("knows every cron of wrangler.toml", () => {
  const { crons = [] } = readWranglerConfig().triggers;
  expect(crons.length).toBeGreaterThan(0);
  for (const cron of crons) expect(isDue(cron, at("00:00"))).toBeTypeOf("boolean");
});
