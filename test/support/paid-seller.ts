// A seller in a process of its own, written as a seller would write it: one route under Express and one tool of the
// official MCP SDK, both behind `souk/sdk/seller`. Started by tests with its configuration as JSON in SELLER; prints its
// URL when it serves.

import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import express from "express";
import { z } from "zod";
import { forExpress, type SellOverHttpOptions, sellOverHttp, sellTool } from "../../src/sdk/seller.ts";

const { routeCapabilityId, toolCapabilityId, ...gateway } = JSON.parse(process.env.SELLER ?? "{}") as {
  gatewayUrl: string;
  providerKey: string;
  routeCapabilityId: string;
  toolCapabilityId: string;
};

/** How often a handler ran: a payment runs it once. */
let runs = 0;

const route: SellOverHttpOptions = {
  ...gateway,
  capabilityId: routeCapabilityId,
  handlerTimeoutMs: 1_500,
  maxResponseBytes: 100_000,
};

const app = express();
app.use(express.json());
app.post("/answer", forExpress(sellOverHttp(route)(answer)));
app.get("/runs", (_request, response) => void response.json({ runs }));
app.post("/mcp", async (request, response) => {
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.on("close", () => void transport.close());
  await toolServer().connect(transport);
  await transport.handleRequest(request, response, request.body);
});

async function answer(request: Request): Promise<Response> {
  runs += 1;
  const { question } = (await request.json()) as { question: string };
  if (question === "throw") throw new Error("the handler broke");
  if (question === "teapot") return Response.json({ error: "I am a teapot" }, { status: 418 });
  if (question === "broken") return new Response("sorry", { status: 503 });
  if (question === "huge") return new Response("x".repeat(200_000));
  if (question === "never") await new Promise(() => {});
  return Response.json({ answer: `${question}? 42 ☕` }, { headers: { "x-own-header": "kept" } });
}

function toolServer(): McpServer {
  const server = new McpServer({ name: "paid", version: "1.0.0" });
  const sell = sellTool({ ...gateway, capabilityId: toolCapabilityId });
  server.registerTool(
    "answer",
    { description: "Answers", inputSchema: { question: z.string() } },
    sell(async ({ question }: { question: string }) => {
      runs += 1;
      if (question === "throw") throw new Error("the tool broke");
      const content = [{ type: "text" as const, text: `${question}? 42` }];
      if (question === "isError") return { isError: true, content };
      return question === "plain" ? { content } : { content, structuredContent: { answer: 42, question } };
    }),
  );
  return server;
}

const listening = app.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`);
});
