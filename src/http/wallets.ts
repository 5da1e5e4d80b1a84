// Custodial wallets over HTTP: made and filled by the operator, governed by their owner (CONTRACT.md section 4b). The
// payment key has no route here: whoever signs proofs decides nothing. A handler reads, asks the wallet, answers.

import type { ApprovalStatus, Verdict } from "../gateway/approval.ts";
import type { Policy } from "../gateway/policy.ts";
import { fingerprintOf, forgetWalletKey } from "../gateway/registry-cache.ts";
import { addWallet, findWallet, newId, setWalletKey } from "../gateway/registry-store.ts";
import type { Entry, WalletAdminPort } from "../gateway/wallet-port.ts";
import { fromBase64 } from "../platform/bytes.ts";
import { PUBLIC_KEY_BYTES } from "../platform/ed25519.ts";
import { withOneRepeat } from "../platform/one-repeat.ts";
import { failureAnswer, invalidRequest, json, notFound } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import { createKey } from "./key-store.ts";
import * as schemas from "./wallet-schemas.ts";

const DEFAULT_ENTRIES = 20;
const MAX_ENTRIES = 100;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

async function createWallet(call: Call): Promise<Response> {
  const { currency, publicKey } = call.body as { currency: string; publicKey: string };
  const raw = readPublicKey(publicKey);
  if (!raw) return failureAnswer("api", BAD_PUBLIC_KEY);
  const { env, clock } = call;
  const walletId = newId("wal");
  const fingerprint = await fingerprintOf(raw);
  // The object first: a wallet that the registry knows can always be asked.
  await withOneRepeat(() => env.WALLETS.getByName(walletId).open(walletId, currency, fingerprint));
  await addWallet(env.DB, { id: walletId, currency, publicKey, createdAtMs: clock.nowMs() });
  const { key: ownerKey } = await createKey(env.DB, { walletId }, ["wallet:owner"], clock.nowMs());
  return json({ walletId, ownerKey }, 201);
}

async function showWallet(call: Call): Promise<Response> {
  return withWallet(call, async (wallet) => {
    const { availableMinor, heldMinor, ...state } = await wallet.state();
    return json({ ...state, availableMinor: String(availableMinor), heldMinor: String(heldMinor) });
  });
}

async function listEntries(call: Call): Promise<Response> {
  return withWallet(call, async (wallet) => {
    const { limit = DEFAULT_ENTRIES, cursor } = call.query as { limit?: number; cursor?: string };
    const below = cursor === undefined ? null : Number(cursor);
    const { entries, next } = await wallet.entries(Math.min(limit, MAX_ENTRIES), below);
    return json({ entries: entries.map(wordEntry), cursor: next === null ? null : String(next) });
  });
}

function enter(kind: "credit" | "debit") {
  return async (call: Call): Promise<Response> => {
    const id = call.request.headers.get("idempotency-key") ?? "";
    if (!IDEMPOTENCY_KEY.test(id)) {
      const message = "must be given: 1 to 255 printable ASCII characters";
      return failureAnswer("api", invalidRequest("Idempotency-Key", message));
    }
    const { amountMinor, reason } = call.body as { amountMinor: string; reason: string };
    const atMs = call.clock.nowMs();
    const request = { source: "operator", id, amountMinor: BigInt(amountMinor), reason, atMs } as const;
    return withWallet(call, async (wallet) => {
      const answer = await wallet[kind](request);
      if (answer.ok) return json(wordEntry(answer.entry), answer.isNew ? 201 : 200);
      if (answer.reason === "conflict") {
        return conflict("CONFLICT", "this Idempotency-Key was used for another entry");
      }
      return conflict("INSUFFICIENT_BALANCE", "the available balance does not cover this");
    });
  };
}

async function setPolicy(call: Call): Promise<Response> {
  const policy = call.body as Policy;
  return withWallet(call, async (wallet) => {
    const answer = await wallet.setPolicy(policy);
    return answer.ok ? json(policy) : failureAnswer("api", invalidRequest(answer.field, answer.message));
  });
}

async function setFrozen(call: Call): Promise<Response> {
  const { frozen } = call.body as { frozen: boolean };
  return withWallet(call, async (wallet) => {
    await wallet.setFrozen(frozen);
    return json({ frozen });
  });
}

/** The object stops the old key at once; the registry then publishes the new one. */
async function rotatePaymentKey(call: Call): Promise<Response> {
  const { publicKey } = call.body as { publicKey: string };
  const raw = readPublicKey(publicKey);
  if (!raw) return failureAnswer("api", BAD_PUBLIC_KEY);
  const fingerprint = await fingerprintOf(raw);
  return withWallet(call, async (wallet, walletId) => {
    const { keyVersion } = await wallet.rotateKey(fingerprint);
    await setWalletKey(call.env.DB, walletId, publicKey, keyVersion);
    forgetWalletKey(walletId);
    return json({ publicKey });
  });
}

async function listApprovals(call: Call): Promise<Response> {
  return withWallet(call, async (wallet) => {
    const status = (call.query.status as ApprovalStatus | undefined) ?? null;
    return json({ approvals: await wallet.approvals(status, call.clock.nowMs()) });
  });
}

function decideApproval(verdict: Verdict) {
  return async (call: Call): Promise<Response> =>
    withWallet(call, async (wallet) => {
      const approvalId = call.params.approvalId ?? "";
      const answer = await wallet.decideApproval(approvalId, verdict, call.clock.nowMs());
      if (answer.ok) return json(answer.approval);
      if (answer.reason === "unknown") return failureAnswer("api", notFound("no such approval"));
      return conflict("CONFLICT", "this approval was decided, used or has expired");
    });
}

/** The wallet that the path names; one that the registry does not know is never asked. */
async function withWallet(
  call: Call,
  ask: (wallet: WalletAdminPort, walletId: string) => Promise<Response>,
): Promise<Response> {
  const walletId = call.params.id ?? "";
  if (!(await findWallet(call.env.DB, walletId))) return failureAnswer("api", notFound("no such wallet"));
  return withOneRepeat(() => ask(call.env.WALLETS.getByName(walletId), walletId));
}

function wordEntry({ id, kind, amountMinor, transactionId, reason, atMs }: Entry) {
  return {
    id,
    kind,
    amountMinor: String(amountMinor),
    ...(transactionId === null ? {} : { transactionId }),
    ...(reason === null ? {} : { reason }),
    at: new Date(atMs).toISOString(),
  };
}

function readPublicKey(text: string): Uint8Array<ArrayBuffer> | undefined {
  const raw = fromBase64(text);
  return raw?.length === PUBLIC_KEY_BYTES ? raw : undefined;
}

const BAD_PUBLIC_KEY = invalidRequest("publicKey", "must be the base64 of a raw ed25519 key (32 bytes)");

function conflict(code: "CONFLICT" | "INSUFFICIENT_BALANCE", message: string): Response {
  return failureAnswer("api", { status: 409, code, message, reason: "conflict" });
}

const OPERATOR = { kind: "operator" } as const;
const OWNER = { kind: "owner" } as const;
const FACE = "api" as const;

export const walletRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/wallets",
    face: FACE,
    credential: OPERATOR,
    summary: "Make a wallet for a payment key; its owner key is shown once",
    body: schemas.NEW_WALLET,
    answers: { 201: schemas.WALLET_MADE },
    handle: createWallet,
  },
  {
    method: "GET",
    path: "/v1/wallets/:id",
    face: FACE,
    credential: OWNER,
    summary: "Balance, holds and policy",
    answers: { 200: schemas.WALLET },
    handle: showWallet,
  },
  {
    method: "GET",
    path: "/v1/wallets/:id/entries",
    face: FACE,
    credential: OWNER,
    summary: "The statement, newest first",
    query: schemas.ENTRIES_QUERY,
    answers: { 200: schemas.ENTRIES },
    handle: listEntries,
  },
  {
    method: "POST",
    path: "/v1/wallets/:id/credits",
    face: FACE,
    credential: OPERATOR,
    summary: "Put money in, once per Idempotency-Key",
    body: schemas.NEW_ENTRY,
    answers: { 200: schemas.ENTRY, 201: schemas.ENTRY },
    handle: enter("credit"),
  },
  {
    method: "POST",
    path: "/v1/wallets/:id/debits",
    face: FACE,
    credential: OPERATOR,
    summary: "Take money out, once per Idempotency-Key",
    body: schemas.NEW_ENTRY,
    answers: { 200: schemas.ENTRY, 201: schemas.ENTRY },
    handle: enter("debit"),
  },
  {
    method: "PUT",
    path: "/v1/wallets/:id/policy",
    face: FACE,
    credential: OWNER,
    summary: "Set rules, budgets, the cap per call and the lists of what is allowed",
    body: schemas.POLICY,
    answers: { 200: schemas.POLICY },
    handle: setPolicy,
  },
  {
    method: "PUT",
    path: "/v1/wallets/:id/frozen",
    face: FACE,
    credential: OWNER,
    summary: "Freeze: no new hold is taken; unfreeze",
    body: schemas.FROZEN,
    answers: { 200: schemas.FROZEN },
    handle: setFrozen,
  },
  {
    method: "PUT",
    path: "/v1/wallets/:id/payment-key",
    face: FACE,
    credential: OWNER,
    summary: "Rotate the key that signs proofs; the old one stops at once",
    body: schemas.PAYMENT_KEY,
    answers: { 200: schemas.PAYMENT_KEY },
    handle: rotatePaymentKey,
  },
  {
    method: "GET",
    path: "/v1/wallets/:id/approvals",
    face: FACE,
    credential: OWNER,
    summary: "What agents asked the owner, newest first",
    query: schemas.APPROVALS_QUERY,
    answers: { 200: schemas.APPROVALS },
    handle: listApprovals,
  },
  {
    method: "POST",
    path: "/v1/wallets/:id/approvals/:approvalId/approve",
    face: FACE,
    credential: OWNER,
    summary: "Approve: the next hold of exactly this consumes it",
    answers: { 200: schemas.APPROVAL },
    handle: decideApproval("approve"),
  },
  {
    method: "POST",
    path: "/v1/wallets/:id/approvals/:approvalId/deny",
    face: FACE,
    credential: OWNER,
    summary: "Deny",
    answers: { 200: schemas.APPROVAL },
    handle: decideApproval("deny"),
  },
];
