// The storage of one settlement: one row of JSON, with the messages that must still leave. Owns the object's SQL, and
// decides nothing. One statement for every write, because each new object compiles its statements anew, and there is
// one object per payment. The table is made by `create` and by nothing else: a read that made it would leave an object
// behind for every refused payment.

import type { Address } from "viem";
import { assert } from "../../platform/assert.ts";
import type { Payment } from "../payment.ts";
import { PAYMENT_PURPOSE } from "./settle-payment.ts";
import type { SettlementLife } from "./settlement-states.ts";

/** Of the JSON; kept beside it, so that a later release can tell what it finds. */
const VERSION = 1;

const SCHEMA =
  "CREATE TABLE settlement (version INTEGER NOT NULL, settlement TEXT NOT NULL, observation TEXT)";
const EXISTS = "SELECT 1 FROM sqlite_master WHERE name = 'settlement'";
const INSERT = `INSERT INTO settlement VALUES (${VERSION}, ?, ?)`;
const UPDATE = "UPDATE settlement SET settlement = ?";
const SELECT = "SELECT version, settlement FROM settlement";
const SELECT_OBSERVATION = "SELECT observation FROM settlement";

/**
 * Most successes are audited at once, many together (http/audit-soon.ts). What was lost on the way and what failed comes
 * this much later: nobody waits for it, and in a burst of settlements the answers come first.
 */
const AUDIT_DELAY_MS = 20_000;

/** What a claim fixes for good. */
export interface Claim {
  settlementId: string;
  fingerprint: string;
  tenant: string;
  /** `payment`, or what else the money is for; an id claimed for one purpose serves no other. */
  purpose: string;
  /** Random, made for this claim: a later claim of the same payment never meets this one's transactions. */
  attempt: string;
  relayer: Address;
  payment: Payment;
  /** The buyer's word, recorded only. */
  paymentIdentifier: string | null;
  /** Opaque JSON for the catalog, at most 80 KB. */
  observation: string | null;
  /** Opaque JSON for the audit: what the payment was for. */
  audited: string;
}

export interface Settlement extends Omit<Claim, "observation"> {
  life: SettlementLife;
  createdAtMs: number;
  updatedAtMs: number;
  /** When it became settled or failed. */
  outcomeAtMs: number | null;
  /** When a reorg could no longer change the outcome. */
  finalAtMs: number | null;
  hasObservation: boolean;
  /** What was paid for another purpose than a payment has arrived there. */
  isCredited?: true;
  /** At most one of a kind. */
  outbox: readonly Message[];
}

/** What must leave this object, at the earliest at `dueAtMs`; deleted once it did. */
export interface Message {
  /** For the catalog's queue, for the audit, or for whoever keeps what was paid for another purpose than a payment. */
  kind: "observation" | "audit" | "credit";
  dueAtMs: number;
  failures: number;
}

export class SettlementRows {
  readonly #storage: DurableObjectStorage;
  /** What is stored: this object is its only writer. Undefined before the first read. */
  #known: Settlement | null | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** The settlement, or null when there is none. Asking creates nothing. */
  read(): Settlement | null {
    if (this.#known === undefined) this.#known = this.#exists() ? this.#select() : null;
    return this.#known;
  }

  create(claim: Claim, life: SettlementLife, nowMs: number): Settlement {
    const { observation, ...fixed } = claim;
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs, outcomeAtMs: null, finalAtMs: null };
    const settlement = { ...fixed, life, ...times, hasObservation: observation !== null, outbox: [] };
    this.#storage.transactionSync(() => {
      this.#storage.sql.exec(SCHEMA);
      this.#storage.sql.exec(INSERT, stringify(settlement), observation);
    });
    this.#known = settlement;
    return settlement;
  }

  saveLife(life: SettlementLife, nowMs: number): void {
    this.#change({ life, updatedAtMs: nowMs });
  }

  /** The outcome and what must follow it, in one write. */
  saveOutcome(life: SettlementLife, isFinal: boolean, nowMs: number): void {
    const isPaid = life.state === "settled";
    const { hasObservation } = this.#stored();
    const urgent = [
      ...(isPaid && hasObservation ? [message("observation", nowMs)] : []),
      ...(isPaid && isFinal ? this.#dueWhenFinal(nowMs) : []),
    ];
    // With another message or alone, the object wakes once.
    const outbox = [...urgent, message("audit", urgent.length > 0 ? nowMs : nowMs + AUDIT_DELAY_MS)];
    this.#change({ life, updatedAtMs: nowMs, outcomeAtMs: nowMs, finalAtMs: isFinal ? nowMs : null, outbox });
  }

  /**
   * No reorg can change the outcome any more. `isPaid`: the money is on the chain, and has not gone with a reorg. Said
   * once: two looks at the chain may come to it at the same time.
   */
  saveFinal(isPaid: boolean, nowMs: number): void {
    const stored = this.#stored();
    if (stored.finalAtMs !== null) return;
    const outbox = [...stored.outbox, ...(isPaid ? this.#dueWhenFinal(nowMs) : [])];
    this.#change({ finalAtMs: nowMs, outbox });
  }

  /** What was paid for anything but a payment is credited once it cannot be lost again. */
  #dueWhenFinal(nowMs: number): Message[] {
    return this.#stored().purpose === PAYMENT_PURPOSE ? [] : [message("credit", nowMs)];
  }

  /** Everything about it was deleted from storage. */
  forget(): void {
    this.#known = null;
  }

  /** The message that has waited longest, or null. */
  nextMessage(): Message | null {
    return this.read()?.outbox.toSorted((a, b) => a.dueAtMs - b.dueAtMs)[0] ?? null;
  }

  /** Opaque JSON for the catalog. */
  observation(): string | null {
    return this.#storage.sql.exec<{ observation: string | null }>(SELECT_OBSERVATION).one().observation;
  }

  deleteMessage(kind: Message["kind"]): void {
    const outbox = this.#stored().outbox.filter((waiting) => waiting.kind !== kind);
    this.#change({ outbox, ...(kind === "credit" && { isCredited: true }) });
  }

  postponeMessage(kind: Message["kind"], dueAtMs: number): void {
    const outbox = this.#stored().outbox.map((waiting) =>
      waiting.kind === kind ? { kind, dueAtMs, failures: waiting.failures + 1 } : waiting,
    );
    this.#change({ outbox });
  }

  #stored(): Settlement {
    const settlement = this.read();
    assert(settlement, "a settlement that changes is stored");
    return settlement;
  }

  /** Remembered once it is written. */
  #change(change: Partial<Settlement>): void {
    const settlement = { ...this.#stored(), ...change };
    this.#storage.sql.exec(UPDATE, stringify(settlement));
    this.#known = settlement;
  }

  #select(): Settlement | null {
    const [row] = this.#storage.sql.exec<{ version: number; settlement: string }>(SELECT).toArray();
    assert(row?.version === VERSION, "the settlement is of this release's version");
    return parse(row.settlement);
  }

  #exists(): boolean {
    return this.#storage.sql.exec(EXISTS).toArray().length > 0;
  }
}

function message(kind: Message["kind"], dueAtMs: number): Message {
  return { kind, dueAtMs, failures: 0 };
}

const AMOUNTS = ["amountAtomic", "signedAtomic", "validAfterSeconds", "validBeforeSeconds"] as const;

/** JSON has no integers of this size: they are stored as decimal strings. */
function stringify(settlement: Settlement): string {
  const { payment } = settlement;
  const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, payment[name].toString()]));
  return JSON.stringify({ ...settlement, payment: { ...payment, ...amounts } });
}

function parse(text: string): Settlement {
  const settlement = JSON.parse(text) as Settlement & { payment: Record<string, unknown> };
  const { payment } = settlement;
  const amounts = Object.fromEntries(
    AMOUNTS.map((name) => [name, BigInt(payment[name] as unknown as string)]),
  );
  return { ...settlement, payment: { ...payment, ...amounts } };
}
