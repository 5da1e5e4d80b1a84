// What a wallet's owner allows: rules, lists, a cap per call and budgets. Pure: judges one hold against one policy;
// counters and approvals are WalletObject's. The wallet's own rules and budgets come first, then those of the agent.
// An agent that no rule or budget names falls under `*`; once any agent is named, `*` without a rule or budget of its
// own denies, so that nobody renames itself out of a budget.

import { unreachable } from "../platform/assert.ts";
import { isAgentName } from "./proof.ts";
import type { Decision, Effect } from "./wire.ts";

export type Operator = ">" | ">=" | "<" | "<=" | "==";

/** A rule carries its unit: an amount without a currency means nothing. */
export interface PolicyRule {
  /** A named agent, `*` for all unnamed, absent for the whole wallet. */
  agentId?: string;
  field: "amountMinor";
  op: Operator;
  value: string;
  currency: string;
  then: Effect;
}

export interface Budget {
  agentId?: string;
  per: "day" | "month";
  amountMinor: string;
}

/** As the owner sends and reads it (CONTRACT.md section 4b). Amounts are in the wallet's currency. */
export interface Policy {
  rules: PolicyRule[];
  budgets: Budget[];
  perCallMaxMinor?: string;
  /** When present, only these. */
  capabilities?: string[];
  providers?: string[];
}

export const ALLOW_ALL: Policy = { rules: [], budgets: [] };

/** What wants to be held. */
export interface Ask {
  agentId: string;
  capabilityId: string;
  providerId: string;
  amountMinor: bigint;
  currency: string;
}

export type Judgement = { effect: "allow" } | { effect: Effect; decision: Decision; reason: string };

/** What is wrong with a policy for a wallet of this currency, or undefined. Its shape was checked before. */
export function findPolicyProblem(
  policy: Policy,
  currency: string,
): { field: string; message: string } | undefined {
  for (const [index, rule] of policy.rules.entries()) {
    // A rule in another currency would never match, and look like protection.
    if (rule.currency !== currency)
      return { field: `rules.${index}.currency`, message: `must be ${currency}` };
  }
  for (const part of ["rules", "budgets"] as const) {
    const index = policy[part].findIndex(
      ({ agentId }) => agentId !== undefined && agentId !== "*" && !isAgentName(agentId),
    );
    if (index >= 0) return { field: `${part}.${index}.agentId`, message: "must be an agent's name or *" };
  }
  return undefined;
}

/** Counts an agent's holds under its own name only if the policy names it; all others share `*`. */
export function scopeOf(policy: Policy, agentId: string): string {
  return isNamed(policy, agentId) ? `agent:${agentId}` : "*";
}

/** Everything but budgets. A denial anywhere wins over a demand for approval. */
export function judge(policy: Policy, ask: Ask): Judgement {
  const judgements = [...judgeLists(policy, ask), ...judgeRules(policy, ask)];
  return judgements.find((judgement) => judgement.effect === "deny") ?? judgements[0] ?? { effect: "allow" };
}

/** Spent so far in a scope (`wallet` or `scopeOf`) and the current day or month; minor units. */
export type Spent = (scope: string, per: "day" | "month") => bigint;

/** Whether every budget has room for the hold: the wallet's first, then the agent's. */
export function judgeBudgets(policy: Policy, ask: Ask, spent: Spent): Judgement {
  const scope = scopeOf(policy, ask.agentId);
  const applying = [...policy.budgets.entries()].filter(([, budget]) =>
    appliesTo(budget, policy, ask.agentId),
  );
  for (const [index, { agentId, per, amountMinor }] of walletFirst(applying)) {
    const counted = spent(agentId === undefined ? "wallet" : scope, per);
    if (counted + ask.amountMinor <= BigInt(amountMinor)) continue;
    return {
      effect: "deny",
      decision: {
        rule: `budgets[${index}]`,
        effect: "deny",
        ...(agentId === undefined ? {} : { agentId }),
        per,
        value: amountMinor,
        currency: ask.currency,
      },
      reason: `over the budget of ${amountMinor} ${ask.currency} per ${per}`,
    };
  }
  return { effect: "allow" };
}

function* judgeLists(policy: Policy, ask: Ask): Generator<Judgement> {
  const { perCallMaxMinor, capabilities, providers } = policy;
  if (perCallMaxMinor !== undefined && ask.amountMinor > BigInt(perCallMaxMinor)) {
    const reason = `denied by rule: more than ${perCallMaxMinor} ${ask.currency} per call`;
    const decision = { rule: "perCallMaxMinor", value: perCallMaxMinor, currency: ask.currency } as const;
    yield { effect: "deny", decision: { ...decision, effect: "deny" }, reason };
  }
  if (capabilities && !capabilities.includes(ask.capabilityId)) yield denied("capabilities", "capability");
  if (providers && !providers.includes(ask.providerId)) yield denied("providers", "provider");
  if (!isNamed(policy, ask.agentId) && namesOthers(policy) && !mentions(policy, "*")) {
    yield denied("agents", "agent");
  }
}

function denied(rule: string, what: string): Judgement {
  return {
    effect: "deny",
    decision: { rule, effect: "deny" },
    reason: `denied by rule: this ${what} is not allowed`,
  };
}

function* judgeRules(policy: Policy, ask: Ask): Generator<Judgement> {
  const applying = [...policy.rules.entries()].filter(([, rule]) => appliesTo(rule, policy, ask.agentId));
  for (const [index, rule] of walletFirst(applying)) {
    if (rule.currency !== ask.currency || !compares(ask.amountMinor, rule.op, BigInt(rule.value))) continue;
    const verb = rule.then === "deny" ? "denied" : "approval required";
    const { then: effect, ...matched } = rule;
    yield {
      effect,
      decision: { rule: `rules[${index}]`, effect, ...matched },
      reason: `${verb} by rule: ${rule.field} ${rule.op} ${rule.value} ${rule.currency}`,
    };
  }
}

function compares(left: bigint, op: Operator, right: bigint): boolean {
  switch (op) {
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case "==":
      return left === right;
    default:
      return unreachable(op);
  }
}

function appliesTo({ agentId }: { agentId?: string }, policy: Policy, asking: string): boolean {
  if (agentId === undefined) return true;
  return agentId === "*" ? !isNamed(policy, asking) : agentId === asking;
}

function walletFirst<T extends { agentId?: string }>(applying: [number, T][]): [number, T][] {
  return applying.toSorted(
    ([, a], [, b]) => Number(a.agentId !== undefined) - Number(b.agentId !== undefined),
  );
}

function isNamed(policy: Policy, agentId: string): boolean {
  return agentId !== "*" && mentions(policy, agentId);
}

function namesOthers(policy: Policy): boolean {
  return [...policy.rules, ...policy.budgets].some(({ agentId }) => agentId !== undefined && agentId !== "*");
}

function mentions(policy: Policy, agentId: string): boolean {
  return [...policy.rules, ...policy.budgets].some((part) => part.agentId === agentId);
}
