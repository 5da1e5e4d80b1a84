// Two tenants with keys on the built bundle: what is one's never reaches the other, also while the Worker is killed in
// between, and a revoked key is none.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { OPERATOR_TOKEN } from "../../scripts/local-variables.ts";
import { aPayment } from "../support/chain.ts";
import {
  expectNoLeak,
  expectPaid,
  type FaultyWorld,
  idOf,
  readBooks,
  startFaultyWorld,
  until,
} from "../support/faulty-world.ts";

let world: FaultyWorld;
let shop: string;
let rival: string;

beforeAll(async () => {
  world = await startFaultyWorld({ variables: { AUTH: "keys" } });
  [{ key: shop }, { key: rival }] = await Promise.all([createKey("shop"), createKey("rival")]);
});
afterEach(() => world.proxy.clearRules());
afterAll(() => world?.stop());

/** As an operator does it. */
async function runKeys(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", ["run", "--silent", "keys", "--", ...words], {
    env: { ...process.env, SOUK_URL: world.url, SOUK_ADMIN_TOKEN: OPERATOR_TOKEN },
    timeout: 30_000,
  });
  return stdout;
}

async function createKey(tenant: string): Promise<{ keyId: string; key: string }> {
  const scopes = ["payments:verify", "payments:settle", "payments:read"];
  const output = await runKeys("create", tenant, ...scopes);
  const [keyId = ""] = /key_\w+/.exec(output) ?? [];
  const [key = ""] = /souk_[\w-]+/.exec(output) ?? [];
  return { keyId, key };
}

it("C13: one Idempotency-Key of two tenants is two keys, each with its own payment and conflict", async () => {
  const before = await readBooks(world);
  const [ours, theirs] = [await aPayment(), await aPayment()];
  const key = "order-1";
  const settled = await Promise.all([
    world.settle(ours, { key, token: shop }),
    world.settle(theirs, { key, token: rival }),
  ]);
  for (const { status, body } of settled) expect({ status, body }).toMatchObject({ body: { success: true } });
  expect(await world.settle(ours, { key, token: shop })).toMatchObject({
    body: { success: true, extra: { replayed: true } },
  });
  await world.kill();
  await world.restart();
  expect(await world.settle(theirs, { key, token: shop })).toMatchObject({
    status: 409,
    body: { success: false, errorReason: "idempotency_conflict", transaction: "" },
  });
  expect(await world.settle(theirs, { key, token: rival })).toMatchObject({
    body: { success: true, extra: { replayed: true } },
  });
  await expectPaid(world, before, ours, theirs);
});

it("C13: another tenant with the same body and the same key receives nothing, before and after a kill", async () => {
  const before = await readBooks(world);
  const payment = await aPayment();
  const key = "order-2";
  await world.proxy.addRule({
    ...{ method: "eth_sendRawTransaction", times: 1 },
    action: { do: "hold_then_drop" },
  });
  const killed = world.settle(payment, { key, token: shop }).catch(() => null);
  await until(async () => (await world.record(payment, shop))?.state === "broadcast", "it is claimed");
  const refused = { status: 200, body: { success: false, errorReason: "duplicate_settlement" } };
  expect(await world.settle(payment, { key, token: rival })).toMatchObject(refused);
  await world.kill();
  expect(await killed).toBeNull();
  await world.proxy.clearRules();
  await world.restart();
  expect(await world.settle(payment, { key, token: rival })).toMatchObject(refused);
  const { body } = await world.settle(payment, { key, token: shop });
  expect(body.success).toBe(true);
  expect(body.extra?.replayed).toBeUndefined();
  expect(await world.settle(payment, { key, token: rival })).toMatchObject({
    ...{ body: { ...refused.body, transaction: body.transaction } },
  });
  await expectPaid(world, before, payment);
});

it("a record is its tenant's and the operator's to read, and nobody else's", async () => {
  const payment = await aPayment();
  const { body } = await world.settle(payment, { token: shop });
  const id = await idOf(payment);
  expect(body.extra?.settlementId).toBe(id);
  expect(await world.record(payment, shop)).toMatchObject({ id, transaction: body.transaction });
  expect(await world.record(payment, OPERATOR_TOKEN)).toMatchObject({ id });
  expect(await world.record(payment, rival)).toBeNull();
  const read = (token?: string) => world.ask("GET", { path: `/settlements/${id}` }, token);
  expect((await read()).status).toBe(401);
  expect((await read("souk_nobody")).status).toBe(401);
});

it("a revoked key stops with the isolate that remembered it, on every route", async () => {
  const { keyId, key } = await createKey("leaver");
  expect((await world.verify(await aPayment(), key)).body.isValid).toBe(true);
  await runKeys("revoke", keyId);
  await world.kill();
  await world.restart();
  const before = await readBooks(world);
  const payment = await aPayment();
  expect((await world.verify(payment, key)).status).toBe(401);
  expect((await world.settle(payment, { token: key })).status).toBe(401);
  expect((await world.ask("GET /supported", {}, key)).status).toBe(401);
  expect(await readBooks(world)).toEqual(before);
  expect((await world.verify(payment, shop)).body.isValid).toBe(true);
});

it("no answer and no line of the log names the node, its key or its words", () => {
  expectNoLeak(world);
});
