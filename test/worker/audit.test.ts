// The audit: one row for each settlement that ended and for each paid call, to whom it belongs, and nothing in it that
// must not be kept.

import { createExecutionContext, runDurableObjectAlarm, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import worker from "../../src/index.ts";
import { encodeJson } from "../../src/platform/base64-json.ts";
import { aToolBlock } from "../support/bazaar.ts";
import {
  ACCOUNTS,
  aPayment,
  BUYER,
  cancelAuthorization,
  type Hex,
  SELLER,
  type TestAccount,
  type TestPayment,
} from "../support/chain.ts";
import { aMarket, api, moveClock, operate, operator, paidCallOf } from "./market.ts";
import { idOf, keyOf, moveTime, ORIGIN, ringAlarm, settle, startSettling, until } from "./settling.ts";

const TOPUPS = ACCOUNTS[9]?.address ?? BUYER.address;
const chain = await startSettling({ variables: { SETTLE_WAIT_SECONDS: "2", TOPUP_PAY_TO: TOPUPS } });

type Row = Record<string, unknown> & { id: string; kind: string };

async function newKey(tenant: string, scopes = ["audit:read"]): Promise<string> {
  return (await operate<{ key: string }>("POST", "/v1/keys", { tenant, scopes })).key;
}

async function rowsOf(token: string, query = ""): Promise<Row[]> {
  const { status, body } = await api<{ rows: Row[] }>("GET", `/v1/audit${query}`, { token });
  expect(status).toBe(200);
  return body.rows;
}

/** The row of a settlement, once its object has told it; twice, for messages may come twice. */
async function auditedRow(payment: TestPayment, token = operator): Promise<Row | undefined> {
  const id = await idOf(payment);
  await until(async () => {
    await moveTime(id, 60_000);
    await ringAlarm(id);
    return (await rowsOf(operator, "?limit=100")).some((row) => row.id === id);
  }, "it is audited");
  return (await rowsOf(token, "?limit=100")).find((row) => row.id === id);
}

const shop = await keyOf("audited-shop");
const auditor = await newKey("audited-shop");
const stranger = await newKey("another-shop");

describe("a settlement's row", () => {
  it("says what was paid for, to whom by hash, and how; to its own tenant and the operator alone", async () => {
    const payment = await aPayment({ resource: { url: "https://api.shop.test/paid?token=secret#x" } });
    const { body } = await settle(payment, shop);
    expect(body.success).toBe(true);
    const row = await auditedRow(payment, auditor);
    expect(row).toEqual({
      id: body.extra?.settlementId,
      kind: "settlement",
      event_type: "x402_payment_settled",
      agent_id: null,
      task_id: null,
      mcp_tool: null,
      resource: "https://api.shop.test/paid",
      network: payment.paymentRequirements.network,
      asset: payment.paymentRequirements.asset,
      max_amount_required: payment.paymentRequirements.amount,
      pay_to_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      policy_version: null,
      approval_id: null,
      verify_extension_responses: null,
      settle_extension_responses: null,
      settlement_tx: body.transaction,
      error_reason: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const text = JSON.stringify(row).toLowerCase();
    for (const kept of [SELLER.address, BUYER.address, "secret"]) {
      expect(text).not.toContain(kept.toLowerCase());
    }
    const { signature } = payment.paymentPayload.payload as { signature: string };
    expect(text).not.toContain(signature.slice(2, 60));
    expect(await auditedRow(payment)).toEqual(row);
    expect(await auditedRow(payment, stranger)).toBeUndefined();
  });

  it("comes with others of the same half second, long before its object tells it", async () => {
    const payments = await Promise.all(Array.from({ length: 3 }, () => aPayment()));
    const answers = await Promise.all(payments.map((payment) => settle(payment, shop)));
    const ids = answers.map(({ body }) => body.extra?.settlementId ?? "");
    await until(async () => {
      const known = (await rowsOf(auditor, "?limit=100")).map(({ id }) => id);
      return ids.every((id) => known.includes(id));
    }, "all three are audited");
  });

  it("tells of a failure why: cancelled by its payer while it was sent", async () => {
    const payer = ACCOUNTS[4] as TestAccount;
    const payment = await aPayment({ payer });
    const { authorization } = payment.paymentPayload.payload as { authorization: { nonce: Hex } };
    await chain.proxy.addRule({ method: "eth_sendRawTransaction", times: 1, action: { do: "hold" } });
    const settling = settle(payment, shop);
    await until(async () => (await chain.proxy.held()) > 0, "the transfer is about to be sent");
    await cancelAuthorization(chain.rpcUrl, payer, authorization.nonce);
    await chain.proxy.clearRules();
    const { body } = await settling;
    expect(body.success).toBe(false);
    expect(await auditedRow(payment, auditor)).toMatchObject({
      event_type: "x402_payment_failed",
      error_reason: body.errorReason,
      settlement_tx: body.transaction,
    });
  });

  it("names an MCP tool, and keeps of the block's answer only its status and why it was rejected", async () => {
    const tool = { resource: { url: "https://mcp.shop.test/mcp" } };
    const good = await aPayment({ ...tool, extensions: { bazaar: aToolBlock() } });
    const bad = await aPayment({ ...tool, extensions: { bazaar: { info: 1, schema: {} } } });
    for (const payment of [good, bad]) expect((await settle(payment, shop)).body.success).toBe(true);
    expect(await auditedRow(good, auditor)).toMatchObject({
      event_type: "x402_paid_mcp_tool_settled",
      mcp_tool: "get_weather",
      settle_extension_responses: { bazaar: { status: "processing" } },
    });
    expect(await auditedRow(bad, auditor)).toMatchObject({
      settle_extension_responses: {
        bazaar: { status: "rejected", rejectedReason: expect.stringContaining("info") },
      },
    });
  });
});

describe("a paid call's row", () => {
  it("is the provider's and the wallet's owner's, with policy and ending", async () => {
    const market = await aMarket();
    const completed = await market.hold();
    await market.complete(completed);
    const failed = await market.hold();
    await market.fail(failed, "client_error", "no such city");
    const { providerId } = market;
    const keys = { providerId, scopes: ["audit:read"] };
    const { key: provider } = await operate<{ key: string }>("POST", "/v1/keys", keys);
    await until(async () => (await rowsOf(provider)).length === 2, "both are recorded");
    const rows = await rowsOf(provider);
    expect(await rowsOf(market.buyer.ownerKey)).toEqual(rows);
    expect(rows.find(({ id }) => id === completed)).toMatchObject({
      kind: "paid_call",
      event_type: "gateway_paid_call_completed",
      agent_id: expect.any(String),
      asset: "USD",
      max_amount_required: "100",
      policy_version: expect.any(String),
      approval_id: null,
      network: null,
      settlement_tx: null,
      error_reason: null,
    });
    expect(rows.find(({ id }) => id === failed)).toMatchObject({
      event_type: "gateway_paid_call_failed",
      error_reason: "client_error",
    });
    expect(JSON.stringify(rows)).not.toContain("no such city");
    for (const other of [auditor, stranger, market.payee.ownerKey]) {
      expect((await rowsOf(other)).filter(({ kind }) => kind === "paid_call")).toEqual([]);
    }
  });

  it("that nobody ended in time is told as timed out", async () => {
    const market = await aMarket();
    const transactionId = await market.hold();
    await moveClock(transactionId, Date.now() + 901_000);
    await runDurableObjectAlarm(paidCallOf(transactionId));
    await until(async () => (await rowsOf(market.buyer.ownerKey)).length === 1, "it is recorded");
    expect(await rowsOf(market.buyer.ownerKey)).toMatchObject([
      { id: transactionId, event_type: "gateway_paid_call_timed_out", error_reason: "timeout" },
    ]);
  });

  it("a top-up is shown to the owner of the wallet that it pays into", async () => {
    const { buyer } = await aMarket({ balance: "0" });
    const payment = await aPayment({ payTo: TOPUPS, amount: 1_000_000n });
    const { status } = await api("POST", `/v1/wallets/${buyer.walletId}/topups`, {
      body: { amountMinor: "100" },
      headers: { "payment-signature": encodeJson(payment.paymentPayload) },
    });
    expect(status).toBe(200);
    expect(await auditedRow(payment, buyer.ownerKey)).toMatchObject({ event_type: "x402_payment_settled" });
  });
});

/** The operator's pages of two rows, one after the other, with something happening after each. */
async function walk(meanwhile: () => Promise<void>): Promise<Row[]> {
  const walked: Row[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = `?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
    const { body } = await api<{ rows: Row[]; cursor: string | null }>("GET", `/v1/audit${query}`, {
      token: operator,
    });
    walked.push(...body.rows);
    cursor = body.cursor;
    await meanwhile();
  }
  return walked;
}

describe("asking", () => {
  it("walks over all rows once, page by page, newest first, and filters by kind and time", async () => {
    const all = await rowsOf(operator, "?limit=100");
    expect(all.length).toBeGreaterThan(4);
    const walked = await walk(async () => {});
    expect(walked).toEqual(all);
    const times = all.map(({ created_at }) => String(created_at));
    expect(times).toEqual(times.toSorted().reverse());
    for (const kind of ["settlement", "paid_call"]) {
      expect(await rowsOf(operator, `?limit=100&kind=${kind}`)).toEqual(
        all.filter((row) => row.kind === kind),
      );
    }
    const middle = String(all[2]?.created_at);
    expect(await rowsOf(operator, `?limit=100&since=${middle}`)).toEqual(
      all.filter(({ created_at }) => String(created_at) >= middle),
    );
    expect(await rowsOf(operator, `?limit=100&until=${Date.parse(middle)}`)).toEqual(
      all.filter(({ created_at }) => String(created_at) < middle),
    );
  });

  it("a walk that others write behind repeats nothing and loses nothing that was there", async () => {
    const before = await rowsOf(operator, "?limit=100");
    const calls = await aMarket();
    const walked = await walk(async () => {
      const transactionId = await calls.hold();
      await calls.complete(transactionId);
      await runDurableObjectAlarm(paidCallOf(transactionId));
    });
    expect(walked).toEqual(before);
    expect((await rowsOf(operator, "?limit=100")).length).toBeGreaterThan(before.length);
  });

  it("of an open Worker, whoever asks sees what was settled without a key, and nothing of a tenant", async () => {
    const open = { ...env, AUTH: "open" } as typeof env;
    const ask = async <Body>(path: string, init: RequestInit = {}): Promise<Body> => {
      const ctx = createExecutionContext();
      const request = new Request<unknown, IncomingRequestCfProperties>(ORIGIN + path, init as never);
      const response = await worker.fetch(request, open, ctx);
      await waitOnExecutionContext(ctx);
      expect(response.status).toBe(200);
      return (await response.json()) as Body;
    };
    const payment = await aPayment();
    await ask("/settle", { method: "POST", body: JSON.stringify(payment) });
    const { rows } = await ask<{ rows: Row[] }>("/v1/audit");
    expect(rows.map(({ id }) => id)).toEqual([await idOf(payment)]);
  });

  it.each([
    "since=yesterday",
    "until=2026-13-45",
    "kind=refund",
    "limit=0",
    "limit=1.5",
    "cursor=x",
    "cursor=1",
  ])("%s is 400 and named", async (query) => {
    const { status, body } = await api<{ error: { code: string; message: string } }>(
      "GET",
      `/v1/audit?${query}`,
      { token: operator },
    );
    expect(status).toBe(400);
    expect(body.error.code).toBe("INVALID_REQUEST");
    expect(body.error.message).toContain(query.split("=")[0]);
  });

  it("needs a key with its scope", async () => {
    expect((await api("GET", "/v1/audit")).status).toBe(401);
    expect((await api("GET", "/v1/audit", { token: shop })).status).toBe(403);
  });
});
