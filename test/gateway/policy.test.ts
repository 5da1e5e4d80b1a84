// What an owner allows, by tables; and that no name an agent gives itself gets it around a budget.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterVerdict, statusAt } from "../../src/gateway/approval.ts";
import {
  ALLOW_ALL,
  type Ask,
  findPolicyProblem,
  judge,
  judgeBudgets,
  type Policy,
  type PolicyRule,
  scopeOf,
} from "../../src/gateway/policy.ts";
import { windowOf } from "../../src/gateway/spending-windows.ts";
import type { Effect } from "../../src/gateway/wire.ts";

const anAsk = (change: Partial<Ask> = {}): Ask => ({
  agentId: "bot",
  capabilityId: "cap_1",
  providerId: "prv_1",
  amountMinor: 100n,
  currency: "USD",
  ...change,
});
const aPolicy = (change: Partial<Policy>): Policy => ({ ...ALLOW_ALL, ...change });
const aRule = (change: Partial<PolicyRule> = {}, effect: Effect = "deny"): PolicyRule => ({
  field: "amountMinor",
  op: ">",
  value: "99",
  currency: "USD",
  // biome-ignore lint/suspicious/noThenProperty: the contract's word
  then: effect,
  ...change,
});

describe("a policy", () => {
  it("allows everything when it says nothing", () => {
    expect(judge(ALLOW_ALL, anAsk())).toEqual({ effect: "allow" });
  });

  it.each([
    [">", "99", true],
    [">", "100", false],
    [">=", "100", true],
    ["<", "101", true],
    ["<", "100", false],
    ["<=", "100", true],
    ["==", "100", true],
    ["==", "101", false],
  ] as const)("compares amounts as numbers: 100 %s %s is %s", (op, value, matches) => {
    const judgement = judge(aPolicy({ rules: [aRule({ op, value })] }), anAsk());
    expect(judgement.effect).toBe(matches ? "deny" : "allow");
  });

  it("does not compare amounts as text", () => {
    expect(judge(aPolicy({ rules: [aRule({ value: "20" })] }), anAsk({ amountMinor: 9n })).effect).toBe(
      "allow",
    );
  });

  it("names the rule that denied, with its unit", () => {
    const rules = [aRule({ value: "5000" }), aRule({ value: "2000" })];
    expect(judge(aPolicy({ rules }), anAsk({ amountMinor: 2_001n }))).toEqual({
      effect: "deny",
      decision: {
        rule: "rules[1]",
        field: "amountMinor",
        op: ">",
        value: "2000",
        currency: "USD",
        effect: "deny",
      },
      reason: "denied by rule: amountMinor > 2000 USD",
    });
  });

  it("lets a denial win over a demand for approval, wherever it stands", () => {
    const rules = [aRule({}, "require_approval"), aRule({ agentId: "bot" }, "deny")];
    expect(judge(aPolicy({ rules }), anAsk())).toMatchObject({
      effect: "deny",
      decision: { rule: "rules[1]" },
    });
  });

  it("asks for approval by the wallet's rule before the agent's", () => {
    const rules = [aRule({ agentId: "bot" }, "require_approval"), aRule({}, "require_approval")];
    expect(judge(aPolicy({ rules }), anAsk())).toMatchObject({
      effect: "require_approval",
      decision: { rule: "rules[1]" },
      reason: "approval required by rule: amountMinor > 99 USD",
    });
  });

  it.each([
    ["a call over the cap", { perCallMaxMinor: "99" }, "perCallMaxMinor"],
    ["a capability not listed", { capabilities: ["cap_2"] }, "capabilities"],
    ["any capability, by an empty list", { capabilities: [] }, "capabilities"],
    ["a provider not listed", { providers: ["prv_2"] }, "providers"],
  ])("denies %s", (_name, change, rule) => {
    expect(judge(aPolicy(change), anAsk())).toMatchObject({ effect: "deny", decision: { rule } });
  });

  it("allows what its lists and its cap allow exactly", () => {
    const policy = aPolicy({ perCallMaxMinor: "100", capabilities: ["cap_1"], providers: ["prv_1"] });
    expect(judge(policy, anAsk())).toEqual({ effect: "allow" });
  });
});

describe("named and unnamed agents", () => {
  const named = aPolicy({ budgets: [{ agentId: "bot", per: "day", amountMinor: "500" }] });

  it("denies an agent that nobody named, once any is named", () => {
    expect(judge(named, anAsk({ agentId: "bot2" }))).toMatchObject({
      effect: "deny",
      decision: { rule: "agents" },
    });
    expect(judge(named, anAsk()).effect).toBe("allow");
  });

  it("lets unnamed agents share what the owner gives to *", () => {
    const policy = aPolicy({ budgets: [...named.budgets, { agentId: "*", per: "day", amountMinor: "150" }] });
    expect(judge(policy, anAsk({ agentId: "bot2" })).effect).toBe("allow");
    expect(scopeOf(policy, "bot2")).toBe(scopeOf(policy, "bot3"));
    const spent = (scope: string) => (scope === "*" ? 100n : 0n);
    expect(judgeBudgets(policy, anAsk({ agentId: "bot2" }), spent)).toMatchObject({
      effect: "deny",
      decision: { rule: "budgets[1]", agentId: "*" },
    });
    expect(judgeBudgets(policy, anAsk(), spent).effect).toBe("allow");
  });

  it("never gives an agent more under a new name than under its own", () => {
    const names = fc.string({ minLength: 1, maxLength: 10 }).filter((name) => name !== "bot");
    fc.assert(
      fc.property(names, fc.bigInt({ min: 1n, max: 1_000n }), (agentId, amountMinor) => {
        expect(judge(named, anAsk({ agentId, amountMinor })).effect).toBe("deny");
      }),
    );
  });

  it("applies a rule for * to unnamed agents only", () => {
    const rules = [aRule({ agentId: "*" }, "require_approval"), aRule({ agentId: "bot", value: "999" })];
    expect(judge(aPolicy({ rules }), anAsk({ agentId: "other" })).effect).toBe("require_approval");
    expect(judge(aPolicy({ rules }), anAsk()).effect).toBe("allow");
  });
});

describe("budgets", () => {
  it("have room for exactly their amount, counting what is spent in the same window", () => {
    const policy = aPolicy({ budgets: [{ per: "day", amountMinor: "500" }] });
    expect(judgeBudgets(policy, anAsk(), () => 400n).effect).toBe("allow");
    expect(judgeBudgets(policy, anAsk(), () => 401n)).toEqual({
      effect: "deny",
      decision: { rule: "budgets[0]", effect: "deny", per: "day", value: "500", currency: "USD" },
      reason: "over the budget of 500 USD per day",
    });
  });

  it("judge the wallet's before the agent's", () => {
    const policy = aPolicy({
      budgets: [
        { agentId: "bot", per: "day", amountMinor: "1" },
        { per: "month", amountMinor: "1" },
      ],
    });
    expect(judgeBudgets(policy, anAsk(), () => 0n)).toMatchObject({ decision: { rule: "budgets[1]" } });
  });

  it("open a new window at midnight UTC, and a new month with the first of it", () => {
    const lastMs = Date.parse("2026-02-28T23:59:59.999Z");
    expect([windowOf("day", lastMs), windowOf("month", lastMs)]).toEqual(["2026-02-28", "2026-02"]);
    expect([windowOf("day", lastMs + 1), windowOf("month", lastMs + 1)]).toEqual(["2026-03-01", "2026-03"]);
  });
});

describe("a policy that is stored", () => {
  it("must use the wallet's currency in every rule", () => {
    expect(findPolicyProblem(aPolicy({ rules: [aRule(), aRule({ currency: "EUR" })] }), "USD")).toEqual({
      field: "rules.1.currency",
      message: "must be USD",
    });
    expect(findPolicyProblem(aPolicy({ rules: [aRule()] }), "USD")).toBeUndefined();
  });

  it("must name agents by names they can have", () => {
    const policy = aPolicy({ budgets: [{ agentId: " bot", per: "day", amountMinor: "1" }] });
    expect(findPolicyProblem(policy, "USD")?.field).toBe("budgets.0.agentId");
  });
});

describe("an approval", () => {
  it("expires unless it was used", () => {
    expect(statusAt("pending", 10, 9)).toBe("pending");
    expect(statusAt("approved", 10, 10)).toBe("expired");
    expect(statusAt("used", 10, 11)).toBe("used");
  });

  it.each([
    ["pending", "approve", "approved"],
    ["pending", "deny", "denied"],
    ["approved", "approve", "approved"],
    ["approved", "deny", "denied"],
    ["denied", "deny", "denied"],
    ["denied", "approve", undefined],
    ["used", "deny", undefined],
    ["used", "approve", undefined],
    ["expired", "approve", undefined],
  ] as const)("that is %s and gets %s becomes %s", (status, verdict, after) => {
    expect(afterVerdict(status, verdict)).toBe(after);
  });
});
