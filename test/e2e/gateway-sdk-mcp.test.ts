// The SDK over MCP with two parties: tools of an McpServer in a process of its own, a client of the official SDK here, and
// the built Worker between them.

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BuyerAuditRow, buyTools, type Limit } from "../../src/sdk/buyer.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";

const LIMIT: Limit = { maxMinor: 100n };

let market: PaidMarket;
beforeAll(async () => {
  market = await startPaidMarket();
});
afterAll(() => market?.stop());

describe("over MCP", () => {
  it("a tool call is paid, delivered once and receipted over its structured content", async () => {
    const client = await market.connect();
    const ran = await market.runs();
    const cost = await market.costOf(async () => {
      const rows: BuyerAuditRow[] = [];
      const bought = await buyTools({ ...market.buyer, audit: (row) => rows.push(row) })(
        client,
        { name: "answer", arguments: { question: "life" } },
        LIMIT,
      );
      expect(rows).toMatchObject([
        { event_type: "gateway_paid_mcp_tool_completed", mcp_tool: "answer", resource: null },
      ]);
      expect(bought).toMatchObject({
        status: "paid",
        response: { structuredContent: { answer: 42, question: "life" } },
        receipt: { status: "completed", amountMinor: "7" },
      });
    });
    expect(cost).toEqual({ paid: 7, held: 0 });
    expect(await market.runs()).toBe(ran + 1);
    await client.close();
  });

  it("a result without structured content is receipted over its content", async () => {
    const client = await market.connect();
    const bought = await buyTools(market.buyer)(
      client,
      { name: "answer", arguments: { question: "plain" } },
      LIMIT,
    );
    expect(bought).toMatchObject({
      status: "paid",
      response: { content: [{ type: "text", text: "plain? 42" }] },
    });
    await client.close();
  });

  it("the price stands in _meta and in the structured content of an error", async () => {
    const client = await market.connect();
    const quote = await client.callTool({ name: "answer", arguments: { question: "x" } });
    const { challenge } = quote.structuredContent as { challenge: unknown };
    expect(quote).toMatchObject({ isError: true, _meta: { "zanora.dev/x402-challenge": challenge } });
    expect(challenge).toMatchObject({ amountMinor: "7" });
    await client.close();
  });

  it.each(["isError", "throw"])("a tool that answers by %s returns the money", async (text) => {
    const client = await market.connect();
    const cost = await market.costOf(async () => {
      const bought = await buyTools(market.buyer)(
        client,
        { name: "answer", arguments: { question: text } },
        LIMIT,
      );
      expect(bought).toMatchObject({ status: "returned", receipt: { failureKind: "provider_error" } });
    });
    expect(cost).toEqual({ paid: 0, held: 0 });
    await client.close();
  });

  it("a result that was altered on the way is not believed", async () => {
    const client = await market.connect();
    const lying = {
      callTool: async (params: Parameters<Client["callTool"]>[0]) => {
        const result = await client.callTool(params);
        return result.isError ? result : { ...result, structuredContent: { answer: 43 } };
      },
    };
    const bought = await buyTools(market.buyer)(
      lying,
      { name: "answer", arguments: { question: "life" } },
      LIMIT,
    );
    expect(bought).toMatchObject({ status: "failed", reason: "response_altered" });
    await client.close();
  });

  it("the proof is also taken under the generic key when it is a text", async () => {
    const client = await market.connect();
    const generic = {
      callTool: ({ _meta, ...params }: Parameters<Client["callTool"]>[0]) =>
        client.callTool(
          _meta ? { ...params, _meta: { "x402/payment": _meta["zanora.dev/x402-payment"] } } : params,
        ),
    };
    const bought = await buyTools(market.buyer)(
      generic,
      { name: "answer", arguments: { question: "life" } },
      LIMIT,
    );
    expect(bought.status).toBe("paid");
    await client.close();
  });
});
