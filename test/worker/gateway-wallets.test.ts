// What a policy, a budget or an approval lets through, also under concurrency.

import { describe, expect, it } from "vitest";
import type { Approval } from "../../src/gateway/approval.ts";
import type { Effect } from "../../src/gateway/wire.ts";
import { aMarket, api, give, holdOf, type Market, walletOf } from "./market.ts";

const DAY = 24 * 60 * 60 * 1_000;

const approvalsOf = async ({ buyer }: Market, status = "pending"): Promise<Approval[]> => {
  const path = `/v1/wallets/${buyer.walletId}/approvals?status=${status}`;
  return (await api<{ approvals: Approval[] }>("GET", path, { token: buyer.ownerKey })).body.approvals;
};

const decide = ({ buyer }: Market, approvalId: string | undefined, verdict: string, token = buyer.ownerKey) =>
  api<Approval>("POST", `/v1/wallets/${buyer.walletId}/approvals/${approvalId}/${verdict}`, { token });

/** The rule about anything over 50. */
const over50 = (effect: Effect) =>
  // biome-ignore lint/suspicious/noThenProperty: the contract's word
  ({ field: "amountMinor", op: ">", value: "50", currency: "USD", then: effect }) as const;
const ASK_OVER_50 = over50("require_approval");

describe("a budget", () => {
  it("for ten calls lets ten of 50 parallel authorizes through", async () => {
    const market = await aMarket();
    await market.setPolicy({ budgets: [{ per: "day", amountMinor: "1000" }] });
    const answers = await Promise.all(Array.from({ length: 50 }, () => market.tryHold()));
    expect(answers.filter(({ body }) => body.ok)).toHaveLength(10);
    for (const { status, body } of answers.filter(({ body }) => !body.ok)) {
      expect({ status, code: body.code }).toEqual({ status: 402, code: "BUDGET_EXCEEDED" });
      expect(body.decision).toMatchObject({ rule: "budgets[0]", effect: "deny" });
    }
    expect(await market.balances()).toEqual({ available: 9_000, held: 1_000, earned: 0 });
  });

  it("gets back what is released, and not what is paid", async () => {
    const market = await aMarket();
    await market.setPolicy({ budgets: [{ per: "month", amountMinor: "200" }] });
    const [one, two] = [await market.hold(), await market.hold()];
    expect((await market.tryHold()).body.code).toBe("BUDGET_EXCEEDED");
    await market.release(one);
    await market.complete(two);
    await market.hold();
    expect((await market.tryHold()).body.code).toBe("BUDGET_EXCEEDED");
  });

  it("counts a hold in the UTC day in which it was made, and a release gives back to that day", async () => {
    const market = await aMarket();
    await market.setPolicy({ budgets: [{ per: "day", amountMinor: "100" }] });
    const wallet = walletOf(market.buyer.walletId);
    const lastMs = Date.parse("2026-09-24T23:59:59.999Z");
    const hold = (name: string, nowMs: number) => wallet.hold({ ...holdOf(market, name), nowMs });
    expect(await hold("a", lastMs)).toMatchObject({ ok: true });
    expect(await hold("b", lastMs)).toMatchObject({ ok: false, code: "BUDGET_EXCEEDED" });
    expect(await hold("b", lastMs + 1)).toMatchObject({ ok: true });
    await wallet.release("a", "late", lastMs + 2);
    expect(await hold("c", lastMs + 2)).toMatchObject({ ok: false, code: "BUDGET_EXCEEDED" });
    expect(await hold("c", lastMs)).toMatchObject({ ok: true });
  });

  it("set in the middle of a day knows what was spent before", async () => {
    const market = await aMarket();
    await market.complete(await market.hold());
    await market.setPolicy({ budgets: [{ per: "day", amountMinor: "150" }] });
    expect((await market.tryHold()).body.code).toBe("BUDGET_EXCEEDED");
  });

  it("is not escaped by another name", async () => {
    const market = await aMarket();
    await market.setPolicy({ budgets: [{ agentId: "bot", per: "day", amountMinor: "100" }] });
    await market.hold();
    expect((await market.tryHold()).body.code).toBe("BUDGET_EXCEEDED");
    for (const agentId of ["bot2", "Bot", "b\u043et"]) {
      expect((await market.tryHold({ agentId })).body).toMatchObject({
        code: "POLICY_DENIED",
        decision: { rule: "agents" },
      });
    }
  });

  it("for * is shared by all unnamed agents", async () => {
    const market = await aMarket();
    await market.setPolicy({
      budgets: [
        { agentId: "bot", per: "day", amountMinor: "100" },
        { agentId: "*", per: "day", amountMinor: "200" },
      ],
    });
    const names = ["one", "two", "three", "bot"];
    const codes = [];
    for (const agentId of names) codes.push((await market.tryHold({ agentId })).body.code ?? "ok");
    expect(codes).toEqual(["ok", "ok", "BUDGET_EXCEEDED", "ok"]);
  });
});

describe("an approval", () => {
  it("is asked for once, lets exactly one hold through, and is asked for anew", async () => {
    const market = await aMarket();
    await market.setPolicy({ rules: [ASK_OVER_50] });
    const refused = await market.tryHold();
    expect(refused).toMatchObject({
      status: 402,
      body: {
        code: "APPROVAL_REQUIRED",
        decision: { rule: "rules[0]", effect: "require_approval", value: "50" },
      },
    });
    const again = await market.tryHold();
    expect(again.body.approvalId).toBe(refused.body.approvalId);
    const [approval] = await approvalsOf(market);
    expect(approval).toMatchObject({
      approvalId: refused.body.approvalId,
      agentId: "bot",
      amountMinor: "100",
    });
    const inMs = Date.parse(approval?.expiresAt ?? "") - Date.now();
    expect(inMs).toBeGreaterThan(DAY - 60_000);
    expect(inMs).toBeLessThanOrEqual(DAY);

    expect((await decide(market, approval?.approvalId, "approve")).body.status).toBe("approved");
    expect((await market.tryHold({ agentId: "other" })).body.code).toBe("APPROVAL_REQUIRED");
    await market.hold();
    expect((await approvalsOf(market, "used"))[0]?.approvalId).toBe(approval?.approvalId);
    const next = await market.tryHold();
    expect(next.body.code).toBe("APPROVAL_REQUIRED");
    expect(next.body.approvalId).not.toBe(refused.body.approvalId);
  });

  it("is used by one of two parallel tries", async () => {
    const market = await aMarket();
    await market.setPolicy({ rules: [ASK_OVER_50] });
    const { approvalId } = (await market.tryHold()).body;
    await decide(market, approvalId, "approve");
    const answers = await Promise.all([market.tryHold(), market.tryHold()]);
    expect(answers.filter(({ body }) => body.ok)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === "APPROVAL_REQUIRED")).toHaveLength(1);
  });

  it("is not used by a hold that is refused for another reason", async () => {
    const market = await aMarket({ balance: "0" });
    await market.setPolicy({ rules: [ASK_OVER_50] });
    const { approvalId } = (await market.tryHold()).body;
    await decide(market, approvalId, "approve");
    expect((await market.tryHold()).body.code).toBe("INSUFFICIENT_BALANCE");
    await give(market.buyer.walletId, "100");
    await market.hold();
  });

  it("that is denied stands: no new question until it expires", async () => {
    const market = await aMarket();
    await market.setPolicy({ rules: [ASK_OVER_50] });
    const { approvalId } = (await market.tryHold()).body;
    expect((await decide(market, approvalId, "deny")).body.status).toBe("denied");
    expect((await market.tryHold()).body).toMatchObject({ code: "POLICY_DENIED", approvalId });
    expect((await decide(market, approvalId, "approve")).status).toBe(409);
    expect((await decide(market, "apr_none", "approve")).status).toBe(404);
  });

  it("expires after a day, unused or unanswered", async () => {
    const market = await aMarket();
    await market.setPolicy({ rules: [ASK_OVER_50] });
    const wallet = walletOf(market.buyer.walletId);
    const nowMs = Date.now();
    const first = await wallet.hold({ ...holdOf(market, "a"), nowMs });
    await wallet.decideApproval("approvalId" in first ? String(first.approvalId) : "", "approve", nowMs);
    expect(await wallet.hold({ ...holdOf(market, "b"), nowMs: nowMs + DAY })).toMatchObject({
      code: "APPROVAL_REQUIRED",
    });
    expect(await wallet.approvals("expired", nowMs + DAY)).toHaveLength(1);
    expect(await wallet.approvals("pending", nowMs + DAY)).toHaveLength(1);
  });
});

describe("a policy", () => {
  const put = (market: Market, policy: unknown) =>
    api<{ error?: { message: string } }>("PUT", `/v1/wallets/${market.buyer.walletId}/policy`, {
      token: market.buyer.ownerKey,
      body: policy,
    });

  it("is stored as sent and shown with the wallet", async () => {
    const market = await aMarket();
    const policy = {
      rules: [{ ...ASK_OVER_50, agentId: "bot" }],
      budgets: [{ per: "day", amountMinor: "0" }],
      perCallMaxMinor: "500",
      capabilities: [market.capabilityId],
      providers: [market.providerId],
    };
    expect((await put(market, policy)).body).toEqual(policy);
    const shown = await api("GET", `/v1/wallets/${market.buyer.walletId}`, { token: market.buyer.ownerKey });
    expect(shown.body).toEqual({
      ...{ walletId: market.buyer.walletId, currency: "USD", availableMinor: "10000", heldMinor: "0" },
      frozen: false,
      policy,
    });
  });

  it.each([
    [
      "a rule without a currency",
      { rules: [{ ...ASK_OVER_50, currency: undefined }], budgets: [] },
      "rules.0.currency",
    ],
    [
      "a rule in another currency",
      { rules: [{ ...ASK_OVER_50, currency: "EUR" }], budgets: [] },
      "rules.0.currency",
    ],
    ["an amount as a number", { rules: [{ ...ASK_OVER_50, value: 50 }], budgets: [] }, "rules.0.value"],
    ["a budget without a window", { rules: [], budgets: [{ amountMinor: "1" }] }, "budgets.0.per"],
    ["no budgets at all", { rules: [] }, "budgets"],
    ["a word nobody reads", { rules: [], budgets: [], maxPerCall: "5" }, "maxPerCall"],
  ])("with %s is refused, naming the field", async (_name, policy, field) => {
    const market = await aMarket();
    const { status, body } = await put(market, policy);
    expect(status).toBe(400);
    expect(body.error?.message).toContain(field);
  });

  it("names the rule that denies, to the seller", async () => {
    const market = await aMarket();
    await market.setPolicy({ rules: [over50("deny")] });
    expect((await market.tryHold()).body).toEqual({
      ok: false,
      code: "POLICY_DENIED",
      reason: "denied by rule: amountMinor > 50 USD",
      decision: {
        ...{ rule: "rules[0]", effect: "deny", field: "amountMinor", op: ">", value: "50", currency: "USD" },
      },
    });
  });
});
