// The answers of the discovery face as schemas, for the OpenAPI document.

import type { JsonSchema } from "./json-schema.ts";

const text: JsonSchema = { type: "string" };
const time: JsonSchema = { type: "string", format: "date-time" };
const count: JsonSchema = { type: "integer", minimum: 0 };
const open: JsonSchema = { type: "object" };

const REQUIREMENTS: JsonSchema = {
  type: "object",
  required: ["scheme", "network", "amount", "asset", "payTo"],
  properties: {
    scheme: text,
    network: text,
    amount: { type: "string", description: "Atomic units" },
    asset: text,
    payTo: text,
    maxTimeoutSeconds: count,
    extra: open,
  },
};

export const RESOURCE: JsonSchema = {
  type: "object",
  required: ["id", "resource", "type", "x402Version", "accepts", "lastUpdated"],
  properties: {
    id: text,
    resource: text,
    type: { enum: ["http", "mcp"] },
    x402Version: { type: "integer" },
    accepts: { type: "array", items: REQUIREMENTS },
    lastUpdated: time,
    description: text,
    mimeType: text,
    serviceName: text,
    tags: { type: "array", items: text },
    iconUrl: text,
    extensions: open,
    method: text,
    toolName: text,
    exampleUrl: text,
    quality: {
      type: "object",
      properties: {
        l30DaysTotalCalls: count,
        l30DaysUniquePayers: count,
        lastCalledAt: time,
        verifiedAt: time,
        health: { enum: ["ok", "failing", "unprobed"] },
      },
    },
  },
};

const RESOURCES: JsonSchema = { type: "array", items: RESOURCE };
const VERSION: JsonSchema = { const: 2 };
const UNAPPLIED: JsonSchema = { type: "array", items: text };

const PAGES: JsonSchema = {
  type: "object",
  required: ["limit", "offset", "total"],
  properties: { limit: count, offset: count, total: count },
};

export const LIST_ANSWER: JsonSchema = {
  type: "object",
  required: ["x402Version", "items", "pagination"],
  properties: { x402Version: VERSION, items: RESOURCES, pagination: PAGES, unappliedFilters: UNAPPLIED },
};

export const MERCHANT_ANSWER: JsonSchema = {
  type: "object",
  required: ["x402Version", "payTo", "resources", "pagination"],
  properties: {
    x402Version: VERSION,
    payTo: text,
    resources: RESOURCES,
    pagination: PAGES,
    unappliedFilters: UNAPPLIED,
  },
};

export const SEARCH_ANSWER: JsonSchema = {
  type: "object",
  required: ["x402Version", "resources", "partialResults", "searchMethod", "pagination"],
  properties: {
    x402Version: VERSION,
    resources: RESOURCES,
    partialResults: { type: "boolean", description: "More matches than this page shows" },
    searchMethod: { const: "text" },
    pagination: {
      type: "object",
      required: ["limit", "cursor"],
      properties: { limit: count, cursor: { type: ["string", "null"] } },
    },
    unappliedFilters: UNAPPLIED,
  },
};

export const OBSERVATION_ANSWER: JsonSchema = {
  type: "object",
  required: ["id", "status", "resource", "updatedAt"],
  properties: {
    id: text,
    status: { enum: ["processing", "success", "rejected"] },
    rejectedReason: text,
    resource: { type: ["string", "null"], description: "Null until the payment is settled" },
    toolName: text,
    updatedAt: time,
  },
};

export const ERROR: JsonSchema = { type: "object", required: ["error"], properties: { error: text } };
