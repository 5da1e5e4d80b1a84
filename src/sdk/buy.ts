// One bought call from a custodial balance, whatever it travels over. Every exit is a named outcome: "we did not pay, and
// here is why" is a normal answer for an agent that spends money. One signature per call; the same proof is sent at most
// twice, and only when the seller said that it may be.

import {
  type BuyerOptions,
  BuyerWallet,
  type ChallengeCheck,
  type ChallengeProblem,
  type Limit,
  type ReceiptProblem,
} from "./buyer-wallet.ts";
import { type CalledThing, paidCallRow } from "./gateway-audit.ts";
import type { Challenge, Decision, Proof, Receipt } from "./wire.ts";
import { tellAudit } from "./x402-audit.ts";

/** A seller's answer, as the transport found it. */
export interface Answer<Response> {
  response: Response;
  /** Present when the answer is a price: not yet believed. */
  challenge?: unknown;
  /** Whether another address answered than was asked. */
  isRedirected?: boolean;
  /** Present when the answer carries one: not yet believed. */
  receipt?: unknown;
  /** The exact bytes that a receipt is over. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Set when the seller refuses the payment. */
  refusal?: { code: string; message: string; decision?: Decision; approvalId?: string };
}

export type Bought<Response> =
  /** The seller asked for no payment. */
  | { status: "free"; response: Response }
  /** Nothing was signed. */
  | {
      status: "not_paid";
      reason: ChallengeProblem | "redirected" | "no_answer" | "gateway_unreachable";
      challenge?: unknown;
      cause?: unknown;
    }
  /** The proof was refused: nothing was paid. */
  | { status: "refused"; code: string; message: string; decision?: Decision; approvalId?: string }
  | { status: "paid"; response: Response; receipt: Receipt }
  /** The seller could not deliver; the receipt says that the money is back. */
  | { status: "returned"; response: Response; receipt: Receipt }
  /** Paid or not, nothing that was got can be relied on. Keep the nonce: the wallet's statement tells what became of it. */
  | {
      status: "failed";
      reason: ReceiptProblem | "no_answer" | "gateway_unreachable";
      nonce: string;
      cause?: unknown;
    };

/** Sends the call once, with or without a payment. Throws when no answer came. */
export type Send<Response> = (proof: Proof | undefined) => Promise<Answer<Response>>;

/** What a seller says whose gateway was not reached in time: the same proof may try again. */
const TRY_AGAIN = "UNAVAILABLE";
const PAUSE_MS = 1_000;

export class Buyer {
  readonly #options: BuyerOptions;
  readonly #wallet: BuyerWallet;

  constructor(options: BuyerOptions) {
    this.#options = options;
    this.#wallet = new BuyerWallet(options);
  }

  /** `called` is for the audit's row alone. */
  async buy<Response>(send: Send<Response>, limit: Limit, called: CalledThing): Promise<Bought<Response>> {
    let first: Answer<Response>;
    try {
      first = await send(undefined);
    } catch (cause) {
      return { status: "not_paid", reason: "no_answer", cause };
    }
    if (first.challenge === undefined) {
      return first.refusal
        ? { status: "refused", ...first.refusal }
        : { status: "free", response: first.response };
    }
    if (first.isRedirected === true) return { status: "not_paid", reason: "redirected" };
    let check: ChallengeCheck;
    try {
      check = await this.#wallet.checkChallenge(first.challenge, limit, Date.now());
    } catch (cause) {
      return { status: "not_paid", reason: "gateway_unreachable", cause };
    }
    if (!check.ok) return { status: "not_paid", reason: check.reason, challenge: first.challenge };
    const { challenge } = check;
    const bought = await this.#pay(send, challenge);
    const { audit, agentId } = this.#options;
    await tellAudit(audit, () => paidCallRow(called, challenge, bought, agentId));
    return bought;
  }

  async #pay<Response>(send: Send<Response>, challenge: Challenge): Promise<Bought<Response>> {
    const { nonce } = challenge;
    const proof = await this.#wallet.sign(challenge, Date.now());
    let answer: Answer<Response>;
    try {
      answer = await send(proof);
      if (answer.refusal?.code === TRY_AGAIN) {
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        answer = await send(proof);
      }
    } catch (cause) {
      return { status: "failed", reason: "no_answer", nonce, cause };
    }
    try {
      return await this.#judge(answer, proof, challenge);
    } catch (cause) {
      return { status: "failed", reason: "gateway_unreachable", nonce, cause };
    }
  }

  async #judge<Response>(
    answer: Answer<Response>,
    proof: Proof,
    challenge: Challenge,
  ): Promise<Bought<Response>> {
    // A seller that has a receipt has it for what the gateway decided; without one a refusal is just that.
    if (answer.receipt === undefined && answer.refusal) return { status: "refused", ...answer.refusal };
    const { payTo, nonce } = challenge;
    const problem = await this.#wallet.findReceiptProblem(answer.receipt, proof, payTo, answer.bytes);
    if (problem) return { status: "failed", reason: problem, nonce };
    const receipt = answer.receipt as Receipt;
    const status = receipt.status === "completed" ? "paid" : "returned";
    return { status, response: answer.response, receipt };
  }
}
