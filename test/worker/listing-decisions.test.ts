// Who may take a listing out, put it back, or ask what keeps it out: owners by signed claims, operators, and sellers'
// preflights. Inside workerd, through the Worker's own routes, over real D1 and real sellers' servers.

import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Claim, claimText } from "../../src/bazaar/prober/claim.ts";
import type { Env } from "../../src/config.ts";
import worker from "../../src/index.ts";
import { aBodyBlock, type Json, type MessageOptions, someRequirements } from "../support/bazaar.ts";
import { startLabOrigin } from "../support/origin-client.ts";
import { aPaymentRequired } from "../support/payment-required.ts";
import { anAddress, probeListing, settleListing } from "./catalog-calls.ts";

const ORIGIN = "https://souk.test";
const BUSY_RPC = "http://127.0.0.1:9";

/** What the routes asked of the prober. */
let asked: string[] = [];
/** A caller of its own for each test, for the limits' sake. */
let callers = 0;
beforeEach(() => {
  asked = [];
  callers++;
});

/** Calls the Worker as the local world runs it, with one network switched on. */
async function post(
  path: string,
  body: unknown,
  token?: string,
): Promise<{ status: number; body: Json; headers: Headers }> {
  const own = {
    ...env,
    AUTH: "open",
    ALLOW_LOOPBACK_RESOURCES: "true",
    RPC_URLS_84532: BUSY_RPC,
    RELAYER_KEYS_84532: `0x${"ac".repeat(32)}`,
    PROBE_QUEUE: { send: async ({ listingId }: { listingId: string }) => void asked.push(listingId) },
  } as unknown as Env;
  const headers = {
    "content-type": "application/json",
    "cf-connecting-ip": `192.0.2.${callers}`,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const request = new Request(`${ORIGIN}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const ctx = createExecutionContext();
  const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], own, ctx);
  await waitOnExecutionContext(ctx);
  return { status: response.status, body: await response.json<Json>(), headers: response.headers };
}

async function listedBy(payTo: string): Promise<Json[]> {
  const request = new Request(`${ORIGIN}/discovery/merchant?payTo=${payTo}`);
  const response = await worker.fetch(
    request as Parameters<typeof worker.fetch>[0],
    env,
    createExecutionContext(),
  );
  return (await response.json<{ resources: Json[] }>()).resources;
}

function aSeller(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

let hosts = 0;
function aUrl(): string {
  return `https://decided${hosts++}.shop.test/a`;
}

const paying = (payTo: string, changes: Json = {}) => someRequirements({ payTo, ...changes });

let nonces = 0;
async function aClaim(seller: PrivateKeyAccount, change: Partial<Claim> = {}): Promise<Claim> {
  const claim = {
    action: "delist" as const,
    listingId: "",
    origin: ORIGIN,
    expiresAt: new Date(Date.now() + 60_000).toISOString(),
    nonce: `nonce-${nonces++}`,
    payTo: seller.address,
    signature: "",
    ...change,
  };
  return { ...claim, signature: await seller.signMessage({ message: claimText(claim) }) };
}

const claim = async (seller: PrivateKeyAccount, change: Partial<Claim>) =>
  post("/discovery/claims", await aClaim(seller, change));

describe("a payTo's claim", () => {
  it("delists its own offers: the listing is gone, and no later payment brings it back", async () => {
    const seller = aSeller();
    const shop: MessageOptions = { url: aUrl(), requirements: paying(seller.address) };
    const { id } = await settleListing(shop);
    expect(await listedBy(seller.address)).toHaveLength(1);
    expect(await claim(seller, { listingId: id })).toMatchObject({
      status: 200,
      body: { listingId: id, state: "hidden" },
    });
    await settleListing(shop);
    await settleListing({ ...shop, requirements: paying(seller.address, { network: "eip155:8453" }) });
    expect(await listedBy(seller.address)).toEqual([]);
  });

  it("acts on the signer's offers only: another's that the origin named stay, and the listing with them", async () => {
    const [seller, partner] = [aSeller(), aSeller()];
    const origin = await startLabOrigin();
    const url = `${origin.url}/a`;
    const accepts = [paying(seller.address), paying(partner.address, { amount: "500" })];
    await origin.behave("/a", {
      do: "payment_required",
      paymentRequired: aPaymentRequired({ url, accepts }),
    });
    const { id } = await settleListing({ url, requirements: paying(seller.address) });
    await settleListing({ url, requirements: paying(partner.address, { amount: "500" }) });
    await probeListing(id, Date.now());
    expect(await claim(seller, { listingId: id })).toMatchObject({ status: 200, body: { state: "listed" } });
    expect(await listedBy(partner.address)).toMatchObject([{ accepts: [{ amount: "500" }] }]);
    expect(await listedBy(seller.address)).toEqual([]);
    // The origin still names both; the seller's word about its own offer stands.
    await probeListing(id, Date.now() + 86_400_001);
    expect(await listedBy(seller.address)).toEqual([]);
    expect(await claim(partner, { listingId: id })).toMatchObject({ status: 200, body: { state: "hidden" } });
  });

  it("does not touch what others see when a stranger with an unseen offer signs it", async () => {
    const [seller, stranger] = [aSeller(), aSeller()];
    const url = aUrl();
    const { id } = await settleListing({ url, requirements: paying(seller.address) });
    await settleListing({ url, requirements: paying(stranger.address) });
    expect(await claim(stranger, { listingId: id })).toMatchObject({
      status: 200,
      body: { state: "listed" },
    });
    expect(await listedBy(seller.address)).toHaveLength(1);
    expect(await claim(aSeller(), { listingId: id })).toMatchObject({ status: 404 });
    expect(await claim(seller, { listingId: "lst_unknown" })).toMatchObject({ status: 404 });
  });

  it("asks for a probe, and takes a delisting back", async () => {
    const seller = aSeller();
    const { id } = await settleListing({ url: aUrl(), requirements: paying(seller.address) });
    await claim(seller, { listingId: id });
    const answer = await claim(seller, { listingId: id, action: "reprobe" });
    expect(answer).toMatchObject({ status: 200, body: { listingId: id, state: "listed" } });
    expect(asked).toEqual([id]);
    expect(await listedBy(seller.address)).toHaveLength(1);
  });

  it("does not outrank the origin: a mismatch stays hidden until the origin says otherwise", async () => {
    const seller = aSeller();
    const origin = await startLabOrigin();
    const url = `${origin.url}/a`;
    await origin.behave("/a", { do: "payment_required", paymentRequired: aPaymentRequired({ url }) });
    const { id } = await settleListing({ url, requirements: paying(seller.address) });
    await probeListing(id, Date.now());
    for (const action of ["reprobe", "delist", "reprobe"] as const) {
      expect(await claim(seller, { listingId: id, action })).toMatchObject({
        status: 200,
        body: { state: "hidden" },
      });
    }
    await probeListing(id, Date.now());
    expect(await listedBy(seller.address)).toEqual([]);
  });

  it("acts once: the same nonce is 409, also in another claim and when both come at once", async () => {
    const seller = aSeller();
    const { id } = await settleListing({ url: aUrl(), requirements: paying(seller.address) });
    const sent = await aClaim(seller, { listingId: id, action: "reprobe" });
    const statuses = await Promise.all(
      [1, 2, 3].map(async () => (await post("/discovery/claims", sent)).status),
    );
    expect(statuses.toSorted()).toEqual([200, 409, 409]);
    const other = await claim(seller, { listingId: id, action: "delist", nonce: sent.nonce });
    expect(other).toMatchObject({ status: 409, body: { error: { code: "CONFLICT" } } });
    expect(await listedBy(seller.address)).toHaveLength(1);
  });

  it("is refused, and uses up no nonce, when it is not in order", async () => {
    const seller = aSeller();
    const { id } = await settleListing({ url: aUrl(), requirements: paying(seller.address) });
    const good = await aClaim(seller, { listingId: id });
    const forged = { ...good, signature: (await aClaim(aSeller(), { ...good })).signature };
    const refusals: [Json, number, RegExp][] = [
      [forged as unknown as Json, 401, /contract wallets/],
      [{ ...good, origin: "https://other.test" }, 400, /^origin/],
      [
        (await aClaim(seller, { ...good, expiresAt: "2020-01-01T00:00:00Z" })) as unknown as Json,
        400,
        /^expiresAt/,
      ],
      [{ ...good, expiresAt: "tomorrow" }, 400, /^expiresAt/],
      [{ ...good, action: "rename" }, 400, /^action/],
      [{ ...good, payTo: "0x1234" }, 400, /^payTo/],
      [{ ...good, nonce: undefined }, 400, /^nonce/],
    ];
    for (const [body, status, message] of refusals) {
      const answer = await post("/discovery/claims", body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
      expect((answer.body.error as Json).message).toMatch(message);
    }
    expect(await post("/discovery/claims", good)).toMatchObject({ status: 200 });
  });
});

describe("an operator", () => {
  const decide = (id: string, action: string, body: unknown = { reason: "complaint" }) =>
    post(`/v1/listings/${id}/${action}`, body, String(env.ADMIN_TOKEN));

  it("hides a listing for good, whatever its origin says, and restores it", async () => {
    const seller = aSeller();
    const origin = await startLabOrigin();
    const url = `${origin.url}/a`;
    const shop = { url, requirements: paying(seller.address) };
    await origin.behave("/a", { do: "payment_required", paymentRequired: aPaymentRequired(shop) });
    const { id } = await settleListing(shop);
    expect(await decide(id, "hide")).toMatchObject({ status: 200, body: { listingId: id, state: "hidden" } });
    await settleListing({ ...shop, resource: { description: "new" } });
    await probeListing(id, Date.now());
    await claim(seller, { listingId: id, action: "reprobe" });
    await probeListing(id, Date.now());
    expect(await listedBy(seller.address)).toEqual([]);
    expect(await origin.seen()).toEqual([]);
    asked = [];
    expect(await decide(id, "restore")).toMatchObject({
      status: 200,
      body: { listingId: id, state: "listed" },
    });
    expect(asked).toEqual([id]);
    await probeListing(id, Date.now());
    expect(await listedBy(seller.address)).toMatchObject([{ quality: { health: "ok" } }]);
    const { results } = await env.DB.prepare(
      "SELECT action, by, reason FROM listing_decisions WHERE listing_id = ? ORDER BY id",
    )
      .bind(id)
      .all();
    expect(results).toEqual([
      { action: "hide", by: "operator", reason: "complaint" },
      { action: "reprobe", by: seller.address.toLowerCase(), reason: null },
      { action: "restore", by: "operator", reason: "complaint" },
    ]);
  });

  it("does not restore what its owner took out", async () => {
    const seller = aSeller();
    const { id } = await settleListing({ url: aUrl(), requirements: paying(seller.address) });
    await claim(seller, { listingId: id });
    expect(await decide(id, "restore")).toMatchObject({ status: 200, body: { state: "hidden" } });
    expect(await listedBy(seller.address)).toEqual([]);
  });

  it("needs its token, a reason and a listing that exists", async () => {
    const { id } = await settleListing({ url: aUrl(), requirements: paying(anAddress()) });
    expect(await post(`/v1/listings/${id}/hide`, { reason: "x" })).toMatchObject({ status: 401 });
    expect(await decide(id, "hide", {})).toMatchObject({ status: 400 });
    expect(await decide("lst_unknown", "hide")).toMatchObject({ status: 404 });
  });
});

describe("a seller's preflight", () => {
  const validate = (resource: string, method?: string) =>
    post("/discovery/validate", { resource, ...(method !== undefined && { method }) });

  it("says that a good server would be listed, and where its listing stands", async () => {
    const seller = aSeller();
    const origin = await startLabOrigin();
    const url = `${origin.url}/orders`;
    const shop = {
      url,
      block: aBodyBlock(),
      requirements: paying(seller.address),
      resource: { description: "Orders" },
    };
    await origin.behave("/orders", { do: "payment_required", paymentRequired: aPaymentRequired(shop) });
    const before = await validate(`${url}?a=b`, "POST");
    expect(before).toMatchObject({ status: 200, body: { wouldList: true } });
    expect((before.body.checks as Json[]).filter(({ ok }) => !ok)).toEqual([]);
    expect(before.body).not.toHaveProperty("listing");
    expect(await origin.seen()).toMatchObject([{ method: "POST", path: "/orders", body: "{}" }]);

    const { id } = await settleListing(shop);
    await post(`/v1/listings/${id}/hide`, { reason: "complaint" }, String(env.ADMIN_TOKEN));
    expect(await validate(url, "POST")).toMatchObject({
      body: {
        wouldList: false,
        reason: "the operator hid this listing",
        listing: { id, state: "hidden", hiddenReason: "operator", health: "unprobed" },
      },
    });
  });

  it("says what is wrong, and never what the server sent", async () => {
    const origin = await startLabOrigin();
    await origin.behave("/a", { do: "answer", status: 402, body: "<b>a secret page</b>" });
    const answer = await validate(`${origin.url}/a`);
    expect(answer.body).toMatchObject({
      wouldList: false,
      reason: expect.stringContaining("PAYMENT-REQUIRED"),
    });
    expect(JSON.stringify(answer.body)).not.toContain("secret");
  });

  it("C35: sends nothing to a target that must not be asked", async () => {
    const sent = vi.spyOn(globalThis, "fetch");
    for (const resource of [
      "http://169.254.169.254/latest",
      "http://10.1/",
      `${ORIGIN}/verify`,
      "http://[::1",
      "mcp://a/b",
      "file:///etc",
    ]) {
      const { status, body } = await validate(resource);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        wouldList: false,
        checks: [{ name: "target", ok: false, severity: "error" }],
      });
    }
    expect(sent).not.toHaveBeenCalled();
    sent.mockRestore();
  });

  it("asks by GET and POST only", async () => {
    expect(await validate("https://api.shop.test/a", "DELETE")).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_REQUEST", message: expect.stringContaining("method") } },
    });
  });

  it("answers one caller ten times a minute, and asks one host twice", async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 12; i++) statuses.push((await validate("http://10.1/")).status);
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);

    callers++;
    const sent = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation(async () => new Response(null, { status: 404 }));
    const answers = [];
    for (const path of ["a", "b", "c"]) answers.push(await validate(`https://limited.shop.test/${path}`));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.body).toMatchObject({ error: { code: "RATE_LIMITED" } });
    expect(answers[2]?.headers.get("retry-after")).toBe("60");
    expect(sent).toHaveBeenCalledTimes(2);
    sent.mockRestore();
  });
});
