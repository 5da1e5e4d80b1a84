// The registry over HTTP: who sells (providers) and what is sold at which price (capabilities). The operator's only.

import { capabilityListing, type SoldThing } from "../bazaar/catalog/capability-listing.ts";
import { storeCapabilityListing } from "../bazaar/catalog/capability-listing-store.ts";
import { addCapability, addProvider, findProvider, findWallet } from "../gateway/registry-store.ts";
import { describeError, log, logAlarm } from "../platform/log.ts";
import { failureAnswer, invalidRequest, json } from "./answers.ts";
import type { Call, Route } from "./call.ts";
import { hostRulesOf } from "./extension-responses.ts";
import * as schemas from "./wallet-schemas.ts";

async function createProvider(call: Call): Promise<Response> {
  const { name, walletId } = call.body as { name: string; walletId: string };
  const wallet = await findWallet(call.env.DB, walletId);
  if (!wallet) return failureAnswer("api", invalidRequest("walletId", "is not a wallet"));
  return json({ providerId: await addProvider(call.env.DB, { name, walletId }, call.clock.nowMs()) }, 201);
}

interface NewCapabilityBody {
  providerId: string;
  name: string;
  description: string;
  url: string;
  method?: string;
  toolName?: string;
  inputSchema?: object;
  amountMinor: string;
  currency: string;
  challengeUrl: string;
}

async function createCapability(call: Call): Promise<Response> {
  const body = call.body as NewCapabilityBody;
  const { env, clock } = call;
  const refuse = (field: string, message: string) => failureAnswer("api", invalidRequest(field, message));
  // Tools may be named by `mcp:` URLs; a challenge is always fetched over HTTP.
  if (!hasScheme(body.url, body.toolName === undefined ? HTTP : [...HTTP, "mcp:"])) {
    return refuse("url", "must be an http(s) URL");
  }
  if (!hasScheme(body.challengeUrl, HTTP)) return refuse("challengeUrl", "must be an http(s) URL");
  const provider = await findProvider(env.DB, body.providerId);
  if (!provider) return refuse("providerId", "is not a provider");
  const payee = await findWallet(env.DB, provider.walletId);
  if (payee?.currency !== body.currency) {
    return refuse("currency", `must be the currency of the provider's wallet: ${payee?.currency ?? "none"}`);
  }
  const { method = null, toolName = null, inputSchema, ...rest } = body;
  const capability = {
    ...rest,
    method,
    toolName,
    inputSchema: inputSchema === undefined ? null : JSON.stringify(inputSchema),
  };
  const capabilityId = await addCapability(env.DB, capability, clock.nowMs());
  await listInBazaar(call, { ...capability, inputSchema: inputSchema ?? null, capabilityId });
  return json({ capabilityId }, 201);
}

/** A capability that cannot be listed is sold all the same. */
async function listInBazaar(call: Call, thing: SoldThing): Promise<void> {
  const { capabilityId } = thing;
  try {
    const reading = capabilityListing(thing, hostRulesOf(call));
    if (!reading.ok) log("capability_unlisted", { capabilityId, reason: reading.reason });
    else await storeCapabilityListing(call.env.DB, reading.listing, capabilityId, call.clock.nowMs());
  } catch (error) {
    logAlarm("capability_unlisted", { capabilityId, cause: describeError(error) });
  }
}

const HTTP = ["https:", "http:"];

function hasScheme(url: string, schemes: readonly string[]): boolean {
  return URL.canParse(url) && schemes.includes(new URL(url).protocol);
}

export const registryRoutes: readonly Route[] = [
  {
    method: "POST",
    path: "/v1/providers",
    face: "api",
    credential: { kind: "operator" },
    summary: "Register a provider and the wallet its earnings go to",
    body: schemas.NEW_PROVIDER,
    answers: { 201: schemas.PROVIDER_MADE },
    handle: createProvider,
  },
  {
    method: "POST",
    path: "/v1/capabilities",
    face: "api",
    credential: { kind: "operator" },
    summary: "Register what a provider sells, and its price",
    body: schemas.NEW_CAPABILITY,
    answers: { 201: schemas.CAPABILITY_MADE },
    handle: createCapability,
  },
];
