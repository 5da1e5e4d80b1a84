// A SIGKILL of the Worker in the middle of many paid calls, and a restart on the same state: what was answered stands,
// what was decided is paid once, and what was not can still be decided.

import { afterAll, beforeAll, expect, it } from "vitest";
import { OPERATOR_TOKEN } from "../../scripts/local-variables.ts";
import { toBase64, utf8 } from "../../src/platform/bytes.ts";
import { signedBytes } from "../../src/platform/canonical-json.ts";
import { type Signer, signerFromSeed } from "../../src/platform/ed25519.ts";
import { send } from "../support/cast.ts";
import { startTestWorld, type TestWorld } from "../support/world.ts";

const CALLS = 40;
const PRICE_MINOR = 10;
const BALANCE_MINOR = 100_000;

let world: TestWorld;
let providerKey = "";
let capabilityId = "";
let payment: Signer;
let [buyerId, payeeId] = ["", ""];

beforeAll(async () => {
  world = await startTestWorld({ variables: { AUTH: "keys" } });
  const made = async <Body>(name: string, body: object, headers = {}): Promise<Body> => {
    const response = await send(world.url, name, { body, headers }, OPERATOR_TOKEN);
    expect(response.status, name).toBe(201);
    return (await response.json()) as Body;
  };
  const newWallet = async () => {
    payment = await signerFromSeed(crypto.getRandomValues(new Uint8Array(32)));
    const body = { currency: "USD", publicKey: toBase64(payment.publicKey) };
    return (await made<{ walletId: string }>("POST /v1/wallets", body)).walletId;
  };
  payeeId = await newWallet();
  buyerId = await newWallet();
  const funding = { amountMinor: String(BALANCE_MINOR), reason: "funding" };
  await made(`POST /v1/wallets/${buyerId}/credits`, funding, { "idempotency-key": "funding" });
  const provider = { name: "Shop", walletId: payeeId };
  const { providerId } = await made<{ providerId: string }>("POST /v1/providers", provider);
  const keyBody = { providerId, scopes: ["payments:write"] };
  providerKey = (await made<{ key: string }>("POST /v1/keys", keyBody)).key;
  const capability = await made<{ capabilityId: string }>("POST /v1/capabilities", {
    ...{ providerId, name: "Answer", description: "", amountMinor: String(PRICE_MINOR), currency: "USD" },
    ...{ url: "https://shop.test/", challengeUrl: "https://shop.test/" },
  });
  capabilityId = capability.capabilityId;
});
afterAll(() => world?.stop());

interface Answer {
  status: number;
  body: { ok?: boolean; code?: string; transactionId?: string; status?: string; error?: { code: string } };
}

/** An answer, or undefined when the Worker died before it came. */
async function ask(route: string, body: object): Promise<Answer | undefined> {
  try {
    const response = await send(world.url, `POST /v1/x402/${route}`, { body }, providerKey);
    return { status: response.status, body: (await response.json()) as Answer["body"] };
  } catch {
    return undefined;
  }
}

async function newProof(): Promise<object> {
  const challenge = (await ask("challenge", { capabilityId }))?.body as Record<string, string>;
  const { providerId, amountMinor, currency, nonce } = challenge;
  const unsigned = {
    ...{ walletId: buyerId, agentId: "bot", capabilityId, providerId, amountMinor, currency, nonce },
    issuedAt: new Date().toISOString(),
  };
  return { ...unsigned, signature: toBase64(await payment.sign(signedBytes(unsigned))) };
}

const complete = (transactionId: string) =>
  ask("complete", { transactionId, responseBodyBase64: toBase64(utf8(transactionId)) });

async function balanceOf(walletId: string): Promise<{ available: number; held: number }> {
  const response = await send(world.url, `GET /v1/wallets/${walletId}`, {}, OPERATOR_TOKEN);
  const { availableMinor, heldMinor } = (await response.json()) as Record<string, string>;
  return { available: Number(availableMinor), held: Number(heldMinor) };
}

it("loses nothing when the Worker is killed among authorizes and completions, twice", async () => {
  const proofs = await Promise.all(Array.from({ length: CALLS }, newProof));

  // Killed while holds are being taken.
  const authorizing = Promise.all(proofs.map((proof) => ask("authorize", { proof })));
  await new Promise((resolve) => setTimeout(resolve, 40));
  await world.killWorker();
  const first = await authorizing;
  await world.restartWorker();
  // The same proofs again: those that got no answer may resume or were used, those that did were used.
  const second = await Promise.all(proofs.map((proof) => ask("authorize", { proof })));
  const held: string[] = [];
  for (const [at, answer] of first.entries()) {
    const again = second[at];
    if (answer?.body.ok) expect(again?.body.code).toBe("NONCE_REPLAYED");
    const transactionId = answer?.body.transactionId ?? again?.body.transactionId;
    if (transactionId !== undefined) held.push(transactionId);
    else expect(again?.body.code).toBe("NONCE_REPLAYED");
  }
  expect(held.length).toBeGreaterThan(0);

  // Killed while calls are being completed.
  const completing = Promise.all(held.map(complete));
  await new Promise((resolve) => setTimeout(resolve, 40));
  await world.killWorker();
  const before = await completing;
  await world.restartWorker();
  const after = await Promise.all(held.map(complete));
  for (const [at, answer] of after.entries()) {
    expect(answer).toMatchObject({ status: 200, body: { status: "completed" } });
    if (before[at]?.status === 200) expect(answer?.body).toEqual(before[at]?.body);
  }

  // A hold whose answer was lost stays held until its fifteen minutes are over: nobody was told to run a handler.
  const buyer = await balanceOf(buyerId);
  const earned = (await balanceOf(payeeId)).available;
  expect(earned).toBe(held.length * PRICE_MINOR);
  expect(buyer.available + buyer.held).toBe(BALANCE_MINOR - earned);
  expect(buyer.held).toBeLessThanOrEqual((CALLS - held.length) * PRICE_MINOR);
});
