// What the gateway's routes answer besides: whose is whose, calls that are decided, bad fields, limits, keys, credentials,
// and the breaker.

import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { keyIdOf } from "../../src/gateway/key-id.ts";
import { fromBase64, sha256Hex, toBase64 } from "../../src/platform/bytes.ts";
import { spkiOf } from "../../src/platform/ed25519.ts";
import { GATHER_MS } from "../../src/platform/gatherer.ts";
import { aCapability, aMarket, api, operator, type PublicKey, paidCallOf, tablesOf } from "./market.ts";

const market = await aMarket();
const stranger = await aMarket();

const bytes = (base64: string | undefined) => fromBase64(base64 ?? "") ?? new Uint8Array();

describe("the gateway's answers", () => {
  it("are 404 to the wrong provider for a capability and for a transaction", async () => {
    const transactionId = await market.hold();
    const token = stranger.providerKey;
    const proof = await market.proof(await market.challenge());
    const asked = await Promise.all([
      api("POST", "/v1/x402/challenge", { token, body: { capabilityId: market.capabilityId } }),
      api("POST", "/v1/x402/challenge", { token, body: { capabilityId: "cap_nothing" } }),
      api("POST", "/v1/x402/authorize", { token, body: { proof } }),
      stranger.complete(transactionId),
      stranger.fail(transactionId),
      market.complete(`txn_${"0".repeat(32)}`),
      market.fail("txn_nothing"),
    ]);
    for (const { status, body } of asked) {
      expect(status).toBe(404);
      expect(body).toEqual({ error: { code: "NOT_FOUND", message: expect.any(String) } });
    }
    expect(await tablesOf(paidCallOf(`txn_${"0".repeat(32)}`))).toBe(0);
    await market.release(transactionId);
  });

  it("are 409 while no money is held, and the receipt with a 409 once decided otherwise", async () => {
    const completed = await market.hold();
    const { body: receipt } = await market.complete(completed, "one");
    expect((await market.complete(completed, "one")).body).toEqual(receipt);
    for (const late of [await market.complete(completed, "two"), await market.fail(completed)]) {
      expect(late).toMatchObject({ status: 409, body: { error: { code: "CALL_DECIDED" } } });
      expect(late.body.receipt).toEqual(receipt);
    }
    const failed = await market.hold();
    const { body: refund } = await market.fail(failed, "client_error");
    expect((await market.fail(failed, "provider_error", "other words")).body).toEqual(refund);
    expect(await market.complete(failed)).toMatchObject({ status: 409, body: { receipt: refund } });
  });

  it.each([
    ["challenge", { capabilityId: 7 }, "capabilityId"],
    ["challenge", {}, "capabilityId"],
    ["authorize", {}, "proof"],
    ["complete", { transactionId: "txn_1" }, "responseBodyBase64"],
    ["complete", { transactionId: 1, responseBodyBase64: "" }, "transactionId"],
    ["complete", { transactionId: "txn_1", responseBodyBase64: "not base64!" }, "responseBodyBase64"],
    ["complete", "{", "body"],
    ["fail", { transactionId: "txn_1" }, "error"],
    ["fail", { transactionId: "txn_1", error: "x", kind: "timeout" }, "kind"],
  ])("name the bad field of %s", async (route, body, field) => {
    const answer = await api<{ error: { code: string; message: string } }>("POST", `/v1/x402/${route}`, {
      token: market.providerKey,
      body,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("INVALID_REQUEST");
    expect(answer.body.error.message).toMatch(new RegExp(`^${field} `));
  });

  it("hash a response of 12 MB as it comes and refuse a body over 16 MiB", async () => {
    const send = (transactionId: string, groups: number) =>
      api<{ responseHash?: string; error?: { code: string } }>("POST", "/v1/x402/complete", {
        token: market.providerKey,
        body: { transactionId, responseBodyBase64: "eHh4".repeat(groups) },
      });
    const fitting = await send(await market.hold(), 4_000_000);
    const responseHash = await sha256Hex("xxx".repeat(4_000_000));
    expect(fitting).toMatchObject({ status: 200, body: { responseHash } });
    const transactionId = await market.hold();
    const tooMuch = await send(transactionId, 4 * 1024 * 1024);
    expect(tooMuch).toMatchObject({ status: 413, body: { error: { code: "BODY_TOO_LARGE" } } });
    expect((await market.release(transactionId)).status).toBe(200);
  });

  it("publish the keys by id, and know no others", async () => {
    const { body: key } = await api<PublicKey>("GET", "/v1/platform/public-key");
    expect(key).toMatchObject({ algorithm: "ed25519", spki: toBase64(spkiOf(bytes(key.publicKey))) });
    expect(key.signingKeyId).toBe(await keyIdOf("challenge", bytes(key.publicKey)));
    expect((await api("GET", "/v1/platform/public-key?signingKeyId=chk_none")).status).toBe(404);
    expect((await api("GET", `/v1/platform/receipt-keys/${key.signingKeyId}`)).status).toBe(404);
  });

  it("want a provider's key with payments:write", async () => {
    const body = { capabilityId: market.capabilityId };
    const statuses = await Promise.all(
      [undefined, "souk_wrong", operator, market.buyer.ownerKey, market.providerKey].map(
        async (token) =>
          (await api("POST", "/v1/x402/challenge", token === undefined ? { body } : { token, body })).status,
      ),
    );
    expect(statuses).toEqual([401, 401, 403, 403, 200]);
  });
});

describe("the breaker of a capability", () => {
  it("opens after five failures that count, closes the capability alone, and never counts a client's error", async () => {
    const shop = await aMarket();
    const other = await aCapability(shop.providerId, "5");
    for (const kind of ["client_error", "client_error", "client_error", "client_error", "client_error"]) {
      await shop.fail(await shop.hold(), kind);
    }
    for (let failures = 0; failures < 4; failures++) await shop.fail(await shop.hold());
    await shop.complete(await shop.hold());
    expect(await pausedUntil(shop.capabilityId)).toBe(0);
    const [before, held] = [Date.now(), await shop.hold()];
    await shop.fail(held);
    const untilMs = await pausedUntil(shop.capabilityId);
    expect(untilMs).toBeGreaterThanOrEqual(before + 60_000);
    expect(untilMs).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(await pausedUntil(other)).toBe(0);
  });
});

/** What ended just now is in the registry by then: what the breaker and the audit read. */
const untilRecorded = () => new Promise((resolve) => setTimeout(resolve, GATHER_MS + 1_000));

async function pausedUntil(capabilityId: string): Promise<number> {
  await untilRecorded();
  const row = await env.DB.prepare("SELECT paused_until_ms FROM capabilities WHERE id = ?")
    .bind(capabilityId)
    .first();
  return Number(row?.paused_until_ms);
}

describe("calls that end together", () => {
  it("are recorded by few writes, and their alarms find that done", async () => {
    await untilRecorded();
    const ids: string[] = [];
    for (let calls = 0; calls < 20; calls++) ids.push(await market.hold());
    const ends = await watchStorage(async () => {
      const answers = await Promise.all(
        ids.map((id, index) => (index % 2 === 0 ? market.complete(id) : market.fail(id, "client_error"))),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      await untilRecorded();
    });
    // One, but for a machine that takes half seconds to end twenty calls.
    const writes = ends.d1Writes.filter((write) => write.startsWith("batch"));
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.length).toBeLessThan(ids.length / 2);
    const { results } = await env.DB.prepare(
      "SELECT status FROM paid_calls WHERE transaction_id IN (SELECT value FROM json_each(?))",
    )
      .bind(JSON.stringify(ids))
      .all();
    expect(results.map(({ status }) => status).sort()).toEqual([
      ...Array(10).fill("completed"),
      ...Array(10).fill("failed"),
    ]);
    const alarms = await watchStorage(async () => {
      for (const id of ids) expect(await runDurableObjectAlarm(paidCallOf(id))).toBe(true);
    });
    expect(alarms.d1Writes).toEqual([]);
  });
});

describe("2,000 challenges", () => {
  it("ask no object and write nothing to D1", async () => {
    vi.spyOn(console, "log").mockImplementation(() => undefined);
    const seen = await watchStorage(async () => {
      for (let round = 0; round < 20; round++) {
        await Promise.all(Array.from({ length: 100 }, () => market.challenge()));
      }
    });
    expect(seen).toEqual({ d1Writes: [], objectsAsked: [] });
  });

  it("are watched by something that sees a hold", async () => {
    const seen = await watchStorage(async () => void (await market.release(await market.hold())));
    expect(seen.objectsAsked).toContain("getByName");
  });
});

/** What a stretch of work asks of the gateway's objects and of D1 besides reading, seen at the bindings. */
async function watchStorage(work: () => Promise<void>) {
  const seen = { d1Writes: [] as string[], objectsAsked: [] as string[] };
  const { DB, PAID_CALLS, WALLETS } = env;
  const watched = <T extends object>(target: T, note: (method: string, first: unknown) => void): T =>
    new Proxy(target, {
      get: (object, name) => {
        const value = Reflect.get(object, name, object) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          note(String(name), args[0]);
          return (value as (...args: unknown[]) => unknown).apply(object, args);
        };
      },
    });
  const noteObject = (method: string) => seen.objectsAsked.push(method);
  env.DB = watched(DB, (method, statement) => {
    const isRead = method === "prepare" && /^\s*select\b/i.test(String(statement));
    if (!isRead) seen.d1Writes.push(`${method} ${String(statement).slice(0, 60)}`);
  });
  env.PAID_CALLS = watched(PAID_CALLS, noteObject);
  env.WALLETS = watched(WALLETS, noteObject);
  try {
    await work();
  } finally {
    Object.assign(env, { DB, PAID_CALLS, WALLETS });
  }
  return seen;
}
