// What `buy()` pays for and what it refuses, at sellers that do as the test says; and the row it writes. Each rule of the
// buyer is a test; how it buys at a published seller on a chain is test/e2e/x402-buy.test.ts.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import * as fs from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { PaymentRequirements } from "@x402/core/types";
import { describe, expect, it } from "vitest";
import { NETWORK, USDC } from "../../scripts/chain/addresses.ts";
import { SELLER } from "../../scripts/local-variables.ts";
import { decodeJson, encodeJson } from "../../src/platform/base64-json.ts";
import { toBase64 } from "../../src/platform/bytes.ts";
import { type BuyerAuditRow, type BuyOptions, buy, fileClaims } from "../../src/sdk/buyer.ts";
import { type Act, deliver, settled, withSeller } from "../support/strange-seller.ts";
import { aPurchase, CENT_MICROS, counting, offer, published } from "../support/x402-buyer.ts";

let rows: BuyerAuditRow[];
function options(changes: Partial<BuyOptions> = {}): BuyOptions {
  const purchase = aPurchase(changes);
  rows = purchase.rows;
  return purchase.options;
}

describe("one signature per payment id", () => {
  it("refuses a second purchase of the same id, also in another process of the same store", async () => {
    const scheme = counting();
    await withSeller([offer()], deliver, async (url) => {
      const { options: wanted, folder } = aPurchase({ schemes: [{ network: NETWORK, scheme }] });
      const both = await Promise.all([buy(url, {}, wanted), buy(url, {}, wanted)]);
      expect(both.map(({ status }) => status).sort()).toEqual(["paid", "refused"]);
      expect(await buy(url, {}, wanted)).toMatchObject({ status: "refused", reason: "already_claimed" });
      expect(claimIn(folder, wanted.paymentId)).toBe(false);
      expect(claimIn(folder, "never seen")).toBe(true);
    });
    expect(scheme.signatures).toBe(1);
  });

  it("counts an id as used when signing it failed", async () => {
    const broken = {
      scheme: "exact",
      createPaymentPayload: () => Promise.reject(new Error("wallet locked")),
    };
    await withSeller([offer()], deliver, async (url) => {
      const wanted = options({ schemes: [{ network: NETWORK, scheme: broken }] });
      expect(await buy(url, {}, wanted)).toMatchObject({ status: "failed", reason: "not_signed" });
      const again = { ...wanted, schemes: [{ network: NETWORK, scheme: published }] };
      expect(await buy(url, {}, again)).toMatchObject({ status: "refused", reason: "already_claimed" });
    });
  });

  it("writes down what was claimed before it signs, without what could be used to pay", async () => {
    const written = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    let seenBySigner: string[] = [];
    const looking = {
      scheme: "exact",
      createPaymentPayload: (...terms: Parameters<typeof published.createPaymentPayload>) => {
        seenBySigner = written();
        return published.createPaymentPayload(...terms);
      },
    };
    const { options: wanted, folder } = aPurchase({ schemes: [{ network: NETWORK, scheme: looking }] });
    await withSeller([offer()], deliver, async (url, sent) => {
      expect(await buy(`${url}?token=t0ken`, {}, wanted)).toMatchObject({ status: "paid" });
      expect(seenBySigner).toEqual(written());
      expect(JSON.parse(written()[0] ?? "")).toEqual({
        ...{ paymentId: wanted.paymentId, resource: url, network: NETWORK, asset: USDC },
        ...{ amount: "10000", payTo: SELLER.address, claimedAtMs: expect.any(Number) },
      });
      const { payload } = decodeJson(sent[0] ?? "") as { payload: { signature: string } };
      expect(written()[0]).not.toContain(payload.signature);
    });
  });

  it("signs nothing when the claim cannot be written", async () => {
    const scheme = counting();
    await withSeller([offer()], deliver, async (url) => {
      const claims = fileClaims("/dev/null/no-folder", fs);
      const wanted = options({ claims, schemes: [{ network: NETWORK, scheme }] });
      expect(await buy(url, {}, wanted)).toMatchObject({ status: "refused", reason: "claim_not_written" });
    });
    expect(scheme.signatures).toBe(0);
  });
});

describe("what is bought", () => {
  it("takes the preferred network first, else the cheapest offer", async () => {
    const base = "eip155:8453";
    const baseUsdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    const accepts = [
      offer({ amount: "9000" }),
      offer({ amount: "8000" }),
      offer({ network: base, asset: baseUsdc, amount: "9500" }),
    ];
    const schemes = [NETWORK, base].map((network) => ({ network, scheme: published }) as const);
    await withSeller(accepts, deliver, async (url) => {
      const chosen = async (preferredNetworks: string[]) => {
        const bought = await buy(url, {}, options({ isDryRun: true, schemes, preferredNetworks }));
        return bought.status === "dry-run" ? bought.cost.requirements.amount : bought;
      };
      expect(await chosen([])).toBe("8000");
      expect(await chosen([base])).toBe("9500");
      expect(await chosen([NETWORK, base])).toBe("8000");
    });
  });

  it("counts in bigint: a cent of an 18-decimal token is a cent", async () => {
    const bsc = "eip155:56";
    const usdt = "0x55d398326f99059fF775485246999027B3197955";
    const accepts = [offer({ network: bsc, asset: usdt, amount: "10000000000000000" })];
    await withSeller(accepts, deliver, async (url) => {
      const wanted = options({ isDryRun: true, schemes: [{ network: bsc, scheme: published }] });
      expect(await buy(url, {}, wanted)).toMatchObject({
        status: "dry-run",
        cost: { usdMicros: CENT_MICROS },
      });
    });
  });

  it.each([
    ["an unknown token", "unknown_token", [offer({ asset: `0x${"12".repeat(20)}` })]],
    ["a network that it cannot sign for", "nothing_to_sign", [offer({ network: "eip155:1" })]],
    ["a scheme that it does not have", "nothing_to_sign", [offer({ scheme: "upto" })]],
    ["an amount that is none", "nothing_to_sign", [offer({ amount: "1e4" })]],
    [
      "an offer that is none",
      "nothing_to_sign",
      [null as unknown as PaymentRequirements, offer({ payTo: 7 as never })],
    ],
    ["a signature that is good for years", "nothing_to_sign", [offer({ maxTimeoutSeconds: 1e8 })]],
    ["no offer at all", "nothing_to_sign", []],
  ])("never buys with %s", async (_, reason, accepts) => {
    await withSeller(accepts, deliver, async (url, sent) => {
      expect(await buy(url, {}, options())).toMatchObject({ status: "refused", reason });
      expect(sent).toEqual([]);
    });
  });

  it.each([
    ["no price", undefined, "unreadable_price"],
    ["a price that is no JSON", toBase64(new Uint8Array([1, 2])), "unreadable_price"],
    ["an old version's price", encodeJson({ x402Version: 1, accepts: [offer()] }), "other_version"],
  ])("refuses a 402 with %s", async (_, header, reason) => {
    const fetch402 = async () =>
      new Response("", { status: 402, headers: header === undefined ? {} : { "payment-required": header } });
    const bought = await buy("http://shop.test/", {}, options({ fetch: fetch402 as typeof fetch }));
    expect(bought).toEqual({ status: "refused", reason });
  });

  it("takes a cap that was forgotten for no cap of infinity", async () => {
    await withSeller([offer()], deliver, async (url, sent) => {
      const wanted = options({ maxUsdMicros: undefined as unknown as bigint });
      expect(await buy(url, {}, wanted)).toMatchObject({ status: "refused", reason: "over_cap" });
      expect(sent).toEqual([]);
    });
  });

  it("failed, and nothing signed: an endpoint that does not answer", async () => {
    const bought = await buy("http://127.0.0.1:1/", {}, options());
    expect(bought).toMatchObject({ status: "failed", reason: "no_answer" });
    expect(bought).not.toHaveProperty("settleableUntilMs");
    expect(rows).toEqual([]);
  });

  it("pays nobody behind a redirect that the caller's fetch followed", async () => {
    await withSeller([offer()], deliver, async (shop, sent) => {
      const moved = createServer((_, response) => response.writeHead(307, { location: shop }).end());
      await new Promise<void>((resolve) => moved.listen(0, "127.0.0.1", resolve));
      const following: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "follow" });
      const url = `http://127.0.0.1:${(moved.address() as AddressInfo).port}/`;
      try {
        const bought = await buy(url, {}, options({ fetch: following }));
        expect(bought).toEqual({ status: "refused", reason: "redirected" });
      } finally {
        moved.closeAllConnections();
        moved.close();
      }
      expect(sent).toEqual([]);
    });
  });

  it("follows no redirect, and pays nobody behind one", async () => {
    const redirect = async () =>
      new Response(null, { status: 302, headers: { location: "http://evil.test/" } });
    const bought = await buy("http://shop.test/", {}, options({ fetch: redirect as typeof fetch }));
    expect(bought).toEqual({ status: "refused", reason: "redirected" });
  });

  it("refuses a body that can be sent once only", async () => {
    async function* parts() {
      yield "part";
    }
    for (const body of [new ReadableStream(), parts()]) {
      const init = { method: "POST", body, duplex: "half" } as RequestInit;
      const bought = await buy("http://shop.test/", init, options());
      expect(bought).toEqual({ status: "refused", reason: "body_not_repeatable" });
    }
  });
});

describe("the buyer's audit row", () => {
  it.each([
    ["cannot be kept", { audit: () => Promise.reject(new Error("disk full")) }],
    [
      "has a catalog that throws",
      {
        isListed: () => {
          throw new Error("no catalog");
        },
      },
    ],
  ])("does not undo a payment when it %s", async (_, changes: Partial<BuyOptions>) => {
    await withSeller([offer()], deliver, async (url) => {
      expect(await buy(url, {}, options(changes))).toMatchObject({ status: "paid" });
    });
  });

  it.each([
    ["present", encodeJson({ bazaar: { status: "rejected", rejectedReason: "info", secret: "x" } })],
    ["malformed", "%%%"],
    ["malformed", encodeJson([1])],
  ])("extensions' answers: %s", async (status, header) => {
    const give: Act = (_, response) =>
      response.writeHead(200, { ...settled(), "extension-responses": header }).end();
    await withSeller([offer()], give, async (url) => {
      await buy(url, {}, options({ isListed: async () => false, agentId: "agent-1" }));
      expect(rows[0]).toMatchObject({
        agent_id: "agent-1",
        extension_response_status: status,
        bazaar_catalog_status: "missing",
        settle_extension_responses:
          status === "present" ? { bazaar: { status: "rejected", rejectedReason: "info" } } : null,
      });
      expect(JSON.stringify(rows)).not.toContain("secret");
    });
  });
});

/** Claims an id in the same folder from a process of its own. */
function claimIn(folder: string, paymentId: string): boolean {
  const script = `
    import * as fs from "node:fs/promises";
    import { fileClaims } from "./src/sdk/claims.ts";
    console.log(await fileClaims(process.argv[1], fs).claim(process.argv[2], {}));
  `;
  const flags = ["--input-type=module", "--experimental-strip-types", "--no-warnings"];
  const args = [...flags, "--eval", script, folder, paymentId];
  return execFileSync(process.execPath, args, { encoding: "utf8" }).trim() === "true";
}
