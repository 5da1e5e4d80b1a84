// `npm run keys` against a running Worker: what it prints works as a key, and stops when it is revoked.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
beforeAll(async () => {
  world = await startTestWorld({ variables: { AUTH: "keys" } });
});
afterAll(() => world.stop());

async function keys(args: string[], env: Record<string, string> = {}): Promise<string> {
  const run = promisify(execFile)(process.execPath, ["scripts/keys.ts", ...args], {
    env: { ...process.env, SOUK_URL: world.url, ...env },
    timeout: 60_000,
  });
  return (await run).stdout;
}

const verifyWith = (key: string) =>
  fetch(`${world.url}/verify`, { method: "POST", body: "{}", headers: { authorization: `Bearer ${key}` } });

it("creates a key that works, and revokes it", async () => {
  const printed = await keys(["create", "shop", "payments:verify"]);
  const key = printed.trim().split("\n").at(-1) ?? "";
  const keyId = /key id {2}(\S+)/.exec(printed)?.[1] ?? "";
  expect((await verifyWith(key)).status).toBe(400);
  expect(await keys(["revoke", keyId])).toContain("revoked");
  // This isolate remembers the key for a minute; a new one does not know it.
  await world.killWorker();
  await world.restartWorker();
  expect((await verifyWith(key)).status).toBe(401);
});

it("says in one line what is wrong", async () => {
  await expect(keys(["create", "shop", "no:such-scope"])).rejects.toMatchObject({
    stderr: expect.stringMatching(/answered 400: scopes/),
  });
  await expect(keys(["revoke", "key_unknown"])).rejects.toMatchObject({
    stderr: expect.stringMatching(/answered 404: no such key/),
  });
  await expect(keys(["create", "shop"])).rejects.toMatchObject({ stderr: expect.stringMatching(/^usage:/) });
  await expect(
    keys(["revoke", "key_1"], { SOUK_URL: "https://souk.example", SOUK_ADMIN_TOKEN: "" }),
  ).rejects.toMatchObject({ stderr: expect.stringMatching(/^SOUK_ADMIN_TOKEN is missing/) });
});
