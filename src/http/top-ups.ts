// POST /v1/wallets/:id/topups: money for a custodial wallet by a real payment. Without one the answer is x402's 402,
// which published clients pay by themselves; with one it is settled as any payment, for this wallet alone, and credited
// once it is final (CONTRACT.md section 4b).

import type { Address } from "viem";
import { findWallet } from "../gateway/registry-store.ts";
import { topUpPurpose } from "../gateway/top-up.ts";
import { decodePayment } from "../payments/decode-payment.ts";
import { type DollarOffer, dollarOffers } from "../payments/dollar-offers.ts";
import type { Payment } from "../payments/payment.ts";
import { type Reason, wordReason } from "../payments/reasons.ts";
import { type SettleAnswer, settlePayment } from "../payments/settlement/settle-payment.ts";
import { decodeJson, encodeJson } from "../platform/base64-json.ts";
import { describeError, log } from "../platform/log.ts";
import { withOneRepeat } from "../platform/one-repeat.ts";
import { type ErrorCode, failureAnswer, invalidRequest, json, notFound } from "./answers.ts";
import type { AuditedPayment } from "./audited-payment.ts";
import { type Call, OPERATOR_TENANT, type Route } from "./call.ts";
import { moneyProblem, topUpProblem } from "./payment-answers.ts";
import { isOverLimit } from "./rate-limit.ts";
import { settlementPorts } from "./settlements.ts";
import { NEW_TOP_UP, TOP_UP } from "./wallet-schemas.ts";

const CURRENCY = "USD";

async function topUp(call: Call): Promise<Response> {
  const walletId = call.params.id ?? "";
  const wallet = await findWallet(call.env.DB, walletId);
  if (!wallet) return failureAnswer("api", notFound("no such wallet"));
  if (wallet.currency !== CURRENCY) {
    return failureAnswer(
      "api",
      invalidRequest("id", `names a wallet in ${wallet.currency}; top-ups are in ${CURRENCY}`),
    );
  }
  const payTo = payToOf(call);
  if (!payTo) return unavailable("misconfigured", "top-ups are not set up here");

  const { amountMinor } = call.body as { amountMinor: string };
  const offers = dollarOffers(call.config.networks.values(), BigInt(amountMinor), payTo);
  const sent = call.request.headers.get("payment-signature");
  if (sent === null) return paymentRequired(call, offers, "PAYMENT-SIGNATURE is required");
  const body = bodyOf(sent, offers);
  if (!body) return paymentRequired(call, offers, "the payment is for none of these offers");
  const decoding = decodePayment(body, call.config.networks);
  if (!decoding.ok) {
    const message = decoding.message ?? wordReason(decoding.reason).sentence;
    return paymentRequired(call, offers, `${decoding.reason}: ${message}`);
  }
  const { payment } = decoding;
  if (await isOverLimit(call, OPERATOR_TENANT, payment.payer)) return unavailable("rate_limited");
  return settle(call, walletId, amountMinor, payment, offers);
}

async function settle(
  call: Call,
  walletId: string,
  amountMinor: string,
  payment: Payment,
  offers: readonly DollarOffer[],
): Promise<Response> {
  const { settlementId, answer } = await settlePayment(
    {
      payment,
      tenant: OPERATOR_TENANT,
      idempotencyKey: null,
      paymentIdentifier: null,
      purpose: topUpPurpose(walletId),
      // Whoever posts it, the money is the wallet's: every call hears how it went.
      beneficiary: walletId,
      observation: null,
      audited: JSON.stringify({
        resource: resourceUrl(call),
        toolName: null,
        extensions: null,
      } satisfies AuditedPayment),
    },
    settlementPorts(call.env),
  );
  const isPending = !answer.success && answer.reason === "settlement_pending";
  if (!answer.success && !isPending) return refuse(call, payment, answer, offers);
  const credited = answer.success && (await creditNow(call, settlementId));
  const state = answer.success ? "settled" : "broadcast";
  // 202: the money is on its way, and the wallet has it once no reorg can take it back.
  return json(
    { settlementId, state, amountMinor, credited },
    credited ? 200 : 202,
    receiptOf(payment, answer),
  );
}

/** Whether the wallet has the money. The settlement's alarm sees to it anyway, so a failure here is only "not yet". */
async function creditNow({ env, requestId }: Call, settlementId: string): Promise<boolean> {
  try {
    return await withOneRepeat(() => env.SETTLEMENTS.getByName(settlementId).attend());
  } catch (error) {
    log("top_up_not_attended", { requestId, settlementId, cause: describeError(error) });
    return false;
  }
}

/** What became of the payment, in the header that published clients read. */
function receiptOf({ network, payer }: Payment, answer: SettleAnswer): Record<string, string> {
  const { success, transaction } = answer;
  const receipt = { success, transaction, network, payer };
  return {
    "payment-response": encodeJson(answer.success ? receipt : { ...receipt, errorReason: answer.reason }),
  };
}

type Refusal = Extract<SettleAnswer, { success: false }>;

function refuse(call: Call, payment: Payment, answer: Refusal, offers: readonly DollarOffer[]): Response {
  const { reason, retryAfterSeconds } = answer;
  const { sentence, status, retryAfterSeconds: usually } = wordReason(reason);
  if (reason === "duplicate_settlement") {
    const message = "this payment is, or was, for something else";
    return failureAnswer("api", { status: 409, code: "CONFLICT", message, reason });
  }
  if (status === 200) {
    return paymentRequired(call, offers, `${reason}: ${sentence}`, receiptOf(payment, answer));
  }
  return unavailable(reason, sentence, retryAfterSeconds ?? usually ?? undefined);
}

/** The payment as verify and settle read one; undefined when it is none, or accepts none of these offers. */
function bodyOf(header: string, offers: readonly DollarOffer[]): unknown {
  const paymentPayload = decodeJson(header);
  const accepted = (paymentPayload as { accepted?: Partial<DollarOffer> } | null | undefined)?.accepted;
  const isAccepted = ({ scheme, network, asset, amount }: DollarOffer) =>
    accepted?.scheme === scheme &&
    accepted.network === network &&
    accepted.asset?.toLowerCase() === asset.toLowerCase() &&
    accepted.amount === amount;
  const paymentRequirements = offers.find(isAccepted);
  return paymentRequirements && { x402Version: 2, paymentPayload, paymentRequirements };
}

/** Where top-ups go; undefined when there are none, or when money must not move. */
function payToOf({ config }: Call): Address | undefined {
  return moneyProblem(config) === null && topUpProblem(config) === null ? config.topUpPayTo : undefined;
}

/** The 402 of the x402 core spec, in the header that clients of version 2 read and in the body for people. */
function paymentRequired(
  call: Call,
  accepts: readonly DollarOffer[],
  error: string,
  headers: Record<string, string> = {},
): Response {
  const resource = {
    url: resourceUrl(call),
    description: "Money for a custodial wallet",
    mimeType: "application/json",
  };
  const required = { x402Version: 2, error, resource, accepts };
  return json(required, 402, { ...headers, "payment-required": encodeJson(required) });
}

function resourceUrl({ url, config }: Call): string {
  return `${config.publicOrigin ?? url.origin}${url.pathname}`;
}

function unavailable(reason: Reason, message?: string, retryAfterSeconds?: number): Response {
  const worded = wordReason(reason);
  const { status } = worded;
  const wait = retryAfterSeconds ?? worded.retryAfterSeconds;
  return failureAnswer("api", {
    status,
    code: CODES[reason] ?? (status === 503 ? "UNAVAILABLE" : "NO_ANSWER"),
    message: message ?? worded.sentence,
    reason,
    ...(wait === null ? {} : { retryAfterSeconds: wait }),
  });
}

const CODES: Partial<Record<Reason, ErrorCode>> = {
  misconfigured: "MISCONFIGURED",
  rate_limited: "RATE_LIMITED",
};

export const topUpRoute: Route = {
  method: "POST",
  path: "/v1/wallets/:id/topups",
  face: "api",
  credential: { kind: "none" },
  summary: "Pay dollars into a wallet by x402",
  body: NEW_TOP_UP,
  answers: { 200: TOP_UP, 202: TOP_UP, 402: { type: "object" } },
  handle: topUp,
};
