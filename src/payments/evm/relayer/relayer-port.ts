// What a settlement asks of a relayer: the messages between SettlementObject and RelayerObject. Types only.
// Every answer is a Result, because errors lose their prototype on the way between objects.

import type { Address, Hex } from "viem";

export type Step = "deploy" | "transfer";

/** Value is always 0: a relayer pays for gas and for nothing else. */
export interface RelayerCall {
  to: Address;
  data: Hex;
  /** Gas the node estimated for this call from this relayer, if the settlement's own batch read it already. */
  estimatedGas: bigint | null;
  /** The most this kind of call may burn; contract wallets get more than plain accounts. */
  gasCap: bigint;
}

export interface SubmitRequest {
  settlementId: string;
  /** Random id of the claim: a later claim of the same payment never meets this one's intents. */
  attempt: string;
  step: Step;
  payer: Address;
  call: RelayerCall;
  /** After this the authorization is dead and nothing is worth sending. */
  validBeforeSeconds: number;
}

export type SubmitAnswer =
  /** The intent is stored with its signed bytes; this hash is the one that will be broadcast first. */
  | { ok: true; hash: Hex }
  /** Nothing was written and nothing will be sent. */
  | {
      ok: false;
      /**
       * `would_revert`: the node executed the call to a revert, or it needs more gas than `gasCap`. `busy` also while
       * the account's key is not configured.
       */
      reason: "busy" | "no_gas" | "would_revert" | "cancelled" | "rpc_unavailable" | "payer_paused";
      retryAfterSeconds: number;
    };

/**
 * `cancelled`: a tombstone refuses every later submit of this attempt's transfer; its deployment may be out and harms
 * nobody. Otherwise the hashes of the transfer that may be out.
 */
export type CancelAnswer = { cancelled: true } | { cancelled: false; hashes: Hex[] };

export interface MinedLog {
  address: Address;
  topics: Hex[];
  data: Hex;
}

export interface MinedReceipt {
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  status: "success" | "reverted";
  logs: MinedLog[];
}

/** What the relayer knows of one step: every hash it ever signed for it, and the receipt that is on the chain now. */
export interface StepProgress {
  step: Step;
  /** Of the call itself, oldest first; fillers are none of the settlement's. */
  hashes: Hex[];
  receipt: MinedReceipt | null;
  /** 1 = mined in the head block; 0 without a receipt, and while a node does not know the receipt's block any more. */
  depth: number;
  /** At or below the finalized block, or `finalityBlocks` below the head. */
  isFinal: boolean;
  /** The relayer gave the step up without a mined transaction of it: the node refused it for good. */
  isAbandoned: boolean;
}

export interface RelayerPort {
  /** Idempotent by (settlementId, attempt, step). */
  submit(request: SubmitRequest): Promise<SubmitAnswer>;
  cancel(settlementId: string, attempt: string): Promise<CancelAnswer>;
  /**
   * Answers the attempt's steps in order of submission when the newest one's receipt is `depth` deep or it was given
   * up, or after `timeoutMs`; at once and empty for an unknown attempt. 0 reads what is known.
   */
  waitFor(settlementId: string, attempt: string, depth: number, timeoutMs: number): Promise<StepProgress[]>;
  /** A settlement of this payer failed by a transaction that reverted. Idempotent by settlement. */
  noteRevert(settlementId: string, payer: Address): Promise<void>;
}
