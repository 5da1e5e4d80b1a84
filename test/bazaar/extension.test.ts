// What is kept of a payment with a bazaar block, and for which reasons besides the block it is not listed.

import { describe, expect, it } from "vitest";
import { readBazaarBlock } from "../../src/bazaar/block/extension.ts";
import {
  aBlock,
  anObservation,
  aPayload,
  aToolBlock,
  PUBLIC_RULES,
  read,
  reasonOf,
  SELLER,
  someRequirements,
  withOutput,
} from "../support/bazaar.ts";

describe("what is kept of a payment", () => {
  it("is the block as sent without the values of headers and pathParams, and other extensions' keys", () => {
    const block = aBlock(
      {
        headers: { authorization: "Bearer secret" },
        pathParams: { id: "buyer-7" },
        extra: { deep: [1, "é"] },
      },
      { routeTemplate: "/weather", note: "kept" },
    );
    const observation = anObservation({
      block,
      extensions: {
        permit: { signature: "0xdead" },
        "payment-identifier": { info: { id: "pay_buyer" } },
        "bad key\n": {},
      },
    });
    const input = { type: "http", method: "GET", queryParams: { city: "Oslo" }, extra: { deep: [1, "é"] } };
    expect(observation.bazaar).toEqual({
      ...block,
      info: { input: { ...input, headers: {}, pathParams: {} } },
    });
    expect(observation.extensionKeys).toEqual(["permit", "payment-identifier"]);
    expect(JSON.stringify(observation)).not.toMatch(/secret|buyer|0xdead/);
  });

  it("is rejected without a usable resource.url, for its listing only", () => {
    for (const [options, reason] of [
      [{ url: undefined }, "resource.url is missing"],
      [{ url: "weather" }, "resource.url is not an absolute URL"],
      [{ url: 7 }, "resource.url is missing"],
      [{ url: "mcp://tools/a" }, "resource.url must be an http or https URL for info.input.type http"],
    ] as const) {
      expect(read(options)).toEqual({ kind: "rejected", reason });
    }
    const [payload, requirements] = aPayload();
    delete payload.resource;
    expect(readBazaarBlock(payload, requirements, PUBLIC_RULES)).toMatchObject({
      reason: "resource.url is missing",
    });
  });

  it("keeps mcp: URLs as written and never lists them as null", () => {
    const observation = anObservation({ url: "mcp://Weather-Server/v1?x=1", block: aToolBlock() });
    expect(observation).toMatchObject({ type: "mcp", resource: "mcp://Weather-Server/v1?x=1", host: "" });
  });

  it("describes a tool by its own words when the resource has none", () => {
    const block = aToolBlock({ description: "Tells the\u202e weather" });
    expect(anObservation({ block }).description).toBe("Tells the weather");
    expect(anObservation({ block, resource: { description: "Better" } }).description).toBe("Better");
  });

  it("C44: refuses a block of 130 KB at ingest, and what together outgrows a queue message", () => {
    expect(reasonOf(withOutput({}, "x".repeat(130_000)))).toMatch(
      /^extensions.bazaar is larger than 65536 bytes/,
    );
    const large = read({
      block: withOutput({}, "x".repeat(65_000)),
      url: `https://a.shop.test/${"p".repeat(2_000)}`,
      resource: { description: '"'.repeat(2_000), iconUrl: `https://a.shop.test/${"i".repeat(2_000)}` },
      requirements: someRequirements({ extra: { note: "\\".repeat(1_000) } }),
      extensions: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}`.padEnd(64, "k"), {}])),
    });
    expect(large.kind === "rejected" ? large.reason : JSON.stringify(large).length).toSatisfy(
      (result: string | number) =>
        result === "extensions.bazaar and resource are too large together" || Number(result) <= 80_100,
    );
  });

  it("names the offer by the server's requirements, and refuses one that is not usable", () => {
    const observation = anObservation({ accepted: someRequirements({ payTo: "0xattacker", amount: "1" }) });
    expect(observation.offer).toMatchObject({ payTo: SELLER.toLowerCase(), amount: "10000" });
    expect(observation.offer.requirements).toEqual(someRequirements());
    for (const change of [
      { amount: 7 },
      { network: "base" },
      { asset: "" },
      { extra: "x" },
      { scheme: null },
    ]) {
      expect(read({ requirements: someRequirements(change) }).kind, JSON.stringify(change)).toBe("rejected");
    }
    expect(read({ requirements: someRequirements({ extra: { x: "y".repeat(2_048) } }) })).toEqual({
      kind: "rejected",
      reason: "paymentRequirements.extra is larger than 2048 bytes",
    });
  });

  it("cuts a reason at 200 characters without control characters", () => {
    const reading = read({
      block: withOutput({ properties: { [`a\u0007\u202e${"b".repeat(250)}`]: { $ref: "x" } } }, {}),
    });
    expect(reading).toMatchObject({ kind: "rejected", reason: expect.stringMatching(/^[\x20-\x7e]{200}$/) });
  });
});
