// The demo seller: an Express server whose resources are behind the published `@x402/express`, which asks our Worker
// to verify and settle. It is written as any seller would write it. Start it after the facilitator is ready: it asks
// for /supported once, and a failure there makes its first answer a 500.

import type { AddressInfo } from "node:net";
import { HTTPFacilitatorClient } from "@x402/core/http";
import type { RoutesConfig } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddlewareFromHTTPServer, x402HTTPResourceServer, x402ResourceServer } from "@x402/express";
import { bazaarResourceServerExtension } from "@x402/extensions/bazaar";
import express from "express";
import { NETWORK } from "../chain/addresses.ts";
import { acceptsOf, DEMO_RESOURCES, UNIT_TOOL } from "./resources.ts";

/** What the facilitator told the seller about one payment. */
export type SellerEvent =
  | { kind: "verified"; isValid: boolean; payer: string }
  | { kind: "settled"; transaction: string; listing: ListingStatus | undefined }
  | { kind: "failed"; message: string };

export interface ListingStatus {
  status: string;
  rejectedReason?: string;
  id?: string;
}

export interface SellerOptions {
  facilitatorUrl: string;
  /** 0 takes any free port. */
  port: number;
  /** Sent as a bearer token where the facilitator wants keys. */
  apiKey?: string;
  onEvent?: (event: SellerEvent) => void;
}

export interface Seller {
  url: string;
  stop(): Promise<void>;
}

export async function startSeller(options: SellerOptions): Promise<Seller> {
  const app = express();
  app.use(express.json());
  app.use(paymentMiddlewareFromHTTPServer(await payWall(options), undefined, undefined, false));

  app.get("/weather", (request, response) => {
    response.json({ city: request.query.city ?? "Oslo", celsius: 7 });
  });
  app.post("/translations", (request, response) => {
    response.json({ text: request.body?.to === "no" ? "god morgen" : request.body?.text });
  });
  app.get("/cities/:city/air-quality", (request, response) => {
    response.json({ city: request.params.city, index: 18 });
  });
  app.post("/mcp", (request, response) => {
    const { id = null, method, params } = (request.body ?? {}) as McpRequest;
    const result = method === undefined ? undefined : MCP_METHODS[method]?.(params);
    if (id === null) response.status(202).end();
    else if (result) response.json({ jsonrpc: "2.0", id, result });
    else response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown method" } });
  });

  const server = app.listen(options.port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => server.once("listening", resolve).once("error", reject));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function payWall(options: SellerOptions): Promise<x402HTTPResourceServer> {
  const headers: Record<string, string> = options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {};
  const facilitator = new HTTPFacilitatorClient({
    url: options.facilitatorUrl,
    createAuthHeaders: async () => ({
      verify: headers,
      settle: headers,
      supported: headers,
      bazaar: headers,
    }),
  });
  const server = new x402ResourceServer(facilitator)
    .register(NETWORK, new ExactEvmScheme())
    .registerExtension(bazaarResourceServerExtension);
  if (options.onEvent) report(server, options.onEvent);

  const routes: RoutesConfig = Object.fromEntries(
    DEMO_RESOURCES.map((resource) => [resource.route, { ...resource.listing, accepts: acceptsOf(resource) }]),
  );
  const payWall = new x402HTTPResourceServer(server, routes);
  // An agent says hello and reads the list of tools for free; only calling one costs.
  payWall.onProtectedRequest(async ({ path, adapter }) => {
    const { method } = (adapter.getBody?.() ?? {}) as McpRequest;
    if (path === "/mcp" && method !== "tools/call") return { grantAccess: true };
  });
  await payWall.initialize();
  return payWall;
}

function report(server: x402ResourceServer, onEvent: (event: SellerEvent) => void): void {
  server.onAfterVerify(async ({ result }) => {
    onEvent({ kind: "verified", isValid: result.isValid, payer: result.payer ?? "" });
  });
  server.onVerifyFailure(async ({ error }) => onEvent({ kind: "failed", message: error.message }));
  server.onAfterSettle(async ({ result }) => {
    const listing = result.extensionResponses?.bazaar as ListingStatus | undefined;
    onEvent({ kind: "settled", transaction: result.transaction, listing });
  });
  server.onSettleFailure(async ({ error }) => onEvent({ kind: "failed", message: error.message }));
}

interface McpRequest {
  id?: string | number | null;
  method?: string;
  params?: { arguments?: { amount?: number } };
}

/** As much of the Model Context Protocol as one tool needs. */
const MCP_METHODS: Record<string, (params: McpRequest["params"]) => unknown> = {
  initialize: () => ({
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "souk-demo-seller", version: "1" },
  }),
  "tools/list": () => ({ tools: [UNIT_TOOL] }),
  "tools/call": (params) => ({
    content: [{ type: "text", text: String((params?.arguments?.amount ?? 0) * 0.621371) }],
  }),
};
