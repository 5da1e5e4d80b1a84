// The settlement machine: every illegal step is refused, and no order of events and calls reaches two successes.

import fc from "fast-check";
import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import {
  claimedBy,
  isTerminal,
  type SettlementEvent,
  type SettlementLife,
  step,
  tell,
} from "../../src/payments/settlement/settlement-states.ts";

const hash: Hex = `0x${"11".repeat(32)}`;
const other: Hex = `0x${"22".repeat(32)}`;

const sent: SettlementEvent = { type: "sent", transaction: hash };
const proved: SettlementEvent = { type: "proved", transaction: hash };
const disproved: SettlementEvent = { type: "disproved", failure: "reverted", transaction: hash };
const events: Record<SettlementEvent["type"], SettlementEvent> = {
  sent,
  proved,
  disproved,
  replaced: { type: "replaced", transaction: other },
  charged_nothing: { type: "charged_nothing", amountAtomic: 0n },
  released: { type: "released" },
  vanished: { type: "vanished" },
};

function lifeAfter(...steps: SettlementEvent[]): SettlementLife {
  let life = claimedBy("alice");
  for (const event of steps) {
    const next = step(life, event);
    if (!next.ok || next.life === null) throw new Error("the test's own steps must be legal");
    life = next.life;
  }
  return life;
}

const lives: Record<string, SettlementLife> = {
  claimed: lifeAfter(),
  broadcast: lifeAfter(sent),
  settled: lifeAfter(sent, proved),
  failed: lifeAfter(sent, disproved),
};

const LEGAL: Record<string, SettlementEvent["type"][]> = {
  claimed: ["sent", "released", "charged_nothing"],
  broadcast: ["replaced", "proved", "disproved"],
  settled: ["vanished"],
  failed: [],
};

describe("settlement states", () => {
  for (const [state, life] of Object.entries(lives)) {
    for (const event of Object.values(events)) {
      const isLegal = LEGAL[state]?.includes(event.type);
      it(`${state} ${isLegal ? "takes" : "refuses"} ${event.type}`, () => {
        expect(step(life, event).ok).toBe(isLegal);
      });
    }
  }

  it("refuses to settle a charge above zero without a transaction", () => {
    expect(step(claimedBy("alice"), { type: "charged_nothing", amountAtomic: 1n }).ok).toBe(false);
  });

  it("names the transaction that was mined, not the first that was sent", () => {
    const life = lifeAfter(sent, { type: "replaced", transaction: other });
    expect(life.transaction).toBe(other);
    expect(step(life, proved)).toMatchObject({ life: { state: "settled", transaction: hash } });
  });
});

describe("who is told what", () => {
  it("keeps the success for the claimant and tells others that it is a duplicate", () => {
    const settled = lifeAfter(sent, proved);
    expect(tell(settled, "bob").told).toBe("duplicate");
    const first = tell(settled, "alice");
    expect(first.told).toBe("success");
    expect(tell(first.life, "alice").told).toBe("replayed_success");
    expect(tell(first.life, "bob").told).toBe("duplicate");
  });

  it("gives the claim up in the moment the claimant is told pending, and to nobody else's pending", () => {
    const broadcast = lifeAfter(sent);
    expect(tell(broadcast, "bob")).toEqual({ told: "pending", life: broadcast });
    const released = tell(broadcast, "alice").life;
    expect(released.claimant).toBeNull();
    const settled = step(released, proved);
    if (!settled.ok || settled.life === null) throw new Error("legal");
    const taken = tell(settled.life, "bob");
    expect(taken).toMatchObject({ told: "success", life: { claimant: "bob" } });
    expect(tell(taken.life, "alice").told).toBe("duplicate");
  });

  it("tells everybody the stored failure", () => {
    for (const claimant of ["alice", "bob"]) {
      expect(tell(lifeAfter(sent, disproved), claimant).told).toBe("failed");
    }
  });
});

type Move = { kind: "event"; event: SettlementEvent } | { kind: "call"; claimant: string };

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.constantFrom(...Object.values(events)).map((event) => ({ kind: "event" as const, event })),
  fc.constantFrom("alice", "bob", "carol").map((claimant) => ({ kind: "call" as const, claimant })),
);

describe("any order of events and calls", () => {
  it("hands out at most one success per claim, and replays it to that claimant only", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let life: SettlementLife | null = claimedBy("alice");
        const successes: string[] = [];
        const replays: string[] = [];
        for (const next of moves) {
          if (life === null) break; // Released: nothing was sent, so a later claim is another payment attempt.
          if (next.kind === "event") {
            const result = step(life, next.event);
            if (result.ok) life = result.life;
          } else {
            const answer = tell(life, next.claimant);
            life = answer.life;
            if (answer.told === "success") successes.push(next.claimant);
            if (answer.told === "replayed_success") replays.push(next.claimant);
          }
        }
        expect(successes.length).toBeLessThanOrEqual(1);
        for (const claimant of replays) expect(claimant).toBe(successes[0]);
      }),
      { numRuns: 3_000 },
    );
  });

  it("never leaves a terminal state, and changes of one only the reorg mark and who was told", () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 60 }), (moves) => {
        let life: SettlementLife | null = claimedBy("alice");
        let outcome: string | undefined;
        for (const next of moves) {
          if (life === null) break;
          if (next.kind === "call") life = tell(life, next.claimant).life;
          else {
            const result = step(life, next.event);
            if (result.ok) life = result.life;
          }
          if (life === null) {
            expect(outcome).toBeUndefined();
            break;
          }
          const { state, transaction, failure } = life;
          if (outcome !== undefined) expect(JSON.stringify([state, transaction, failure])).toBe(outcome);
          else if (isTerminal(life)) outcome = JSON.stringify([state, transaction, failure]);
        }
      }),
      { numRuns: 3_000 },
    );
  });
});
