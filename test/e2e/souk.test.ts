// `npm run souk` against a running Worker: a person can set up a market, govern a wallet and read its statement.

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestWorld, type TestWorld } from "../support/world.ts";

let world: TestWorld;
const folder = mkdtempSync(join(tmpdir(), "souk-cli-"));
beforeAll(async () => {
  world = await startTestWorld({ variables: { AUTH: "keys" } });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await world?.stop();
});

type Printed = Record<string, string> & { entries: { kind: string }[]; policy: object };

async function souk(args: string[], env: Record<string, string> = {}): Promise<Printed> {
  const { stdout } = await promisify(execFile)(process.execPath, ["scripts/souk.ts", ...args], {
    env: { ...process.env, SOUK_URL: world.url, ...env },
    timeout: 60_000,
  });
  return JSON.parse(stdout) as Printed;
}

it("sets up a market and reads the statement of a wallet", async () => {
  const buyer = await souk(["wallet", "create"]);
  expect(buyer.paymentKeySeed).toMatch(/^[0-9a-f]{64}$/);
  const payee = await souk(["wallet", "create", "--public-key", buyer.publicKey ?? ""]);
  expect(payee.paymentKeySeed).toBeUndefined();
  const { providerId = "" } = await souk([
    "provider",
    "create",
    "--name",
    "Shop",
    "--wallet",
    payee.walletId ?? "",
  ]);
  const { key } = await souk(["provider", "key", providerId]);
  expect(key).toMatch(/^souk_/);
  const { capabilityId } = await souk([
    ...["capability", "create", "--provider", providerId, "--name", "Answer", "--price", "25"],
    ...["--url", "https://shop.test/answer", "--challenge-url", "https://shop.test/answer"],
  ]);
  const challenge = await fetch(`${world.url}/v1/x402/challenge`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ capabilityId }),
  });
  expect(await challenge.json()).toMatchObject({ amountMinor: "25", currency: "USD", payTo: payee.walletId });

  const walletId = buyer.walletId ?? "";
  const credit = ["wallet", "credit", walletId, "500", "--reason", "hello", "--key", "k1"];
  expect(await souk(credit)).toEqual(await souk(credit));
  await souk(["wallet", "debit", walletId, "20", "--reason", "fee"]);
  const { entries } = await souk(["wallet", "entries", walletId]);
  expect(entries.map(({ kind }) => kind)).toEqual(["debit", "credit"]);
});

it("governs a wallet with its owner key, and with no other", async () => {
  const { walletId = "", ownerKey = "" } = await souk(["wallet", "create"]);
  const asOwner = { SOUK_OWNER_KEY: ownerKey };
  const policy = { rules: [], budgets: [{ per: "day", amountMinor: "100" }] };
  writeFileSync(join(folder, "policy.json"), JSON.stringify(policy));
  await souk(["wallet", "policy", walletId, join(folder, "policy.json")], asOwner);
  await souk(["wallet", "freeze", walletId], asOwner);
  expect(await souk(["wallet", "show", walletId], asOwner)).toMatchObject({ frozen: true, policy });
  await souk(["wallet", "unfreeze", walletId], asOwner);
  expect((await souk(["wallet", "rotate", walletId], asOwner)).paymentKeySeed).toMatch(/^[0-9a-f]{64}$/);
  expect(await souk(["approval", "list", walletId, "--status", "pending"], asOwner)).toEqual({
    approvals: [],
  });
  const other = await souk(["wallet", "create"]);
  await expect(souk(["wallet", "show", other.walletId ?? ""], asOwner)).rejects.toMatchObject({
    stderr: expect.stringMatching(/answered 403/),
  });
});

it("says in few words what is wrong, and what it can do", async () => {
  await expect(souk([])).rejects.toMatchObject({
    stderr: expect.stringMatching(/^usage:\n {2}npm run souk -- secrets/),
  });
  await expect(souk(["wallet", "show"])).rejects.toMatchObject({
    stderr: "usage: npm run souk -- wallet show <wallet>\n",
  });
  await expect(souk(["wallet", "credit", "wal_1", "5", "--reason", "x"])).rejects.toMatchObject({
    stderr: expect.stringMatching(/answered 404: no such wallet/),
  });
  expect(Object.keys(await souk(["secrets"]))).toEqual([
    "MAC_KEYS",
    "CHALLENGE_SIGNING_KEYS",
    "RECEIPT_SIGNING_KEYS",
  ]);
});
