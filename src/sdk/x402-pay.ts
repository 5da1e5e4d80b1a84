// Signs one payment and sends it: at most twice, the same bytes both times. What a second 402 asks for is never signed.
// The payment id was claimed before this is called.

import type { PaymentPayload, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { encodeJson } from "../platform/base64-json.ts";
import type { Offer } from "./x402-offers.ts";
import type { FailureReason, X402Bought } from "./x402-outcome.ts";
import { isSettlementOf, readSettlement, type Settlement } from "./x402-settlement.ts";

/** A published client's scheme, such as `ExactEvmScheme` of `@x402/evm/exact/client`. */
export interface SigningScheme {
  readonly scheme: string;
  createPaymentPayload(
    x402Version: number,
    requirements: PaymentRequirements,
  ): Promise<Pick<PaymentPayload, "payload"> & { extensions?: Record<string, unknown> }>;
}

/** Sends the call, with or without a payment. Redirects are answers like others. */
export type SendCall = (payment?: string) => Promise<Response>;

export type PaymentOutcome = Extract<X402Bought, { status: "paid" | "failed" }>;

export async function pay(
  send: SendCall,
  scheme: SigningScheme,
  { required, offer, paymentId }: { required: PaymentRequired; offer: Offer; paymentId: string },
): Promise<PaymentOutcome> {
  const about = { paymentId, cost: offer };
  let signed: string;
  try {
    signed = await signPayment(scheme, required, offer.requirements);
  } catch (cause) {
    return { status: "failed", reason: "not_signed", ...about, cause };
  }
  // The scheme counted from a moment before this one, so no signature is good for longer.
  const settleableUntilMs = Date.now() + offer.requirements.maxTimeoutSeconds * 1000;
  const answers = await sendTwiceAtMost(send, signed);
  const { response, settlement, cause } = answers[answers.length - 1] as Answer;
  if (response && settlement && isSettlementOf(settlement, offer.requirements)) {
    const { transaction } = settlement;
    return { status: "paid", response, ...about, transaction, settlement };
  }
  const said = mostTelling(answers);
  return {
    ...{ status: "failed", reason: reasonOf(answers), ...about, settleableUntilMs },
    ...(response && { response }),
    ...(said && { settlement: said }),
    ...(cause === undefined ? {} : { cause }),
  };
}

async function signPayment(
  scheme: SigningScheme,
  { resource, extensions }: PaymentRequired,
  accepted: PaymentRequirements,
): Promise<string> {
  const made = await scheme.createPaymentPayload(2, accepted);
  return encodeJson({
    x402Version: 2,
    resource,
    accepted,
    payload: made.payload,
    // What the server declares is handed back, so that its facilitator sees it.
    ...(extensions === undefined ? {} : { extensions: { ...extensions, ...made.extensions } }),
  });
}

/** What came back from one sending: an answer, or the cause of there being none. */
interface Answer {
  response?: Response;
  settlement?: Settlement | undefined;
  cause?: unknown;
}

/** A second time where the first left open what became of the payment: it may have been lost on the way. */
async function sendTwiceAtMost(send: SendCall, signed: string): Promise<Answer[]> {
  const first = await sendOnce(send, signed);
  if (!isOpen(first)) return [first];
  await discardBody(first.response);
  return [first, await sendOnce(send, signed)];
}

async function sendOnce(send: SendCall, signed: string): Promise<Answer> {
  try {
    const response = await send(signed);
    return { response, settlement: readSettlement(response.headers.get("PAYMENT-RESPONSE")) };
  } catch (cause) {
    return { cause };
  }
}

/** Whether it may be settled all the same: no answer, a server that broke, a transaction that is on its way. */
function isOpen({ response, settlement }: Answer): boolean {
  if (!response) return true;
  if (settlement?.success === true) return false;
  return response.status >= 500 || settlement?.errorReason === "settlement_pending";
}

/** Of answers that do not show a settlement. A refusal of the repeat says nothing of the first sending. */
function reasonOf(answers: readonly Answer[]): FailureReason {
  const { response, settlement } = answers[answers.length - 1] as Answer;
  if (!response) return "no_answer_after_payment";
  if (response.status < 400) return "no_settlement";
  return settlement?.success === true || answers.some(isOpen) ? "settlement_unknown" : "rejected";
}

/** The latest that names a transaction, else the latest. */
function mostTelling(answers: readonly Answer[]): Settlement | undefined {
  const said = answers.flatMap(({ settlement }) => settlement ?? []).reverse();
  return said.find(({ transaction }) => transaction !== "") ?? said[0];
}

/** An answer that nobody reads keeps its connection. */
export async function discardBody(response: Response | undefined): Promise<void> {
  await response?.body?.cancel().catch(() => {});
}
