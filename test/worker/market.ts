// A market inside workerd: a buyer's wallet with its keys, a seller's wallet, provider, key and capability, made through
// the Worker's own routes, and one function per step of a paid call. Nothing of ours is replaced; the objects' clocks
// can be moved.

import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { PaidCallObject } from "../../src/gateway/paid-call-object.ts";
import type { Policy } from "../../src/gateway/policy.ts";
import { fingerprintOf } from "../../src/gateway/registry-cache.ts";
import type { WalletObject } from "../../src/gateway/wallet-object.ts";
import type { HoldRequest } from "../../src/gateway/wallet-port.ts";
import type { Challenge, Proof, Receipt } from "../../src/gateway/wire.ts";
import worker from "../../src/index.ts";
import { toBase64, utf8 } from "../../src/platform/bytes.ts";
import { signedBytes } from "../../src/platform/canonical-json.ts";
import { type Signer, signerFromSeed } from "../../src/platform/ed25519.ts";

const ORIGIN = "https://souk.test";

export interface Answer<Body = Record<string, never>> {
  status: number;
  headers: Headers;
  body: Body;
}

/**
 * One request to the Worker's own fetch. (The pool's service binding grows slower with every request: after a thousand
 * one costs 300 ms.) A body that is a text is sent as it is.
 */
export async function api<Body = Record<string, unknown>>(
  method: string,
  path: string,
  { token, body, headers = {} }: { token?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer<Body>> {
  const request = new Request(ORIGIN + path, {
    method,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const response = await worker.fetch(request, env, createExecutionContext());
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text === "" ? {} : JSON.parse(text)) as Body,
  };
}

export const operator = String(env.ADMIN_TOKEN);

/** As the operator; throws on anything but a 2xx, because the test is about something else. */
export async function operate<Body>(
  method: string,
  path: string,
  body?: unknown,
  headers = {},
): Promise<Body> {
  const answer = await api<Body>(method, path, { token: operator, body, headers });
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function aSigner(): Promise<Signer> {
  return signerFromSeed(crypto.getRandomValues(new Uint8Array(32)));
}

export interface TestWallet {
  walletId: string;
  ownerKey: string;
  payment: Signer;
}

export async function aWallet(currency = "USD"): Promise<TestWallet> {
  const payment = await aSigner();
  const made = await operate<{ walletId: string; ownerKey: string }>("POST", "/v1/wallets", {
    currency,
    publicKey: toBase64(payment.publicKey),
  });
  return { ...made, payment };
}

export async function give(walletId: string, amountMinor: string): Promise<void> {
  const key = { "idempotency-key": crypto.randomUUID() };
  await operate("POST", `/v1/wallets/${walletId}/credits`, { amountMinor, reason: "funding" }, key);
}

export interface Authorized {
  ok: boolean;
  transactionId?: string;
  code?: string;
  reason?: string;
  decision?: { rule: string; effect: string };
  approvalId?: string;
}

/** As the platform publishes its keys. */
export interface PublicKey {
  signingKeyId: string;
  algorithm: string;
  publicKey: string;
  spki: string;
}

type Decided = Partial<Receipt> & { error?: { code: string; message: string }; receipt?: Receipt };

export interface Market {
  buyer: TestWallet;
  payee: TestWallet;
  providerId: string;
  providerKey: string;
  capabilityId: string;
  /** Of the buyer's payment key. */
  fingerprint: string;
  challenge(): Promise<Challenge>;
  /** A proof over a challenge, signed by the buyer after the changes. */
  proof(challenge: Challenge, changes?: Partial<Proof>, signer?: Signer): Promise<Proof>;
  authorize(proof: unknown): Promise<Answer<Authorized>>;
  /** Challenge, proof and hold; the transaction id. */
  hold(changes?: Partial<Proof>): Promise<string>;
  /** Tries to; the refusal or success. */
  tryHold(changes?: Partial<Proof>): Promise<Answer<Authorized>>;
  complete(transactionId: string, response?: string): Promise<Answer<Decided>>;
  fail(transactionId: string, kind?: string, error?: string): Promise<Answer<Decided>>;
  /** Ends a call that a test needs no more, without counting towards the breaker. */
  release(transactionId: string | undefined): Promise<Answer<Decided>>;
  /** `available`, `held` of the buyer and `available` of the payee, as numbers of minor units. */
  balances(): Promise<{ available: number; held: number; earned: number }>;
  setPolicy(policy: Partial<Policy>): Promise<void>;
}

/** A capability at a price and a buyer with money. */
export async function aMarket({ price = "100", balance = "10000" } = {}): Promise<Market> {
  const [buyer, payee] = [await aWallet(), await aWallet()];
  if (balance !== "0") await give(buyer.walletId, balance);
  const { providerId } = await operate<{ providerId: string }>("POST", "/v1/providers", {
    name: "Shop",
    walletId: payee.walletId,
  });
  const { key: providerKey } = await operate<{ key: string }>("POST", "/v1/keys", {
    providerId,
    scopes: ["payments:write"],
  });
  const capabilityId = await aCapability(providerId, price);

  const fingerprint = await fingerprintOf(buyer.payment.publicKey);

  const challenge = async (): Promise<Challenge> => {
    const answer = await api<Challenge>("POST", "/v1/x402/challenge", {
      token: providerKey,
      body: { capabilityId },
    });
    if (answer.status !== 200) throw new Error(`challenge: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const proof = async (offered: Challenge, changes: Partial<Proof> = {}, signer = buyer.payment) => {
    const { providerId, amountMinor, currency, nonce } = offered;
    const unsigned = {
      ...{ walletId: buyer.walletId, agentId: "bot", capabilityId: offered.capabilityId, providerId },
      ...{ amountMinor, currency, nonce, issuedAt: "2026-09-24T10:12:03.114Z" },
      ...changes,
    };
    return { ...unsigned, signature: toBase64(await signer.sign(signedBytes(unsigned))) };
  };
  const authorize = (submitted: unknown) =>
    api<Authorized>("POST", "/v1/x402/authorize", { token: providerKey, body: { proof: submitted } });
  const tryHold = async (changes: Partial<Proof> = {}) => authorize(await proof(await challenge(), changes));
  const fail = (transactionId: string, kind?: string, error = "boom") =>
    api<Decided>("POST", "/v1/x402/fail", {
      token: providerKey,
      body: { transactionId, error, ...(kind === undefined ? {} : { kind }) },
    });
  return {
    ...{
      buyer,
      payee,
      providerId,
      providerKey,
      capabilityId,
      fingerprint,
      challenge,
      proof,
      authorize,
      tryHold,
    },
    hold: async (changes) => {
      const { body } = await tryHold(changes);
      if (body.transactionId === undefined) throw new Error(`no hold: ${JSON.stringify(body)}`);
      return body.transactionId;
    },
    complete: (transactionId, response = "the answer") =>
      api("POST", "/v1/x402/complete", {
        token: providerKey,
        body: { transactionId, responseBodyBase64: toBase64(utf8(response)) },
      }),
    fail,
    release: (transactionId = "none") => fail(transactionId, "client_error"),
    balances: async () => {
      const [own, theirs] = await Promise.all([
        walletOf(buyer.walletId).state(),
        walletOf(payee.walletId).state(),
      ]);
      return {
        available: Number(own.availableMinor),
        held: Number(own.heldMinor),
        earned: Number(theirs.availableMinor),
      };
    },
    setPolicy: async (policy) => {
      const body = { rules: [], budgets: [], ...policy };
      await operate("PUT", `/v1/wallets/${buyer.walletId}/policy`, body);
    },
  };
}

export async function aCapability(providerId: string, amountMinor: string): Promise<string> {
  const made = await operate<{ capabilityId: string }>("POST", "/v1/capabilities", {
    ...{ providerId, name: "Answer", description: "Answers a question", amountMinor, currency: "USD" },
    ...{ url: "https://shop.test/answer", method: "POST", challengeUrl: "https://shop.test/answer" },
  });
  return made.capabilityId;
}

export function paidCallOf(transactionId: string): DurableObjectStub<PaidCallObject> {
  return env.PAID_CALLS.getByName(transactionId);
}

export function walletOf(walletId: string): DurableObjectStub<WalletObject> {
  return env.WALLETS.getByName(walletId);
}

/** Moves the clock of one paid call's object to `ms`, as long as it stays in memory. */
export async function moveClock(transactionId: string, ms: number): Promise<void> {
  await runInDurableObject(paidCallOf(transactionId), (instance) => {
    (instance as PaidCallObject).clock = { nowMs: () => ms };
  });
}

/** How a stretch of work changed the balances. */
export async function changeOf(
  market: Market,
  work: () => Promise<unknown>,
): Promise<{ available: number; held: number; earned: number }> {
  const before = await market.balances();
  await work();
  const after = await market.balances();
  return {
    available: after.available - before.available,
    held: after.held - before.held,
    earned: after.earned - before.earned,
  };
}

/** A hold of the price, as the paid call's object would ask for it. */
export function holdOf(market: Market, transactionId: string): HoldRequest {
  const { fingerprint: keyFingerprint, capabilityId, providerId } = market;
  const price = { amountMinor: 100n, currency: "USD" };
  return {
    transactionId,
    keyFingerprint,
    capabilityId,
    providerId,
    agentId: "bot",
    ...price,
    nowMs: Date.now(),
  };
}

/** The state in a call's row; null when there is no row. */
export async function stateOf(transactionId: string): Promise<string | null> {
  return runInDurableObject(paidCallOf(transactionId), (_instance, { storage: { sql } }) => {
    const exists = sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'paid_call'").toArray().length > 0;
    return exists ? String(sql.exec("SELECT call ->> '$.state' AS state FROM paid_call").one().state) : null;
  });
}

/** When the hold of a call ends, by its own row. */
export async function expiryOf(transactionId: string): Promise<number> {
  return runInDurableObject(paidCallOf(transactionId), (_instance, state) =>
    Number(state.storage.sql.exec("SELECT call ->> '$.expiresAtMs' AS ms FROM paid_call").one().ms),
  );
}

export async function alarmOf(transactionId: string): Promise<number | null> {
  return runInDurableObject(paidCallOf(transactionId), (_instance, state) => state.storage.getAlarm());
}

/** Tables that an object has: none means it stored nothing. */
export async function tablesOf(stub: DurableObjectStub): Promise<number> {
  return runInDurableObject(
    stub,
    (_instance, state) => state.storage.sql.exec("SELECT name FROM sqlite_master").toArray().length,
  );
}
