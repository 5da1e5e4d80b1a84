// What the demo seller sells: one resource of each kind that a bazaar lists. Prices in dollars; each may be paid by
// EIP-3009 or through Permit2. Data only; the server around it is seller.ts.

import type { RouteConfig } from "@x402/core/server";
import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { NETWORK, USDC, USDC_DOMAIN } from "../chain/addresses.ts";
import { SELLER } from "../local-variables.ts";

export type PaymentMethod = "eip3009" | "permit2";

export interface DemoResource {
  /** As @x402/express takes it: method and path. */
  route: string;
  /** Atomic units of USDC. */
  priceAtomic: bigint;
  /** What one buyer sends: a path with query, and a JSON body for POST. */
  request: { path: string; body?: unknown };
  /** Words under which an agent would look for it. */
  searchFor: string;
  listing: Omit<RouteConfig, "accepts">;
}

export const WEATHER: DemoResource = {
  route: "GET /weather",
  priceAtomic: 10_000n,
  request: { path: "/weather?city=Oslo" },
  searchFor: "weather forecast city",
  listing: {
    description: "Weather forecast for a city",
    mimeType: "application/json",
    serviceName: "Demo Weather",
    tags: ["weather", "forecast"],
    extensions: declareDiscoveryExtension({
      input: { city: "Oslo" },
      inputSchema: { properties: { city: { type: "string" } }, required: ["city"] },
      output: { example: { city: "Oslo", celsius: 7 } },
    }),
  },
};

export const TRANSLATION: DemoResource = {
  route: "POST /translations",
  priceAtomic: 20_000n,
  request: { path: "/translations", body: { text: "good morning", to: "no" } },
  searchFor: "translate text",
  listing: {
    description: "Translate a short text into another language",
    mimeType: "application/json",
    serviceName: "Demo Translation",
    tags: ["translation", "language"],
    extensions: declareDiscoveryExtension({
      bodyType: "json",
      input: { text: "good morning", to: "no" },
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" }, to: { type: "string" } },
        required: ["text", "to"],
      },
      output: { example: { text: "god morgen" } },
    }),
  },
};

export const AIR_QUALITY: DemoResource = {
  route: "GET /cities/:city/air-quality",
  priceAtomic: 5_000n,
  request: { path: "/cities/bergen/air-quality" },
  searchFor: "air quality",
  listing: {
    description: "Air quality index of one city, measured hourly",
    mimeType: "application/json",
    serviceName: "Demo Air",
    tags: ["air", "environment"],
    extensions: declareDiscoveryExtension({
      pathParamsSchema: { properties: { city: { type: "string" } }, required: ["city"] },
      output: { example: { city: "bergen", index: 18 } },
    }),
  },
};

export const UNIT_TOOL = {
  name: "convert_units",
  description: "Convert an amount from one unit of measure to another",
  inputSchema: {
    type: "object",
    properties: { amount: { type: "number" }, from: { type: "string" }, to: { type: "string" } },
    required: ["amount", "from", "to"],
  },
};

export const CONVERSION: DemoResource = {
  route: "POST /mcp",
  priceAtomic: 15_000n,
  request: {
    path: "/mcp",
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: UNIT_TOOL.name, arguments: { amount: 3, from: "km", to: "mi" } },
    },
  },
  searchFor: "convert units of measure",
  listing: {
    description: UNIT_TOOL.description,
    mimeType: "application/json",
    serviceName: "Demo Tools",
    tags: ["units", "conversion"],
    extensions: declareDiscoveryExtension({
      toolName: UNIT_TOOL.name,
      description: UNIT_TOOL.description,
      transport: "streamable-http",
      inputSchema: UNIT_TOOL.inputSchema,
      example: { amount: 3, from: "km", to: "mi" },
    }),
  },
};

export const DEMO_RESOURCES: readonly DemoResource[] = [WEATHER, TRANSLATION, AIR_QUALITY, CONVERSION];

/** Both ways to pay for one resource; clients take the first unless they prefer the other. */
export function acceptsOf(resource: DemoResource): RouteConfig["accepts"] {
  const option = (method: PaymentMethod) => ({
    scheme: "exact",
    network: NETWORK,
    payTo: SELLER.address,
    maxTimeoutSeconds: 300,
    price: {
      asset: USDC,
      amount: resource.priceAtomic.toString(),
      extra: { ...USDC_DOMAIN, ...(method === "permit2" && { assetTransferMethod: method }) },
    },
  });
  return [option("eip3009"), option("permit2")] as RouteConfig["accepts"];
}
