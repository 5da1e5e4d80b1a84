// A catalog to look at: two sellers whose servers run and confirm, a hostile one whose server nobody ever saw, and enough
// plain listings for a second page. Listed by the cataloger, confirmed by the prober. Node only.

import {
  aBlock,
  aBodyBlock,
  aMessage,
  aToolBlock,
  type Json,
  type MessageOptions,
  someRequirements,
} from "./bazaar.ts";
import { type ListedWorld, startListedWorld } from "./listed-world.ts";
import { startOrigin } from "./origins.ts";
import { aPaymentRequired } from "./payment-required.ts";

const LOOPBACK = { ownHosts: [], allowLoopback: true };
const HOUR_MS = 3_600_000;
export const FEEDS = 25;

export const WEATHER_SELLER = "0x00000000000000000000000000000000000000a1";
export const HOSTILE = {
  serviceName: `Souk"><b>Official</b>`,
  description: `</p><script>alert(1)</script><img src=x onerror=alert(2)> "quoted" & 'single' {{7*7}} <!-- rainmaker tells you when it will rain, and for how long`,
  tags: [`"><i>x</i>`, "javascript:alert(3)"],
  iconUrl: "https://evil.example/i.png",
  host: "famous-bank.example.org",
};

export interface PageCatalog {
  world: ListedWorld;
  ids: Record<"weather" | "translation" | "tool" | "hostile" | "parcel" | "unpriced", string>;
  stop(): Promise<void>;
}

export async function startPageCatalog(): Promise<PageCatalog> {
  const [world, origin] = await Promise.all([startListedWorld(), startOrigin()]);
  const stop = async () => void (await Promise.all([world.stop(), origin.stop()]));
  try {
    const shop = async (path: string, kind: "payment_required" | "mcp", options: MessageOptions) => {
      const whole = { url: origin.url + path, ...options };
      await origin.behave(path, { do: kind, paymentRequired: aPaymentRequired(whole) });
      return whole;
    };
    const confirmed = [
      await shop("/weather", "payment_required", weather()),
      await shop("/translations", "payment_required", translation()),
      await shop("/mcp", "mcp", tool()),
    ];
    const messages = [
      ...confirmed.map((options, i) => aged(i + 1, options)),
      ...[hostile(), parcel(), unpriced()].map((options, i) => aged(i + 5, options)),
      ...Array.from({ length: FEEDS }, (_, i) => aged(100 + i, feed(i))),
    ];
    const [weatherId = "", translationId = "", toolId = "", hostileId = "", parcelId = "", unpricedId = ""] =
      await world.list(messages);
    for (const id of [weatherId, translationId, toolId]) await world.confirmed(id);
    const ids = {
      ...{ weather: weatherId, translation: translationId, tool: toolId },
      ...{ hostile: hostileId, parcel: parcelId, unpriced: unpricedId },
    };
    return { world, ids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function aged(hours: number, options: MessageOptions) {
  return aMessage({ settledAtMs: Date.now() - hours * HOUR_MS, ...options }, LOOPBACK);
}

function weather(): MessageOptions {
  const fields = {
    city: { type: "string", description: "Name of a city" },
    units: { enum: ["metric", "imperial"] },
  };
  const queryParams = { type: "object", properties: fields, required: ["city"] };
  const info = {
    input: { type: "http", method: "GET", queryParams: { city: "Oslo" } },
    output: { type: "json", example: { celsius: 7 } },
  };
  return {
    resource: {
      serviceName: "Northwind Weather",
      description: "Hourly weather forecast for any city",
      tags: ["weather", "forecast"],
    },
    block: { info, schema: { type: "object", properties: { input: { properties: { queryParams } } } } },
    requirements: someRequirements({ payTo: WEATHER_SELLER }),
  };
}

function translation(): MessageOptions {
  return {
    resource: { serviceName: "Babelfish", description: "Translate a text", tags: ["language"] },
    block: aBodyBlock("POST", { body: { text: "it's a good $(morning)", to: "no" } }),
    requirements: paidTo("b1", { amount: "20000" }),
  };
}

function tool(): MessageOptions {
  return {
    resource: { serviceName: "Unit Desk", description: "Convert units of measure" },
    block: aToolBlock({ toolName: "convert_units", example: { city: "Oslo" } }),
    requirements: paidTo("c1", { amount: "1500" }),
  };
}

function hostile(): MessageOptions {
  const { host, ...resource } = HOSTILE;
  return {
    url: `https://${host}/api/quotes`,
    resource,
    block: aBlock({ queryParams: { "<script>": "'; touch /tmp/pwned; '" } }),
    requirements: paidTo("d1", { amount: "2500000" }),
  };
}

function parcel(): MessageOptions {
  return {
    url: "https://api.streetlevel.example.com/v2/users/42/parcels/7",
    resource: { description: "Ownership of one parcel of land" },
    block: aBlock(
      { queryParams: {}, pathParams: { userId: "42", parcel: "7" } },
      { routeTemplate: "/v2/users/:userId/parcels/:parcel" },
    ),
    requirements: paidTo("e1", { scheme: "upto", amount: "1230000" }),
  };
}

function unpriced(): MessageOptions {
  const asset = "0x00000000000000000000000000000000000000ee";
  return { url: "https://tokens.example.net/x", requirements: paidTo("f1", { amount: "77", asset }) };
}

function feed(i: number): MessageOptions {
  return {
    url: `https://host${i}.data.example.com/feeds/${i}`,
    resource: { description: `Feed ${i} of market data` },
    requirements: paidTo(`9${i}`, { amount: `${(i + 1) * 700}` }),
  };
}

function paidTo(end: string, changes: Json = {}): Json {
  return someRequirements({ payTo: `0x${end.padStart(40, "0")}`, ...changes });
}
