// What a buyer checks before it signs, what it signs, and what it checks of what it got. No transport here.

import type { RingKind } from "../gateway/key-id.ts";
import { fromHex, sha256, toBase64, toHex } from "../platform/bytes.ts";
import { signedBytes } from "../platform/canonical-json.ts";
import { type Signer, signerFromSeed } from "../platform/ed25519.ts";
import { type GatewayAddress, PublishedKeys } from "./published-keys.ts";
import { type Challenge, looksLikeChallenge, looksLikeReceipt, type Proof, type Receipt } from "./wire.ts";
import type { BuyerAuditRow } from "./x402-audit.ts";

export interface BuyerOptions extends GatewayAddress {
  walletId: string;
  /** The buyer's own name for the agent that pays; budgets may be set for it. */
  agentId: string;
  /** 64 hex digits: the seed of the wallet's payment key. It decides nothing, it only pays. */
  paymentKeySeed: string;
  /** The row of every call that a proof was signed for, whatever became of it. */
  audit?: (row: BuyerAuditRow) => unknown;
}

/** The buyer's own bounds, for this one call. */
export interface Limit {
  /** Pay at most this; minor units. */
  maxMinor: bigint;
  /** Pay only in this currency; default USD. */
  currency?: string;
  /** Pay only for this capability. */
  capabilityId?: string;
}

export type ChallengeCheck = { ok: true; challenge: Challenge } | { ok: false; reason: ChallengeProblem };
export type ChallengeProblem =
  | "challenge_malformed"
  | "challenge_not_signed"
  | "challenge_expired"
  | "over_limit"
  | "other_currency"
  | "other_capability";

export type ReceiptProblem =
  | "receipt_missing"
  | "receipt_not_signed"
  | "receipt_not_ours"
  | "response_altered";

export class BuyerWallet {
  readonly #options: BuyerOptions;
  readonly #keys: PublishedKeys;
  #signer: Promise<Signer> | undefined;

  constructor(options: BuyerOptions) {
    this.#options = options;
    this.#keys = new PublishedKeys(options);
  }

  /** Whether this is a price that the gateway signed, that still holds, and that the buyer is willing to pay. */
  async checkChallenge(value: unknown, limit: Limit, nowMs: number): Promise<ChallengeCheck> {
    const refuse = (reason: ChallengeProblem): ChallengeCheck => ({ ok: false, reason });
    if (!looksLikeChallenge(value) || !/^[1-9][0-9]*$/.test(value.amountMinor))
      return refuse("challenge_malformed");
    if (!(await this.#isSigned("challenge", value))) return refuse("challenge_not_signed");
    // NaN is not later than anything: a date that is none has expired.
    if (!(Date.parse(value.expiresAt) > nowMs)) return refuse("challenge_expired");
    if (value.currency !== (limit.currency ?? "USD")) return refuse("other_currency");
    if (BigInt(value.amountMinor) > limit.maxMinor) return refuse("over_limit");
    if (limit.capabilityId !== undefined && value.capabilityId !== limit.capabilityId) {
      return refuse("other_capability");
    }
    return { ok: true, challenge: value };
  }

  async sign(challenge: Challenge, nowMs: number): Promise<Proof> {
    const { walletId, agentId } = this.#options;
    const { capabilityId, providerId, amountMinor, currency, nonce } = challenge;
    const issuedAt = new Date(nowMs).toISOString();
    const unsigned = { walletId, agentId, capabilityId, providerId, amountMinor, currency, nonce, issuedAt };
    this.#signer ??= signerFromSeed(fromHex(this.#options.paymentKeySeed) ?? new Uint8Array());
    const signature = await (await this.#signer).sign(signedBytes(unsigned));
    return { ...unsigned, signature: toBase64(signature) };
  }

  /**
   * Undefined when the receipt is the gateway's, over this payment, and, on a completed call, over exactly these bytes.
   */
  async findReceiptProblem(
    value: unknown,
    proof: Proof,
    payTo: string,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<ReceiptProblem | undefined> {
    if (value === undefined) return "receipt_missing";
    if (!looksLikeReceipt(value) || !(await this.#isSigned("receipt", value))) return "receipt_not_signed";
    if (!isOver(value, proof, payTo)) return "receipt_not_ours";
    if (value.status !== "completed") return undefined;
    return value.responseHash === toHex(await sha256(bytes)) ? undefined : "response_altered";
  }

  #isSigned(kind: RingKind, signed: Challenge | Receipt): Promise<boolean> {
    return this.#keys.verifies(kind, signed);
  }
}

/** A signed receipt of another payment proves nothing about this one. */
function isOver(receipt: Receipt, proof: Proof, payTo: string): boolean {
  const same = [
    "walletId",
    "agentId",
    "capabilityId",
    "providerId",
    "amountMinor",
    "currency",
    "nonce",
  ] as const;
  return receipt.payTo === payTo && same.every((member) => receipt[member] === proof[member]);
}
