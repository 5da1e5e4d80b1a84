// Who calls the routes in tests from outside: tenants with keys, wallets with owners, providers with something to
// sell, a seller's server, and one listing. Everything is made through the Worker's own routes. Node only.

import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { makeBuyer } from "../../scripts/demo/buyer.ts";
import { WEATHER } from "../../scripts/demo/resources.ts";
import { type Seller, startSeller } from "../../scripts/demo/seller.ts";
import { BUYER, OPERATOR_TOKEN, SELLER } from "../../scripts/local-variables.ts";
import { toBase64 } from "../../src/platform/bytes.ts";
import { canonicalJson, signedBytes } from "../../src/platform/canonical-json.ts";
import { type Signer, signerFromSeed } from "../../src/platform/ed25519.ts";
import { aPayment } from "./payments.ts";

export interface Wire {
  path?: string;
  body?: unknown;
  /** Sent as it stands, instead of a body. */
  rawBody?: string;
  headers?: Record<string, string>;
}

/**
 * workerd closes a connection that was idle for five seconds; a test that was kept from running so long, on a busy
 * machine, would send its next request into the closing one.
 */
export const NEW_CONNECTION = { connection: "close" };

const REQUEST_TIMEOUT_MS = 30_000;
const LISTING_TIMEOUT_MS = 20_000;
const LISTING_POLL_MS = 100;

/** `name` is `METHOD /path`; the path of `wire` wins. */
export function send(url: string, name: string, wire: Wire = {}, token?: string): Promise<Response> {
  const [method = "", path = ""] = name.split(" ");
  const body = wire.rawBody ?? (wire.body === undefined ? undefined : JSON.stringify(wire.body));
  return fetch(url + (wire.path ?? path), {
    method,
    headers: {
      "content-type": "application/json",
      ...NEW_CONNECTION,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...wire.headers,
    },
    ...(["GET", "HEAD", "DELETE"].includes(method) || body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
}

export const TENANT_SCOPES = ["payments:verify", "payments:settle", "payments:read", "audit:read"];

export interface TestWallet {
  walletId: string;
  ownerKey: string;
  payment: Signer;
}

/** Something sold through the gateway, and the key that sells it. */
export interface Stall {
  providerId: string;
  providerKey: string;
  capabilityId: string;
}

export interface Cast {
  own: string;
  other: string;
  /** A wallet with money, one whose owner is asked before every payment, and another owner's. */
  buyer: TestWallet;
  cautious: TestWallet;
  stranger: TestWallet;
  stall: Stall;
  otherStall: Stall;
  seller: Seller;
  /** What the bazaar said about the one resource that was bought from the seller. */
  observationId: string;
  listingId: string;
  createKey(owner: { tenant: string } | { providerId: string }, scopes: string[]): Promise<NewKey>;
  /** The id of a payment settled under `own`. */
  settle(): Promise<string>;
  /** A signed proof over a fresh challenge. */
  prove(wallet: TestWallet): Promise<Record<string, string>>;
  /** A paid call whose money is held: its transaction id. */
  hold(): Promise<string>;
  /** The receipt of a paid call that was completed. */
  receipt(): Promise<{ signingKeyId: string }>;
  /** A question to the cautious wallet's owner that nobody has answered. */
  pendingApproval(): Promise<string>;
  /** A claim of the seller about its listing. */
  claim(action: "delist" | "reprobe"): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export interface NewKey {
  keyId: string;
  key: string;
}

const PRICE_MINOR = "5";
const BALANCE_MINOR = "100000";

/** Makes the whole cast in a world with `AUTH=keys`. */
export async function makeCast(url: string): Promise<Cast> {
  const made = async <Body>(name: string, wire: Wire, token: string = OPERATOR_TOKEN): Promise<Body> => {
    const response = await send(url, name, wire, token);
    const text = await response.text();
    expect(response.ok, `${name}: ${response.status} ${text}`).toBe(true);
    return (text === "" ? null : JSON.parse(text)) as Body;
  };
  const createKey: Cast["createKey"] = (owner, scopes) =>
    made("POST /v1/keys", { body: { ...owner, scopes } });
  const createWallet = async (): Promise<TestWallet> => {
    const payment = await signerFromSeed(crypto.getRandomValues(new Uint8Array(32)));
    const body = { currency: "USD", publicKey: toBase64(payment.publicKey) };
    return { ...(await made<{ walletId: string; ownerKey: string }>("POST /v1/wallets", { body })), payment };
  };
  const createStall = async (): Promise<Stall> => {
    const { walletId } = await createWallet();
    const { providerId } = await made<{ providerId: string }>("POST /v1/providers", {
      body: { name: "Stall", walletId },
    });
    const { capabilityId } = await made<{ capabilityId: string }>("POST /v1/capabilities", {
      body: aCapability(providerId),
    });
    const { key } = await createKey({ providerId }, ["payments:write"]);
    return { providerId, providerKey: key, capabilityId };
  };

  const own = (await createKey({ tenant: "own" }, TENANT_SCOPES)).key;
  const other = (await createKey({ tenant: "other" }, TENANT_SCOPES)).key;
  const [buyer, cautious, stranger] = [await createWallet(), await createWallet(), await createWallet()];
  for (const { walletId } of [buyer, cautious]) {
    await made("POST", {
      path: `/v1/wallets/${walletId}/credits`,
      body: { amountMinor: BALANCE_MINOR, reason: "test" },
      headers: { "idempotency-key": crypto.randomUUID() },
    });
  }
  // biome-ignore lint/suspicious/noThenProperty: the contract's word
  const askFirst = { field: "amountMinor", op: ">=", value: "0", currency: "USD", then: "require_approval" };
  await made("PUT", {
    path: `/v1/wallets/${cautious.walletId}/policy`,
    body: { rules: [askFirst], budgets: [] },
  });
  const [stall, otherStall] = [await createStall(), await createStall()];

  const prove: Cast["prove"] = async ({ walletId, payment }) => {
    const { capabilityId } = stall;
    const challenge = await made<Record<string, string>>(
      "POST /v1/x402/challenge",
      { body: { capabilityId } },
      stall.providerKey,
    );
    const { providerId, amountMinor, currency, nonce } = challenge;
    const agentId = `agent-${crypto.randomUUID()}`;
    const issuedAt = new Date().toISOString();
    const signed = { walletId, agentId, capabilityId, providerId, amountMinor, currency, nonce, issuedAt };
    const signature = await payment.sign(signedBytes(signed));
    return { ...(signed as Record<string, string>), signature: toBase64(signature) };
  };

  const hold = async (): Promise<string> => {
    const body = { proof: await prove(buyer) };
    const answer = await made<{ transactionId: string }>(
      "POST /v1/x402/authorize",
      { body },
      stall.providerKey,
    );
    return answer.transactionId;
  };

  const bought = await buyOnce(url, own);
  const listingId = await listed(url, bought.seller);
  return {
    ...{ own, other, buyer, cautious, stranger, stall, otherStall, createKey, prove, hold, listingId },
    ...bought,
    settle: async () => {
      const { extra } = await made<{ extra: { settlementId: string } }>(
        "POST /settle",
        { body: await aPayment() },
        own,
      );
      return extra.settlementId;
    },
    receipt: async () => {
      const body = { transactionId: await hold(), responseBodyBase64: "e30=" };
      return made("POST /v1/x402/complete", { body }, stall.providerKey);
    },
    pendingApproval: async () => {
      const body = { proof: await prove(cautious) };
      const response = await send(url, "POST /v1/x402/authorize", { body }, stall.providerKey);
      const answer = (await response.json()) as { code: string; approvalId: string };
      expect(answer.code).toBe("APPROVAL_REQUIRED");
      return answer.approvalId;
    },
    claim: async (action) => {
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      const nonce = crypto.randomUUID();
      const claim = { action, listingId, origin: url, expiresAt, nonce, payTo: SELLER.address };
      const signature = await privateKeyToAccount(SELLER.key).signMessage({ message: canonicalJson(claim) });
      return { ...claim, signature };
    },
    stop: () => bought.seller.stop(),
  };
}

export function aCapability(providerId: string): Record<string, string> {
  return {
    ...{ providerId, name: "Echo", description: "Says what it is told", method: "POST" },
    ...{ url: "https://stall.test/echo", challengeUrl: "https://stall.test/echo" },
    ...{ amountMinor: PRICE_MINOR, currency: "USD" },
  };
}

/** One purchase under this key, so that there is something in the bazaar. */
async function buyOnce(url: string, apiKey: string): Promise<{ seller: Seller; observationId: string }> {
  let observationId = "";
  const seller = await startSeller({
    facilitatorUrl: url,
    port: 0,
    apiKey,
    onEvent: (event) => {
      if (event.kind === "settled") observationId = event.listing?.id ?? "";
    },
  });
  const purchase = await makeBuyer(BUYER, "eip3009").buy(seller.url, WEATHER);
  expect(purchase).toMatchObject({ status: 200, body: { celsius: 7 } });
  expect(observationId).not.toBe("");
  return { seller, observationId };
}

async function listed(url: string, seller: Seller): Promise<string> {
  const deadline = Date.now() + LISTING_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const response = await send(url, "GET /discovery/resources");
    const { items } = (await response.json()) as { items: { id: string; resource: string }[] };
    const listing = items.find(({ resource }) => resource.startsWith(seller.url));
    if (listing) return listing.id;
    await new Promise((resolve) => setTimeout(resolve, LISTING_POLL_MS));
  }
  throw new Error(`nothing was listed within ${LISTING_TIMEOUT_MS} ms`);
}
