// The one row of a paid call's object, as JSON. This file owns the paid call's SQL and nothing else: no rule is decided
// here. One statement for every write, because each new object compiles its statements anew, and there is one object
// per call.

import { assert } from "../platform/assert.ts";
import type { Decision, PaidCall, PaidCallTerms } from "./paid-call.ts";

/** Of the JSON; kept beside it, so that a later release can tell what it finds. */
const VERSION = 1;

const SCHEMA = "CREATE TABLE paid_call (version INTEGER NOT NULL, call TEXT NOT NULL)";
const EXISTS = "SELECT 1 FROM sqlite_master WHERE name = 'paid_call'";
const INSERT = `INSERT INTO paid_call VALUES (${VERSION}, ?)`;
const UPDATE = "UPDATE paid_call SET call = ?";
const SELECT = "SELECT version, call FROM paid_call";

export class PaidCallTables {
  readonly #sql: SqlStorage;
  /** The row as it is stored: this object is its only writer. */
  #call: PaidCall | undefined;
  #isRead = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The call, or undefined when there is none. Asking creates nothing. */
  read(): PaidCall | undefined {
    if (!this.#isRead && this.#exists()) {
      const [row] = this.#sql.exec<{ version: number; call: string }>(SELECT).toArray();
      assert(row?.version === VERSION, "the paid call is of this release's version");
      this.#call = parse(row.call);
    }
    this.#isRead = true;
    return this.#call;
  }

  start(terms: PaidCallTerms, callId: string, startedAtMs: number, expiresAtMs: number): PaidCall {
    assert(this.read() === undefined, "a call starts once");
    this.#sql.exec(SCHEMA);
    this.#call = {
      ...terms,
      ...{ state: "authorizing", callId, startedAtMs, expiresAtMs, holdsSent: 0, policyVersion: null },
      ...{ approvalId: null, decision: null, isSettled: false, isRecorded: false, failedRounds: 0 },
    };
    this.#sql.exec(INSERT, stringify(this.#call));
    return this.#call;
  }

  countHoldSent(): void {
    this.#change(({ holdsSent }) => ({ holdsSent: holdsSent + 1 }));
  }

  setHeld(callId: string, policyVersion: number, approvalId: string | null): void {
    this.#change(() => ({ state: "held", callId, policyVersion, approvalId }));
  }

  setDecided(decision: Decision, atMs: number, signingKeyId: string | null): void {
    const { state } = decision;
    this.#change(() => ({ state, decision: { ...decision, atMs, signingKeyId, signature: null } }));
  }

  setSettled(signingKeyId: string | null, signature: string | null): void {
    this.#change(({ decision }) => {
      assert(decision, "money follows a decision");
      return { isSettled: true, failedRounds: 0, decision: { ...decision, signingKeyId, signature } };
    });
  }

  setRecorded(): void {
    this.#change(() => ({ isRecorded: true }));
  }

  countFailedRound(): void {
    this.#change(({ failedRounds }) => ({ failedRounds: failedRounds + 1 }));
  }

  /** After the object's storage was emptied. */
  forget(): void {
    this.#isRead = false;
    this.#call = undefined;
  }

  #change(change: (call: PaidCall) => Partial<PaidCall>): void {
    const call = this.read();
    assert(call, "a call that changes is stored");
    const changed = { ...call, ...change(call) };
    this.#sql.exec(UPDATE, stringify(changed));
    this.#call = changed;
  }

  #exists(): boolean {
    return this.#sql.exec(EXISTS).toArray().length > 0;
  }
}

/** Money is a decimal string in storage. */
function stringify(call: PaidCall): string {
  return JSON.stringify({ ...call, amountMinor: String(call.amountMinor) });
}

function parse(text: string): PaidCall {
  const stored = JSON.parse(text) as Omit<PaidCall, "amountMinor"> & { amountMinor: string };
  return { ...stored, amountMinor: BigInt(stored.amountMinor) };
}
