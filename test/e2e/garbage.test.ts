// Refused payments leave nothing: a thousand settles with wrong signatures through the built bundle, and the files of
// their objects read afterwards from outside.

import { globSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NEW_CONNECTION } from "../support/cast.ts";
import { aPayment, type Hex } from "../support/chain.ts";
import { startTestWorld, type TestWorld } from "../support/world.ts";

const SETTLES = 1_000;
const AT_ONCE = 50;

let world: TestWorld;

beforeAll(async () => {
  world = await startTestWorld();
});
afterAll(() => world?.stop());

async function settle(signature?: Hex): Promise<{ success: boolean; errorReason?: string }> {
  const response = await fetch(`${world.url}/settle`, {
    method: "POST",
    headers: NEW_CONNECTION,
    body: JSON.stringify(await aPayment(signature === undefined ? {} : { signature })),
  });
  return response.json() as Promise<{ success: boolean; errorReason?: string }>;
}

/** Tables that are ours, in all databases of this class, and how many databases there are. */
function storedBy(className: string): { objects: number; tables: string[] } {
  const files = globSync(join(world.statePath, "**", `*${className}`, "*.sqlite"));
  const tables = files.flatMap((file) => {
    const database = new DatabaseSync(file);
    try {
      const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      return rows.map(({ name }) => String(name)).filter((name) => !name.startsWith("_cf_"));
    } finally {
      database.close();
    }
  });
  return { objects: files.length, tables: tables.sort() };
}

it("a thousand garbage settles leave no settlement behind, and the next honest one works", async () => {
  let next = 0;
  const worker = async () => {
    while (next++ < SETTLES) {
      const answer = await settle(`0x${"11".repeat(64)}1b`);
      expect(answer).toMatchObject({ success: false, errorReason: "invalid_exact_evm_signature" });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  expect(await settle()).toMatchObject({ success: true });
  await world.killWorker();
  const { objects, tables } = storedBy("SettlementObject");
  // workerd opens a file for every object it ever started; what counts is that nothing is in them.
  expect(objects).toBeGreaterThan(SETTLES);
  expect(tables).toEqual(["settlement"]);
});
