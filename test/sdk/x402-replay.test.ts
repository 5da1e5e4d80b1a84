// What `buy()` does once a payment is signed: what it sends again, what it believes, what it leaves open.

import { describe, expect, it } from "vitest";
import { NETWORK } from "../../scripts/chain/addresses.ts";
import { BUYER, SELLER } from "../../scripts/local-variables.ts";
import { decodeJson, encodeJson } from "../../src/platform/base64-json.ts";
import { type BuyerAuditRow, type BuyOptions, buy } from "../../src/sdk/buyer.ts";
import { type Act, deliver, settled, withSeller } from "../support/strange-seller.ts";
import { aPurchase, counting, offer } from "../support/x402-buyer.ts";

let rows: BuyerAuditRow[];
function options(changes: Partial<BuyOptions> = {}): BuyOptions {
  const purchase = aPurchase(changes);
  rows = purchase.rows;
  return purchase.options;
}

describe("the replay", () => {
  const refusal = settled({ success: false, errorReason: "duplicate_settlement", transaction: "" });

  it("is one, of the same bytes, after a broken connection", async () => {
    let calls = 0;
    const breakOnce: Act = (request, response, paid) =>
      ++calls === 1 ? request.socket.destroy() : deliver(request, response, paid);
    await withSeller([offer()], breakOnce, async (url, sent) => {
      expect(await buy(url, {}, options())).toMatchObject({ status: "paid", transaction: "0xab" });
      expect(sent).toHaveLength(2);
      expect(sent[1]).toBe(sent[0]);
    });
  });

  it("is one, after a settlement that is pending", async () => {
    let calls = 0;
    const pendingOnce: Act = (request, response, paid) => {
      const pending = settled({ success: false, errorReason: "settlement_pending" });
      if (++calls === 1) response.writeHead(402, pending).end();
      else deliver(request, response, paid);
    };
    await withSeller([offer()], pendingOnce, async (url, sent) => {
      expect(await buy(url, {}, options())).toMatchObject({ status: "paid" });
      expect(sent).toHaveLength(2);
    });
  });

  it("is no more than one: a seller that never answers fails, with the payment id to ask about", async () => {
    await withSeller(
      [offer()],
      (request) => request.socket.destroy(),
      async (url, sent) => {
        const wanted = options();
        expect(await buy(url, {}, wanted)).toMatchObject({
          status: "failed",
          reason: "no_answer_after_payment",
          paymentId: wanted.paymentId,
        });
        expect(sent).toHaveLength(2);
        expect(await buy(url, {}, wanted)).toMatchObject({ status: "refused", reason: "already_claimed" });
        expect(sent).toHaveLength(2);
        expect(rows).toMatchObject([{ event_type: "x402_payment_failed", settlement_tx: null }]);
      },
    );
  });

  it("that is refused says nothing of the first sending: unknown, until the signature expires", async () => {
    let calls = 0;
    const loseThenRefuse: Act = (request, response) =>
      ++calls === 1 ? request.socket.destroy() : response.writeHead(402, refusal).end();
    await withSeller([offer()], loseThenRefuse, async (url, sent) => {
      const bought = await buy(url, {}, options());
      expect(bought).toMatchObject({ status: "failed", reason: "settlement_unknown" });
      if (bought.status !== "failed") return;
      const { payload } = decodeJson(sent[0] ?? "") as {
        payload: { authorization: { validBefore: string } };
      };
      const untilMs = Number(payload.authorization.validBefore) * 1000;
      expect(bought.settleableUntilMs).toBeGreaterThanOrEqual(untilMs);
      expect(bought.settleableUntilMs).toBeLessThan(untilMs + 10_000);
    });
  });

  it.each<[string, string, Act]>([
    ["finds nobody", "no_answer_after_payment", (request) => request.socket.destroy()],
    ["is refused", "settlement_unknown", (_, response) => response.writeHead(402, refusal).end()],
  ])("that %s keeps the hash of what was on its way", async (_, reason, actAgain) => {
    let calls = 0;
    const pending = settled({ success: false, errorReason: "settlement_pending", transaction: "0xcd" });
    const act: Act = (request, response, paid) =>
      ++calls === 1 ? response.writeHead(402, pending).end() : actAgain(request, response, paid);
    await withSeller([offer()], act, async (url) => {
      const bought = await buy(url, {}, options());
      expect(bought).toMatchObject({ status: "failed", reason, settlement: { transaction: "0xcd" } });
      expect(rows).toMatchObject([{ event_type: "x402_payment_failed", settlement_tx: "0xcd" }]);
    });
  });

  it("is one, where the server breaks twice", async () => {
    const breakDown: Act = (_, response) => response.writeHead(500).end("down");
    await withSeller([offer()], breakDown, async (url, sent) => {
      const bought = await buy(url, {}, options());
      expect(bought).toMatchObject({ status: "failed", reason: "settlement_unknown" });
      expect(sent).toHaveLength(2);
    });
  });

  it("is none behind a redirect: a payment goes to nobody else", async () => {
    const redirect: Act = (_, response) => response.writeHead(307, { location: "/elsewhere" }).end();
    await withSeller([offer()], redirect, async (url, sent) => {
      const bought = await buy(url, {}, options());
      expect(bought).toMatchObject({ status: "failed", reason: "no_settlement" });
      expect(sent).toHaveLength(1);
    });
  });

  it("is none where the seller refuses: a second price is never signed", async () => {
    const askMore: Act = (_, response) => {
      const required = { x402Version: 2, accepts: [offer({ amount: "20000", payTo: BUYER.address })] };
      response.writeHead(402, { "payment-required": encodeJson(required) }).end();
    };
    const scheme = counting();
    await withSeller([offer()], askMore, async (url, sent) => {
      const wanted = options({ maxUsdMicros: 1_000_000n, schemes: [{ network: NETWORK, scheme }] });
      expect(await buy(url, {}, wanted)).toMatchObject({ status: "failed", reason: "rejected" });
      expect(sent).toHaveLength(1);
    });
    expect(scheme.signatures).toBe(1);
  });

  it("what is signed is what was asked: asset, amount and receiver of the chosen offer", async () => {
    await withSeller([offer()], deliver, async (url, sent) => {
      await buy(url, {}, options());
      expect(decodeJson(sent[0] ?? "")).toMatchObject({
        x402Version: 2,
        accepted: offer(),
        payload: { authorization: { to: SELLER.address, value: "10000" } },
      });
    });
  });

  it.each([
    ["no settlement", {}],
    ["a settlement that is no JSON", { "payment-response": "%%%" }],
    ["a settlement without a transaction", { "payment-response": encodeJson({ success: true }) }],
    ["a settlement with an empty transaction", settled({ transaction: "" })],
    ["a settlement on another network", settled({ network: "eip155:1" })],
    ["a hash that is prose", settled({ transaction: "0xab; rm -rf" })],
  ])("goods with %s are not called paid", async (_, headers) => {
    const give: Act = (__, response) => response.writeHead(200, headers).end("goods");
    await withSeller([offer()], give, async (url) => {
      const bought = await buy(url, {}, options());
      expect(bought).toMatchObject({ status: "failed", reason: "no_settlement" });
      if (bought.status === "failed") expect(await bought.response?.text()).toBe("goods");
    });
  });
});

it("paid without a transaction, only where the settlement says that nothing was charged", async () => {
  const give: Act = (_, response) =>
    response.writeHead(200, settled({ transaction: "", amount: "0" })).end("goods");
  await withSeller([offer()], give, async (url) => {
    expect(await buy(url, {}, options())).toMatchObject({ status: "paid", transaction: "" });
    expect(rows).toMatchObject([{ event_type: "x402_payment_settled", settlement_tx: null }]);
  });
});
