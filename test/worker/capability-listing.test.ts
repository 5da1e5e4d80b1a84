// What a provider sells through the gateway is found in the bazaar: by search and in lists, without an offer on a chain,
// and not by B402 clients, who could not buy it.

import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { aMarket, api, operate } from "./market.ts";

interface Item {
  id: string;
  resource: string;
  type: string;
  accepts: unknown[];
  method?: string;
  toolName?: string;
  serviceName?: string;
  description?: string;
  extensions: Record<string, unknown>;
}

const market = await aMarket();

async function sell(change: Record<string, unknown>): Promise<string> {
  const { capabilityId } = await operate<{ capabilityId: string }>("POST", "/v1/capabilities", {
    ...{ providerId: market.providerId, name: "Tide table", description: "High and low tides of a harbour" },
    ...{ url: "https://tides.test/table?x=1#y", amountMinor: "25", currency: "USD" },
    challengeUrl: "https://tides.test/challenge",
    ...change,
  });
  return capabilityId;
}

async function find(query: string): Promise<Item[]> {
  const path = `/discovery/search?query=${encodeURIComponent(query)}`;
  return (await api<{ resources: Item[] }>("GET", path)).body.resources;
}

const listed = async () => (await api<{ items: Item[] }>("GET", "/discovery/resources?limit=100")).body.items;

describe("a capability", () => {
  it("is listed at once with its price in the extension and nothing to accept", async () => {
    const inputSchema = { type: "object", properties: { harbour: { type: "string" } } };
    const capabilityId = await sell({ method: "POST", inputSchema });
    const [item] = await find("tide table harbour");
    expect(item).toMatchObject({
      ...{ resource: "https://tides.test/table", type: "http", method: "POST", accepts: [] },
      ...{ serviceName: "Tide table", description: "High and low tides of a harbour" },
      extensions: {
        "zanora.dev/x402": {
          ...{ capabilityId, amountMinor: "25", currency: "USD" },
          challengeUrl: "https://tides.test/challenge",
        },
        bazaar: { info: { input: { type: "http", method: "POST" } } },
      },
    });
    expect((await listed()).map(({ id }) => id)).toContain(item?.id);
  });

  it("that is a tool is listed as one", async () => {
    await sell({
      url: "mcp://tides.test/server",
      toolName: "moon_phase",
      name: "Moon phase",
      description: "",
    });
    const [item] = await find("moon phase");
    expect(item).toMatchObject({ type: "mcp", resource: "mcp://tides.test/server", toolName: "moon_phase" });
  });

  it("is absent from what B402 clients see", async () => {
    const answer = await api<{ data: { items: Item[] } }>("GET", "/bazaar/resources?limit=100");
    expect(answer.body.data.items.filter(({ resource }) => resource.includes("tides.test"))).toEqual([]);
    const found = await api<{ data: { resources: Item[] } }>("GET", "/bazaar/search?query=tide");
    expect(found.body.data.resources).toEqual([]);
  });

  it("matches no filter that asks for an offer on a chain", async () => {
    const answer = await api<{ resources: Item[] }>("GET", "/discovery/search?query=tide&maxUsdPrice=10");
    expect(answer.body.resources).toEqual([]);
  });

  it("shows its newest price when it is registered again", async () => {
    const capabilityId = await sell({ method: "POST", amountMinor: "30" });
    const [item] = await find("tide table harbour");
    expect(item?.extensions["zanora.dev/x402"]).toMatchObject({ capabilityId, amountMinor: "30" });
  });

  it("is never probed: its price is not the origin's to state", async () => {
    const due = await env.DB.prepare("SELECT next_probe_ms FROM listings WHERE host = 'tides.test'").all();
    expect(due.results.length).toBeGreaterThan(0);
    for (const row of due.results) expect(row.next_probe_ms).toBeNull();
  });

  it("with a URL that cannot be listed is sold all the same", async () => {
    const capabilityId = await sell({ url: "https://10.0.0.7/inside", name: "Inside" });
    const challenge = await api("POST", "/v1/x402/challenge", {
      token: market.providerKey,
      body: { capabilityId },
    });
    expect(challenge.status).toBe(200);
    expect((await listed()).filter(({ resource }) => resource.includes("10.0.0.7"))).toEqual([]);
  });
});
