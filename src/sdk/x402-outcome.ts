// How a purchase by x402 can end. Every exit has a name and none is an exception: "we did not pay, and here is why" is a
// normal answer for a program that spends money.

import type { PaymentRequirements } from "@x402/core/types";
import type { Settlement } from "./x402-settlement.ts";

export type RefusalReason =
  /** The endpoint wants to be called elsewhere; a payment is signed for nobody who was not asked. */
  | "redirected"
  /** A 402 without a price that can be read. */
  | "unreadable_price"
  /** Another version than 2. */
  | "other_version"
  | "nothing_to_sign"
  | "unknown_token"
  | "over_cap"
  /** A body that can be sent once only cannot be sent with a payment as well. */
  | "body_not_repeatable"
  | "already_claimed"
  | "claim_not_written";

export type FailureReason =
  /** The endpoint did not answer; nothing was signed. */
  | "no_answer"
  /** The scheme did not sign. The payment id counts as used. */
  | "not_signed"
  /** The signed payment was sent and no answer came, not even to the repeat. */
  | "no_answer_after_payment"
  /** There were answers, but they leave open whether the payment was or will be settled. */
  | "settlement_unknown"
  /** The seller said at once that it does not take the payment. */
  | "rejected"
  /** Answered as if paid, without a settlement that names its transaction on the network that was signed for. */
  | "no_settlement";

export interface Cost {
  usdMicros: bigint;
  requirements: PaymentRequirements;
}

export type X402Bought =
  /** No payment was asked for; whether the answer is of use, its own status says. */
  | { status: "free"; response: Response }
  | { status: "dry-run"; cost: Cost }
  | { status: "refused"; reason: RefusalReason; cost?: Cost }
  | {
      status: "paid";
      /** The money moved. That the goods came as well, the response's own status says. */
      response: Response;
      paymentId: string;
      cost: Cost;
      /** On the chain; empty where the settlement says that nothing was charged. */
      transaction: string;
      settlement: Settlement;
    }
  | {
      status: "failed";
      reason: FailureReason;
      paymentId?: string;
      cost?: Cost;
      /** The seller's last answer to the payment. */
      response?: Response;
      /** What the seller said of it, which may name a transaction to look up. */
      settlement?: Settlement;
      /**
       * Present when a signature went out: until then whoever holds it can have it settled, whatever the reason says.
       * Buying the same thing under another payment id before then may pay twice.
       */
      settleableUntilMs?: number;
      cause?: unknown;
    };
