// The buyer's `buy()` at a published seller on a real chain; and a wallet topped up by a published client.

import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NETWORK } from "../../scripts/chain/addresses.ts";
import { usdcOf } from "../../scripts/demo/buyer.ts";
import { type Seller, startSeller } from "../../scripts/demo/seller.ts";
import { OPERATOR_TOKEN, SELLER } from "../../scripts/local-variables.ts";
import { decodeJson } from "../../src/platform/base64-json.ts";
import { toBase64 } from "../../src/platform/bytes.ts";
import { buy } from "../../src/sdk/buyer.ts";
import { receiptOf } from "../support/chain.ts";
import { startTestWorld, type TestWorld } from "../support/world.ts";
import { aPurchase, CENT_MICROS, counting, published } from "../support/x402-buyer.ts";

let world: TestWorld;
let seller: Seller;

beforeAll(async () => {
  world = await startTestWorld();
  seller = await startSeller({ facilitatorUrl: world.url, port: 0 });
});
afterAll(async () => {
  await seller?.stop();
  await world?.stop();
});

describe("at a published seller", () => {
  it("paid: the goods, the cost, and the hash that the settlement names, which the chain has", async () => {
    const before = await usdcOf(world.rpcUrl, SELLER.address);
    const { options, rows } = aPurchase();
    const bought = await buy(`${seller.url}/weather?city=Oslo`, {}, options);
    if (bought.status !== "paid") throw new Error(JSON.stringify(bought));
    expect(await bought.response.json()).toEqual({ city: "Oslo", celsius: 7 });
    expect(bought.cost.usdMicros).toBe(CENT_MICROS);
    expect(await usdcOf(world.rpcUrl, SELLER.address)).toBe(before + 10_000n);
    expect((await receiptOf(world.rpcUrl, bought.transaction as `0x${string}`)).status).toBe("0x1");
    expect(rows).toEqual([
      expect.objectContaining({
        event_type: "x402_payment_settled",
        payment_id: bought.paymentId,
        resource: `${seller.url}/weather`,
        settlement_tx: bought.transaction,
        pay_to_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        error_reason: null,
        extension_response_status: "absent",
        bazaar_catalog_status: null,
      }),
    ]);
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(SELLER.address.slice(2).toLowerCase());
  });

  it("dry-run: the price, and nothing claimed or signed", async () => {
    const scheme = counting();
    const { options: wanted } = aPurchase({ isDryRun: true, schemes: [{ network: NETWORK, scheme }] });
    expect(await buy(`${seller.url}/weather`, {}, wanted)).toMatchObject({
      status: "dry-run",
      cost: { usdMicros: CENT_MICROS, requirements: { payTo: SELLER.address } },
    });
    expect(scheme.signatures).toBe(0);
    expect(await buy(`${seller.url}/weather`, {}, { ...wanted, isDryRun: false })).toMatchObject({
      status: "paid",
    });
  });

  it("the cap is this call's: a millionth below the price is refused, with the price", async () => {
    const bought = await buy(
      `${seller.url}/weather`,
      {},
      aPurchase({ maxUsdMicros: CENT_MICROS - 1n }).options,
    );
    expect(bought).toMatchObject({ status: "refused", reason: "over_cap", cost: { usdMicros: CENT_MICROS } });
  });

  it("free: an endpoint that asks for nothing", async () => {
    const bought = await buy(`${world.url}/supported`, {}, aPurchase().options);
    expect(bought).toMatchObject({ status: "free" });
  });
});

describe("a top-up", () => {
  it("by a published client: paid, credited, and told by the published receipt header", async () => {
    const operate = async (path: string, body?: unknown) => {
      const response = await fetch(world.url + path, {
        ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
      });
      return (await response.json()) as Record<string, string>;
    };
    const publicKey = toBase64(crypto.getRandomValues(new Uint8Array(32)));
    const { walletId } = await operate("/v1/wallets", { currency: "USD", publicKey });
    const pay = wrapFetchWithPayment(fetch, new x402Client().register(NETWORK, published));
    const response = await pay(`${world.url}/v1/wallets/${walletId}/topups`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ amountMinor: "75" }),
    });
    // 202 says that the money is on its way: whether it is final by now is between the relayer's look and the chain.
    expect([200, 202]).toContain(response.status);
    const credited = response.status === 200;
    expect(await response.json()).toMatchObject({ state: "settled", amountMinor: "75", credited });
    const receipt = decodeJson(response.headers.get("payment-response") ?? "") as {
      transaction: `0x${string}`;
    };
    expect((await receiptOf(world.rpcUrl, receipt.transaction)).status).toBe("0x1");
    const available = async () => (await operate(`/v1/wallets/${walletId}`)).availableMinor;
    await expect.poll(available, { timeout: 60_000 }).toBe("75");
  });
});
