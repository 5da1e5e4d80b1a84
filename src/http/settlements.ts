// Settling over HTTP: POST /settle and GET /settlements/:id. A handler reads, calls one use case, answers; what a
// settlement is and does stands in payments/.

import type { Hex } from "viem";
import { isListedExactly } from "../bazaar/catalog/catalog-store.ts";
import type { Env } from "../config.ts";
import type { Payment } from "../payments/payment.ts";
import { PAYMENT_REQUEST_SCHEMA } from "../payments/payment-schema.ts";
import { wordReason } from "../payments/reasons.ts";
import { idempotencyName } from "../payments/settlement/idempotency-object.ts";
import { PAYMENT_ID_PATTERN } from "../payments/settlement/payment-id.ts";
import {
  PAYMENT_PURPOSE,
  type SettleAnswer,
  type SettlePorts,
  settlePayment,
} from "../payments/settlement/settle-payment.ts";
import { failureAnswer, json } from "./answers.ts";
import { auditSoon } from "./audit-soon.ts";
import { auditedOf } from "./audited-payment.ts";
import { readBlockOf } from "./bazaar-block.ts";
import { type Call, type Route, tenantOf } from "./call.ts";
import { headersAfterSettle } from "./extension-responses.ts";
import type { JsonSchema } from "./json-schema.ts";
import { refusePayment } from "./payment-answers.ts";
import { readPayment } from "./read-payment.ts";

const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

async function settle(call: Call): Promise<Response> {
  const idempotencyKey = call.request.headers.get("idempotency-key");
  if (idempotencyKey !== null && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
    const message = "Idempotency-Key must be 1 to 255 printable ASCII characters";
    return refusePayment("settle", { reason: "invalid_payload", message, network: "" });
  }
  const read = await readPayment(call, "settle");
  if (!read.ok) return read.response;
  const { payment } = read;
  const block = readBlockOf(call);
  const observation = block.kind === "accepted" ? block.observation : null;
  // Beside the settlement, which takes longer; its own limit is for a catalog that does not answer.
  const listing = observation && answersWithin(LOOKUP_MS, isListedExactly(call.env.DB, observation));
  const tenant = tenantOf(call);
  const audited = JSON.stringify(auditedOf(call.body, block));
  const { settlementId, answer } = await settlePayment(
    {
      payment,
      tenant,
      idempotencyKey,
      paymentIdentifier: paymentIdentifierOf(call.body),
      purpose: PAYMENT_PURPOSE,
      observation: observation && JSON.stringify(observation),
      audited,
    },
    settlementPorts(call.env),
  );
  // What is listed is audited with its listing.
  if (answer.success && !answer.isReplay && observation === null) {
    const ended = successOf(payment, answer.transaction, call.clock.nowMs());
    const settled = { settlementId, tenant, purpose: PAYMENT_PURPOSE, audited, ...ended };
    auditSoon(call.env.DB, settled, call.ctx);
  }
  const isListed = answer.success && (await listing) === true;
  const isUnderWay = answer.success || answer.reason === "settlement_pending";
  const { macKeys } = call.config;
  const headers = isUnderWay
    ? await headersAfterSettle(
        block,
        { paymentId: settlementId, isListed },
        { macKeys, nowMs: call.clock.nowMs() },
      )
    : {};
  return wordAnswer(answer, settlementId, payment, headers);
}

function successOf(
  { network, asset, payTo, requirements }: Payment,
  transaction: Hex | "",
  endedAtMs: number,
) {
  return {
    ...{ network, asset, payTo, endedAtMs },
    amount: requirements.amount,
    state: "settled" as const,
    errorReason: null,
    transaction: transaction === "" ? null : transaction,
  };
}

/** Whether the catalog already shows a listing decides one word of a header: nobody waits longer for it. */
const LOOKUP_MS = 200;

/** The value, or null when it fails or takes longer. */
function answersWithin<Value>(ms: number, value: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), ms);
    value
      .catch(() => null)
      .then((answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
  });
}

/** The objects that settling calls. */
export function settlementPorts(env: Env): SettlePorts {
  return {
    settlement: (id) => env.SETTLEMENTS.getByName(id),
    idempotencyKey: (name) => env.IDEMPOTENCY.getByName(name),
    nameKey: idempotencyName,
    randomId: () => crypto.randomUUID(),
  };
}

/** The identifier extension's own form; anything else is not recorded. */
const PAYMENT_IDENTIFIER = /^[a-zA-Z0-9_-]{16,128}$/;

function paymentIdentifierOf(body: unknown): string | null {
  const { extensions } = (body as { paymentPayload: { extensions?: Record<string, unknown> } })
    .paymentPayload;
  const extension = extensions?.["payment-identifier"] as { info?: { id?: unknown } } | null | undefined;
  const id = extension?.info?.id;
  return typeof id === "string" && PAYMENT_IDENTIFIER.test(id) ? id : null;
}

/** The settle verdict: `transaction` and `network` are strings in every answer, published clients throw otherwise. */
function wordAnswer(
  answer: SettleAnswer,
  settlementId: string,
  { network, payer, amountAtomic }: { network: string; payer: string; amountAtomic: bigint },
  extensionResponses: Record<string, string>,
): Response {
  const { transaction } = answer;
  if (answer.success) {
    const extra = { settlementId, ...(answer.isReplay && { replayed: true }) };
    const amount = amountAtomic.toString();
    return json({ success: true, transaction, network, payer, amount, extra }, 200, extensionResponses);
  }
  const {
    reason: errorReason,
    sentence: errorMessage,
    status,
    retryAfterSeconds,
  } = wordReason(answer.reason);
  const retrySeconds = answer.retryAfterSeconds ?? retryAfterSeconds;
  const extra = { settlementId, ...(retrySeconds !== null && { retryable: true }) };
  const retryAfter = retrySeconds === null ? {} : { "retry-after": String(retrySeconds) };
  const verdict = { success: false, errorReason, errorMessage, transaction, network, payer, extra };
  return json(verdict, status, { ...retryAfter, ...extensionResponses });
}

/** The record of a settlement, to its own tenant. An id of another form names nothing and touches no object. */
async function showSettlement(call: Call): Promise<Response> {
  const id = call.params.id ?? "";
  const tenant = call.caller.kind === "operator" ? null : tenantOf(call);
  const record = PAYMENT_ID_PATTERN.test(id) ? await call.env.SETTLEMENTS.getByName(id).show(tenant) : null;
  if (record) return json(record);
  const message = "no such settlement";
  return failureAnswer("api", { status: 404, code: "NOT_FOUND", message, reason: "not_found" });
}

const text: JsonSchema = { type: "string" };

const SETTLEMENT_VERDICT: JsonSchema = {
  type: "object",
  required: ["success", "transaction", "network"],
  properties: {
    success: { type: "boolean" },
    transaction: text,
    network: text,
    payer: text,
    amount: text,
    errorReason: text,
    errorMessage: text,
    extra: {
      type: "object",
      properties: { settlementId: text, replayed: { const: true }, retryable: { const: true } },
    },
  },
};

const SETTLEMENT_RECORD: JsonSchema = {
  type: "object",
  required: ["id", "state", "transaction", "network", "payer", "payTo", "amount", "asset"],
  properties: {
    id: text,
    state: { enum: ["claimed", "broadcast", "settled", "failed"] },
    transaction: text,
    network: text,
    payer: text,
    payTo: text,
    amount: text,
    asset: text,
    errorReason: text,
    reorged: { const: true },
    createdAt: text,
    updatedAt: text,
  },
};

export const settlementRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/settle",
    face: "settle",
    credential: { kind: "key", scope: "payments:settle", openable: true },
    summary: "Settle a payment on the chain: exactly one call is told of the success",
    body: PAYMENT_REQUEST_SCHEMA,
    bodyIsReadByHandler: true,
    answers: Object.fromEntries([200, 400, 409, 429, 502, 503].map((status) => [status, SETTLEMENT_VERDICT])),
    handle: settle,
  },
  {
    method: "GET",
    path: "/settlements/:id",
    face: "api",
    credential: { kind: "key", scope: "payments:read", openable: true },
    summary: "The record of a settlement of one's own",
    answers: { 200: SETTLEMENT_RECORD },
    handle: showSettlement,
  },
];
