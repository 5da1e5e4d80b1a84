// The SDK over HTTP with two parties: a seller in a process of its own, a buyer here, and the built Worker between them.
// What the buyer is told it can check; what was altered on the way it refuses.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeJson, encodeJson } from "../../src/platform/base64-json.ts";
import { type BuyerAuditRow, type BuyerOptions, buyOverHttp, type Limit } from "../../src/sdk/buyer.ts";
import { BuyerWallet } from "../../src/sdk/buyer-wallet.ts";
import { CHALLENGE_META, type Challenge, PAYMENT_HEADER, RECEIPT_HEADER } from "../../src/sdk/wire.ts";
import { send } from "../support/cast.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";

const LIMIT: Limit = { maxMinor: 100n };

let market: PaidMarket;
beforeAll(async () => {
  market = await startPaidMarket();
});
afterAll(() => market?.stop());

const question = (text: string): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ question: text }),
});

const buy = (text: string, limit = LIMIT, options: Partial<BuyerOptions> = {}) =>
  buyOverHttp({ ...market.buyer, ...options })(`${market.sellerUrl}/answer`, question(text), limit);

describe("over HTTP", () => {
  it("a call is paid, delivered once and receipted over exactly its bytes", async () => {
    const ran = await market.runs();
    const cost = await market.costOf(async () => {
      const bought = await buy("life");
      if (bought.status !== "paid") throw new Error(JSON.stringify(bought));
      expect(bought.response.status).toBe(200);
      expect(bought.response.headers.get("x-own-header")).toBe("kept");
      expect(await bought.response.json()).toEqual({ answer: "life? 42 ☕" });
      expect(bought.receipt).toMatchObject({
        status: "completed",
        walletId: market.buyer.walletId,
        amountMinor: "100",
      });
    });
    expect(cost).toEqual({ paid: 100, held: 0 });
    expect(await market.runs()).toBe(ran + 1);
  });

  it("without payment the seller shows the price and nothing else happens", async () => {
    const ran = await market.runs();
    const response = await fetch(`${market.sellerUrl}/answer`, question("life"));
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({
      error: { code: "PAYMENT_REQUIRED" },
      challenge: { amountMinor: "100", currency: "USD" },
    });
    expect(await market.runs()).toBe(ran);
  });

  it.each([
    ["teapot", 418, "client_error"],
    ["broken", 503, "provider_error"],
    ["throw", 500, "provider_error"],
    ["huge", 500, "provider_error"],
    ["never", 500, "provider_error"],
  ])("a handler that does %s returns the money: %i, %s", async (text, status, failureKind) => {
    const cost = await market.costOf(async () => {
      const bought = await buy(text);
      if (bought.status !== "returned") throw new Error(JSON.stringify(bought));
      expect(bought.response.status).toBe(status);
      expect(bought.receipt).toMatchObject({ status: "failed", failureKind, responseHash: null });
    });
    expect(cost).toEqual({ paid: 0, held: 0 });
  });

  it.each([
    ["is over the buyer's limit", { maxMinor: 99n }, "over_limit"],
    ["is in another currency", { maxMinor: 100n, currency: "EUR" }, "other_currency"],
    ["is for another capability", { maxMinor: 100n, capabilityId: "cap_wanted" }, "other_capability"],
  ])("a price that %s is not paid", async (_name, limit, reason) => {
    const cost = await market.costOf(async () => {
      expect(await buy("life", limit)).toMatchObject({ status: "not_paid", reason });
    });
    expect(cost).toEqual({ paid: 0, held: 0 });
  });

  it("the buyer's audit row lies beside the gateway's: one id, one price, one payee", async () => {
    const rows: BuyerAuditRow[] = [];
    const options = { audit: (row: BuyerAuditRow) => rows.push(row) };
    await buy("life", LIMIT, options);
    await buy("teapot", LIMIT, options);
    await buy("life", { maxMinor: 1n }, options);
    expect(rows.map(({ event_type, error_reason }) => [event_type, error_reason])).toEqual([
      ["gateway_paid_call_completed", null],
      ["gateway_paid_call_failed", "client_error"],
    ]);
    const theirs = async () => {
      const response = await send(market.world.url, "GET /v1/audit?limit=100", {}, market.ownerKey);
      const { rows: audited } = (await response.json()) as { rows: (BuyerAuditRow & { id: string })[] };
      return rows.map(({ payment_id }) => audited.find(({ id }) => id === payment_id));
    };
    await expect.poll(theirs, { timeout: 10_000 }).not.toContain(undefined);
    const [completed, failed] = await theirs();
    const shared = ({ event_type, agent_id, asset, max_amount_required, pay_to_hash }: BuyerAuditRow) => ({
      event_type,
      agent_id,
      asset,
      max_amount_required,
      pay_to_hash,
    });
    expect(rows.map(shared)).toEqual([completed, failed].map((row) => shared(row as BuyerAuditRow)));
    expect(rows[0]).toMatchObject({
      resource: `${market.sellerUrl}/answer`,
      extension_response_status: "absent",
    });
  });

  it("no exception: a seller or a gateway that does not answer is an outcome, before and after the proof", async () => {
    const down = (isDown: (url: string, init?: RequestInit) => boolean): Partial<BuyerOptions> => ({
      fetch: async (input, init) => {
        if (isDown(String(input), init)) throw new TypeError("fetch failed");
        return fetch(input, init);
      },
    });
    const noSeller = await buy(
      "life",
      LIMIT,
      down((url) => url.startsWith(market.sellerUrl)),
    );
    expect(noSeller).toMatchObject({ status: "not_paid", reason: "no_answer" });
    const noKeys = await buy(
      "life",
      LIMIT,
      down((url) => url.includes("/public-key")),
    );
    expect(noKeys).toMatchObject({ status: "not_paid", reason: "gateway_unreachable" });
    const noReceiptKeys = await buy(
      "life",
      LIMIT,
      down((url) => url.includes("/receipt-keys/")),
    );
    expect(noReceiptKeys).toMatchObject({
      ...{ status: "failed", reason: "gateway_unreachable" },
      nonce: expect.any(String),
    });
  });

  it("a proof goes to nobody whom a redirect names", async () => {
    const proofs: string[] = [];
    let isMoved = true;
    const elsewhere = createServer((request, response) => {
      const proof = request.headers[PAYMENT_HEADER];
      if (typeof proof === "string") proofs.push(proof);
      if (isMoved || proof !== undefined) {
        response.writeHead(307, { location: `${market.sellerUrl}/answer` }).end();
        return;
      }
      void fetch(`${market.sellerUrl}/answer`, question("life")).then(async (price) =>
        response.writeHead(402, { "content-type": "application/json" }).end(await price.text()),
      );
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/answer`;
    const ran = await market.runs();
    try {
      const buyThere = () => buyOverHttp(market.buyer)(url, question("life"), LIMIT);
      expect(await buyThere()).toEqual({ status: "not_paid", reason: "redirected" });
      isMoved = false;
      expect(await buyThere()).toMatchObject({ status: "failed", reason: "receipt_missing" });
    } finally {
      elsewhere.closeAllConnections();
      elsewhere.close();
    }
    expect(proofs).toHaveLength(1);
    expect(await market.runs()).toBe(ran);
  });

  it("a challenge that was altered on the way is not signed for", async () => {
    const altered = (change: (challenge: Record<string, string>) => object) =>
      buy("life", LIMIT, {
        fetch: intercept(async (response) => {
          if (response.status !== 402) return response;
          const body = (await response.json()) as { challenge: Record<string, string> };
          return Response.json({ ...body, challenge: change(body.challenge) }, { status: 402 });
        }),
      });
    const reasons = [];
    for (const change of [
      (challenge: Record<string, string>) => ({ ...challenge, amountMinor: "1" }),
      (challenge: Record<string, string>) => ({ ...challenge, payTo: market.buyer.walletId }),
      (challenge: Record<string, string>) => ({ ...challenge, signingKeyId: `chk_${"0".repeat(32)}` }),
      ({ nonce: _nonce, ...challenge }: Record<string, string>) => challenge,
    ]) {
      const bought = await altered(change);
      reasons.push(bought.status === "not_paid" ? bought.reason : bought.status);
    }
    expect(reasons).toEqual([
      "challenge_not_signed",
      "challenge_not_signed",
      "challenge_not_signed",
      "challenge_malformed",
    ]);
  });

  it("a body or a receipt that was altered on the way is not believed", async () => {
    const tampered = (change: (response: Response) => Promise<Response>) =>
      buy("life", LIMIT, {
        fetch: intercept((response) =>
          response.headers.has(RECEIPT_HEADER) ? change(response) : Promise.resolve(response),
        ),
      });
    const withReceipt =
      (change: (receipt: Record<string, unknown>) => unknown) => async (response: Response) => {
        const headers = new Headers(response.headers);
        const receipt = decodeJson(headers.get(RECEIPT_HEADER) ?? "") as Record<string, unknown>;
        const changed = change(receipt);
        if (changed === undefined) headers.delete(RECEIPT_HEADER);
        else headers.set(RECEIPT_HEADER, encodeJson(changed));
        return new Response(await response.arrayBuffer(), { headers });
      };
    const earlier = await buy("earlier");
    const reasons = [];
    for (const change of [
      async (response: Response) => new Response(`${await response.text()} `, response),
      withReceipt((receipt) => ({ ...receipt, amountMinor: "1" })),
      withReceipt((receipt) => ({ ...receipt, signingKeyId: `rck_${"0".repeat(32)}` })),
      withReceipt(() => (earlier.status === "paid" ? earlier.receipt : {})),
      withReceipt(() => "no receipt"),
      withReceipt(() => undefined),
    ]) {
      const bought = await tampered(change);
      reasons.push(bought.status === "failed" ? bought.reason : bought.status);
    }
    expect(reasons).toEqual([
      "response_altered",
      "receipt_not_signed",
      "receipt_not_signed",
      "receipt_not_ours",
      "receipt_not_signed",
      "receipt_missing",
    ]);
  });

  it("one proof sent 20 times at once runs the handler once", async () => {
    const ran = await market.runs();
    const cost = await market.costOf(async () => {
      let proof = "";
      // The buyer's own payment is kept back: it is the twenty that come.
      const keepBack: typeof fetch = (input, init) => {
        const header = new Headers(init?.headers).get(PAYMENT_HEADER);
        if (header === null) return fetch(input, init);
        proof = header;
        return Promise.reject(new Error("kept back"));
      };
      expect(await buy("life", LIMIT, { fetch: keepBack })).toMatchObject({
        status: "failed",
        reason: "no_answer",
      });
      const headers = { "content-type": "application/json", [PAYMENT_HEADER]: proof };
      const responses = await Promise.all(
        Array.from({ length: 20 }, () =>
          fetch(`${market.sellerUrl}/answer`, { ...question("life"), headers }),
        ),
      );
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 402)).toHaveLength(19);
    });
    expect(cost).toEqual({ paid: 100, held: 0 });
    expect(await market.runs()).toBe(ran + 1);
  });

  it("a proof for a cheaper capability of the same provider buys nothing here", async () => {
    const ran = await market.runs();
    const client = await market.connect();
    const quote = (await client.callTool({ name: "answer", arguments: { question: "x" } })) as {
      _meta?: Record<string, unknown>;
    };
    const challenge = quote._meta?.[CHALLENGE_META] as Challenge;
    const proof = await new BuyerWallet(market.buyer).sign(challenge, Date.now());
    const response = await fetch(`${market.sellerUrl}/answer`, {
      ...question("life"),
      headers: { "content-type": "application/json", [PAYMENT_HEADER]: encodeJson(proof) },
    });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ error: { code: "CHALLENGE_MISMATCH" } });
    expect(await market.runs()).toBe(ran);
    await client.close();
  });

  it.each([
    ["neither shape", encodeJson({ hello: 1 })],
    ["both shapes", encodeJson({ x402Version: 1, walletId: "w", capabilityId: "c", nonce: "n" })],
    ["no base64", "%%%"],
    ["no JSON", "AAAA"],
  ])("a payment of %s is a bad request", async (_name, header) => {
    const response = await fetch(`${market.sellerUrl}/answer`, {
      ...question("life"),
      headers: { "content-type": "application/json", [PAYMENT_HEADER]: header },
    });
    expect(response.status).toBe(400);
    await response.body?.cancel();
  });

  it("the owner's no is 403 and names the rule; the agent cannot get around it", async () => {
    const policy = async (rules: object[]) => {
      const name = `PUT /v1/wallets/${market.buyer.walletId}/policy`;
      await send(market.world.url, name, { body: { rules, budgets: [] } }, market.ownerKey);
    };
    const rule = { field: "amountMinor", op: ">", value: "50", currency: "USD" };
    try {
      // biome-ignore lint/suspicious/noThenProperty: the contract's word
      await policy([{ ...rule, then: "deny" }]);
      expect(await buy("life")).toMatchObject({
        status: "refused",
        code: "POLICY_DENIED",
        decision: { rule: "rules[0]" },
      });
      // biome-ignore lint/suspicious/noThenProperty: the contract's word
      await policy([{ ...rule, then: "require_approval" }]);
      const asked = await buy("life");
      expect(asked).toMatchObject({
        status: "refused",
        code: "APPROVAL_REQUIRED",
        approvalId: expect.stringMatching(/^apr_/),
      });
      const approvalId = asked.status === "refused" ? asked.approvalId : "";
      await send(
        market.world.url,
        `POST /v1/wallets/${market.buyer.walletId}/approvals/${approvalId}/approve`,
        {},
        market.ownerKey,
      );
      expect(await buy("life")).toMatchObject({ status: "paid" });
      expect(await buy("life", LIMIT, { agentId: "other" })).toMatchObject({ code: "APPROVAL_REQUIRED" });
    } finally {
      await policy([]);
    }
  });
});

/** A way to the seller on which somebody changes what comes back; the gateway is asked as it is. */
function intercept(change: (response: Response) => Promise<Response>): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    return String(input).startsWith(market.sellerUrl) ? change(response) : response;
  };
}
