// The life of a settlement as a pure machine: which step may follow which, and who is told what. SettlementObject
// stores what comes out and does nothing else to these fields. An illegal step is refused with its reason; the object
// treats that as a broken assertion.
//
//   (none) -> claimed -> broadcast -> settled | failed
//             claimed -> settled    without a transaction, for an upto charge of 0 only
//             claimed -> (none)     released: nothing was sent and nothing can be

import type { Hex } from "viem";

export type SettlementState = "claimed" | "broadcast" | "settled" | "failed";

export interface SettlementLife {
  state: SettlementState;
  /** Who may receive the one success. Null once that call was answered `settlement_pending`. */
  claimant: string | null;
  /** The success has been answered; a further answer to the same claimant is a replay. */
  isHandedOut: boolean;
  /** The transaction that answers name: ours that is out, or the one that settled. Empty when there is none. */
  transaction: Hex | "";
  /** Why it failed; null unless `failed`. */
  failure: Failure | null;
  /** The block of an answered success vanished. The answer stands; the record says so. */
  isReorged: boolean;
}

/** What proved that the payment did not and will not move money. */
export type Failure = "reverted" | "cancelled" | "expired";

export type SettlementEvent =
  /** The relayer stored a signed transfer; from here on only the chain can end the settlement. */
  | { type: "sent"; transaction: Hex }
  /** The relayer replaced the transaction (a higher fee, a new slot). */
  | { type: "replaced"; transaction: Hex }
  | { type: "proved"; transaction: Hex }
  | { type: "disproved"; failure: Failure; transaction: Hex | "" }
  | { type: "charged_nothing"; amountAtomic: bigint }
  | { type: "released" }
  | { type: "vanished" };

export type Step =
  | { ok: true; life: SettlementLife }
  /** The row is deleted: the next call starts from nothing. */
  | { ok: true; life: null }
  | { ok: false; refused: string };

export function claimedBy(claimant: string): SettlementLife {
  return {
    state: "claimed",
    claimant,
    isHandedOut: false,
    transaction: "",
    failure: null,
    isReorged: false,
  };
}

export function isTerminal(life: SettlementLife): boolean {
  return life.state === "settled" || life.state === "failed";
}

export function step(life: SettlementLife, event: SettlementEvent): Step {
  const from = (allowed: SettlementState, next: Partial<SettlementLife>): Step =>
    life.state === allowed
      ? { ok: true, life: { ...life, ...next } }
      : { ok: false, refused: `${event.type} in ${life.state}` };
  switch (event.type) {
    case "sent":
      return from("claimed", { state: "broadcast", transaction: event.transaction });
    case "replaced":
      return from("broadcast", { transaction: event.transaction });
    case "proved":
      return from("broadcast", { state: "settled", transaction: event.transaction });
    case "disproved":
      return from("broadcast", {
        state: "failed",
        failure: event.failure,
        transaction: event.transaction,
      });
    case "charged_nothing":
      if (event.amountAtomic !== 0n) return { ok: false, refused: "a charge needs a transaction" };
      return from("claimed", { state: "settled" });
    case "released":
      return life.state === "claimed"
        ? { ok: true, life: null }
        : { ok: false, refused: `released in ${life.state}` };
    case "vanished":
      return from("settled", { isReorged: true });
  }
}

/** What a call of the same fingerprint is told when its waiting ends. */
export type Told = "success" | "replayed_success" | "duplicate" | "failed" | "pending";

/**
 * Decides what `claimant` is told now, and the life that must be stored before telling it (DESIGN.md "Success goes to
 * one claimant"). Reading the outcome and taking it are this one step: call it and store in one synchronous turn.
 */
export function tell(life: SettlementLife, claimant: string): { told: Told; life: SettlementLife } {
  switch (life.state) {
    case "claimed":
    case "broadcast":
      // Whoever is sent away loses the claim: it may never come back, and the success must not wait for it.
      return { told: "pending", life: life.claimant === claimant ? { ...life, claimant: null } : life };
    case "failed":
      return { told: "failed", life };
    case "settled":
      if (life.claimant !== null && life.claimant !== claimant) return { told: "duplicate", life };
      if (life.isHandedOut) return { told: "replayed_success", life };
      return { told: "success", life: { ...life, claimant, isHandedOut: true } };
  }
}
