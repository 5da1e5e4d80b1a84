// The operator's face: API keys. Every route needs the operator token.

import { findProvider } from "../gateway/registry-store.ts";
import { failureAnswer, invalidRequest, json, notFound } from "./answers.ts";
import type { Call, Route, Scope } from "./call.ts";
import { createKey, revokeKey } from "./key-store.ts";

/** What a tenant's key may carry, and a provider's besides. An owner key is made with its wallet and nowhere else. */
const TENANT_SCOPES: readonly Scope[] = ["payments:verify", "payments:settle", "payments:read", "audit:read"];
const SCOPES: readonly Scope[] = [...TENANT_SCOPES, "payments:write"];

const TENANT_PATTERN = "^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$";

async function createTenantOrProviderKey(call: Call): Promise<Response> {
  const body = call.body as { tenant?: string; providerId?: string; scopes: Scope[] };
  const { tenant, providerId, scopes } = body;
  const refuse = (field: string, message: string) => failureAnswer("api", invalidRequest(field, message));
  if ((tenant === undefined) === (providerId === undefined)) {
    return refuse("tenant", "or providerId must be given, and only one of them");
  }
  if (tenant !== undefined) {
    if (scopes.includes("payments:write")) return refuse("scopes", "payments:write is for a provider's key");
    return json(await createKey(call.env.DB, { tenant }, scopes, call.clock.nowMs()), 201);
  }
  const provider = await findProvider(call.env.DB, providerId ?? "");
  if (!provider) return refuse("providerId", "is not a provider");
  return json(await createKey(call.env.DB, { providerId: provider.id }, scopes, call.clock.nowMs()), 201);
}

export const operatorRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/keys",
    face: "api",
    credential: { kind: "operator" },
    summary: "Create an API key for a tenant or a provider; the key is shown once",
    body: {
      type: "object",
      required: ["scopes"],
      additionalProperties: false,
      properties: {
        tenant: { type: "string", pattern: TENANT_PATTERN },
        providerId: { type: "string" },
        scopes: {
          type: "array",
          minItems: 1,
          uniqueItems: true,
          items: { type: "string", enum: [...SCOPES] },
        },
      },
    },
    answers: {
      201: {
        type: "object",
        required: ["keyId", "key"],
        properties: { keyId: { type: "string" }, key: { type: "string" } },
      },
    },
    handle: createTenantOrProviderKey,
  },
  {
    method: "DELETE",
    path: "/v1/keys/:id",
    face: "api",
    credential: { kind: "operator" },
    summary: "Revoke an API key; it stops within a minute",
    answers: { 204: {} },
    handle: async (call: Call) => {
      const revoked = await revokeKey(call.env.DB, call.params.id ?? "", call.clock.nowMs());
      if (revoked) return new Response(null, { status: 204 });
      return failureAnswer("api", notFound("no such key"));
    },
  },
];
