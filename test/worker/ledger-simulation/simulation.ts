// Random operations over several wallets, many at a time, with lost answers, duplicates, reordering and crashes between
// and inside paid calls. Afterwards every wallet is compared with what was entered and with what the calls say of
// themselves: no cent is made, lost or left behind. A long simulation is run in rounds, each of which ends in that
// comparison: calls are each round's own, wallets go on.

import type { AuthorizeRequest, DecisionAnswer } from "../../../src/gateway/paid-call-port.ts";
import type { EntryAnswer } from "../../../src/gateway/wallet-port.ts";
import type { Fault } from "../faulty-wallets.ts";
import type { Books, SimulatedPaidCall, SimulatedWallet } from "./objects.ts";

/** Operations in flight at once: they overtake each other. */
const CALLERS = 40;
/** So few of the newest calls are operated on that each meets many operations. */
const HOT_CALLS = 30;
const WALLETS = ["wal_a", "wal_b", "wal_c", "wal_d"];
const FINGERPRINT = "f".repeat(64);
const MINUTE = 60_000;
const [HASH_A, HASH_B] = ["a".repeat(64), "b".repeat(64)];
const FAULTS: readonly Fault[] = ["before", "after", "twice", "late", "slow"];
/** What a call is told whose object was aborted under it, or whose way was broken. */
const CRASHED = /simulated crash|connection lost|broken|aborted|reset/i;

export interface SimulationEnv {
  PAID_CALLS: DurableObjectNamespace<SimulatedPaidCall>;
  WALLETS: DurableObjectNamespace<SimulatedWallet>;
}

export interface Outcome {
  /** How many calls ended how. */
  ends: Record<string, number>;
  faults: Record<Fault | "crash", number>;
  /** Everything that does not add up; empty when all is well. */
  problems: string[];
}

type Operation = () => Promise<unknown>;

export class Simulation {
  readonly #env: SimulationEnv;
  readonly #random: () => number;
  /** Of this round. */
  #requests: AuthorizeRequest[] = [];
  #madeCalls = 0;
  #startedOperations = 0;
  readonly #acceptedBy = new Map<string, Set<string>>();
  readonly #receipts = new Map<string, Set<string>>();
  /**
   * What each wallet should have: what operators put in and took out, by what the wallets answered, and the calls of
   * earlier rounds.
   */
  readonly #expected = new Map(WALLETS.map((walletId) => [walletId, 0n]));
  readonly #entryIds = new Set<string>();
  readonly #outcome: Outcome = {
    ends: {},
    faults: { none: 0, before: 0, after: 0, twice: 0, late: 0, slow: 0, crash: 0 },
    problems: [],
  };
  #faultRate = 0;
  /** How far the objects' clocks are ahead of the machine's. */
  aheadMs = 0;

  constructor(env: SimulationEnv, seed: number) {
    this.#env = env;
    this.#random = randomFrom(seed);
  }

  /** What happens to the next step that a paid call asks of a wallet. */
  readonly nextFault = (): Fault => {
    const fault = this.#random() < this.#faultRate ? this.#pick(FAULTS) : "none";
    this.#outcome.faults[fault] += 1;
    return fault;
  };

  /** One round; the outcome is of all so far. */
  async run(operations: number): Promise<Outcome> {
    this.#requests = [];
    for (const walletId of WALLETS) await this.#wallet(walletId).open(walletId, "USD", FINGERPRINT);
    this.#faultRate = 0.12;
    const end = this.#startedOperations + operations;
    // Each goes on at its own pace: a slow one is overtaken by many.
    const caller = async () => {
      while (this.#startedOperations < end) {
        this.#startedOperations += 1;
        if (this.#startedOperations % CALLERS === 0)
          this.aheadMs += this.#pick([0, 1_000, 10_000, 30_000, 2 * MINUTE]);
        await this.#attempt(this.#hesitating(this.#operation(end)));
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
    this.#faultRate = 0;
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // Whatever is late has arrived.
    await this.#finish();
    await this.#check();
    return this.#outcome;
  }

  /** What breaks under a crash is part of the game; anything else is a problem. */
  async #attempt(operation: Operation): Promise<void> {
    try {
      await operation();
    } catch (error) {
      if (!CRASHED.test(String(error))) this.#outcome.problems.push(`unexpected: ${error}`);
    }
  }

  #hesitating(operation: Operation): Operation {
    const lateMs = this.#random() < 0.3 ? Math.floor(this.#random() * 8) : 0;
    return async () => {
      if (lateMs > 0) await new Promise((resolve) => setTimeout(resolve, lateMs));
      await operation();
    };
  }

  #operation(end: number): Operation {
    const dice = this.#random();
    const request = this.#pick(this.#requests.slice(-HOT_CALLS));
    if (dice < 0.15 || !request) return this.#start();
    const call = this.#call(request.transactionId);
    if (dice < 0.34) return () => this.#authorize(request);
    if (dice < 0.36) return () => this.#authorize({ ...request, proofHash: "of another proof" });
    if (dice < 0.5) {
      const responseHash = this.#random() < 0.9 ? HASH_A : HASH_B;
      return () => this.#note(request, call.complete(request.providerId, responseHash));
    }
    if (dice < 0.6) return () => this.#note(request, call.fail(request.providerId, "client_error", "no"));
    if (dice < 0.85) return () => call.fireAlarm();
    if (dice < 0.92) return this.#enter(end);
    if (dice < 0.97) {
      const [walletId, frozen] = [this.#pick(WALLETS), this.#random() < 0.3];
      return () => this.#wallet(walletId).setFrozen(frozen);
    }
    this.#outcome.faults.crash += 1;
    const wallet = this.#wallet(this.#pick(WALLETS));
    return this.#random() < 0.5 ? () => call.crash() : () => wallet.crash();
  }

  /** A new paid call, sometimes by several requests at once. */
  #start(): Operation {
    const [walletId, payTo] = [this.#pick(WALLETS), this.#pick(WALLETS)];
    const number = this.#madeCalls++;
    const request: AuthorizeRequest = {
      transactionId: `txn_${number.toString(16).padStart(32, "0")}`,
      proofHash: `of proof ${number}`,
      ...{ walletId, payTo, agentId: this.#pick(["one", "two"]), currency: "USD", nonce: `nonce ${number}` },
      ...{ capabilityId: "cap_1", providerId: "prv_1", keyFingerprint: FINGERPRINT, callId: "" },
      amountMinor: BigInt(1 + Math.floor(this.#random() * 400)),
    };
    this.#requests.push(request);
    const requests = this.#random() < 0.2 ? [request, request, request] : [request];
    return () => Promise.all(requests.map((each) => this.#authorize(each)));
  }

  async #authorize(request: AuthorizeRequest): Promise<void> {
    const { transactionId } = request;
    const callId = crypto.randomUUID();
    const answer = await this.#call(transactionId).authorize({ ...request, callId });
    if (!answer.ok) return;
    const accepted = this.#acceptedBy.get(transactionId) ?? new Set();
    this.#acceptedBy.set(transactionId, accepted.add(callId));
  }

  async #note({ transactionId }: AuthorizeRequest, asked: Promise<DecisionAnswer>): Promise<void> {
    const answer = await asked;
    if (!("receipt" in answer)) return;
    const seen = this.#receipts.get(transactionId) ?? new Set();
    this.#receipts.set(transactionId, seen.add(JSON.stringify(answer.receipt)));
  }

  #enter(end: number): Operation {
    const walletId = this.#pick(WALLETS);
    const kind = this.#random() < 0.7 ? ("credit" as const) : ("debit" as const);
    // Few ids, so that many entries are sent again: the same, and as another.
    const id = `entry ${Math.floor(this.#random() * end * 0.05)}`;
    const amountMinor = BigInt(500 * (1 + Math.floor(this.#random() * 3)));
    return async () => {
      const entry = { source: "operator", id, amountMinor, atMs: 1 } as const;
      // An operator whose request broke sends it again, as the Worker and the CLI do.
      const send = async (): Promise<EntryAnswer> => this.#wallet(walletId)[kind](entry);
      const answer = await send().catch(send).catch(send);
      if (!answer.ok || this.#entryIds.has(`${walletId} ${id}`)) return;
      this.#entryIds.add(`${walletId} ${id}`);
      const signed = kind === "credit" ? amountMinor : -amountMinor;
      this.#add(walletId, signed);
    };
  }

  /** With the way repaired and the fifteen minutes over, every call comes to its end by its alarm alone. */
  async #finish(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      this.aheadMs += 20 * MINUTE;
      for (let at = 0; at < this.#requests.length; at += CALLERS) {
        const some = this.#requests.slice(at, at + CALLERS);
        await Promise.all(
          some.map((request) => this.#attempt(() => this.#call(request.transactionId).fireAlarm())),
        );
      }
    }
  }

  async #check(): Promise<void> {
    for (const { transactionId, walletId, payTo, amountMinor } of this.#requests) {
      const { state, isSettled } = await this.#call(transactionId).look();
      this.#outcome.ends[state] = (this.#outcome.ends[state] ?? 0) + 1;
      this.#expect(
        ["completed", "failed", "timed_out", "abandoned", "refused"].includes(state),
        transactionId,
        state,
      );
      this.#expect(isSettled, transactionId, "the money did not follow");
      const accepted = this.#acceptedBy.get(transactionId)?.size ?? 0;
      this.#expect(accepted <= 1, transactionId, `ok:true to ${accepted} calls`);
      const receipts = this.#receipts.get(transactionId)?.size ?? 0;
      this.#expect(receipts <= 1, transactionId, `${receipts} different receipts`);
      if (state !== "completed") continue;
      this.#add(walletId, -amountMinor);
      this.#add(payTo, amountMinor);
    }
    for (const walletId of WALLETS)
      this.#checkBooks(await this.#wallet(walletId).books(), this.#expected.get(walletId) ?? 0n);
  }

  #add(walletId: string, minor: bigint): void {
    this.#expected.set(walletId, (this.#expected.get(walletId) ?? 0n) + minor);
  }

  #checkBooks(books: Books, expected: bigint): void {
    const { walletId, available, held, external, statement } = books;
    this.#expect(available === expected, walletId, `has ${available}, should have ${expected}`);
    this.#expect(held === 0n, walletId, `holds ${held}`);
    this.#expect(available + held + external === 0n, walletId, "accounts do not sum to zero");
    this.#expect(
      statement.available === available && statement.held === held,
      walletId,
      "statement is not balance",
    );
    this.#expect(books.openHolds === 0, walletId, `${books.openHolds} holds left behind`);
    this.#expect(
      books.holdsResolvedTwice === 0,
      walletId,
      `${books.holdsResolvedTwice} holds resolved twice`,
    );
    this.#expect(books.negativeSpending === 0, walletId, "negative spending");
  }

  #expect(holds: boolean, subject: string, problem: string): void {
    if (!holds) this.#outcome.problems.push(`${subject}: ${problem}`);
  }

  #call(transactionId: string) {
    return this.#env.PAID_CALLS.getByName(transactionId);
  }

  #wallet(walletId: string) {
    return this.#env.WALLETS.getByName(walletId);
  }

  #pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }
}

/** Mulberry32: small, and the same sequence for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
