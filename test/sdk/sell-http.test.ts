// A seller whose way to the gateway is broken, and what a handler's response keeps on its way out. The gateway's own
// answers are in test/e2e/gateway-sdk.test.ts; here its fetch loses them.

import { describe, expect, it } from "vitest";
import { encodeJson } from "../../src/platform/base64-json.ts";
import { forExpress } from "../../src/sdk/express.ts";
import { type FetchHandler, sellOverHttp } from "../../src/sdk/sell-http.ts";
import { PAYMENT_HEADER, RECEIPT_HEADER } from "../../src/sdk/wire.ts";
import vectors from "../fixtures/gateway/signatures.json" with { type: "json" };

const { proof } = vectors.proof;
const { receipt } = vectors.receipts.completed;

type Answer = () => Response;
const json =
  (body: unknown, status = 200): Answer =>
  () =>
    Response.json(body, { status });
const lost: Answer = () => {
  throw new TypeError("connection lost");
};

/** A seller whose gateway answers each route by the list given, one after the other. */
function shop(answers: Record<string, Answer[]>, handler: FetchHandler = () => new Response("goods")) {
  const asked: string[] = [];
  const errors: unknown[] = [];
  const sell = sellOverHttp({
    ...{ gatewayUrl: "https://souk.test", providerKey: "key", capabilityId: proof.capabilityId },
    onError: (error) => errors.push(error),
    onX402Payment: () => new Response("x402"),
    fetch: async (input) => {
      const route = new URL(String(input)).pathname.split("/").at(-1) ?? "";
      asked.push(route);
      const answer = answers[route]?.shift();
      if (!answer) throw new Error(`nothing more to answer to ${route}`);
      return answer();
    },
  });
  const call = (payment: unknown = proof) =>
    sell(handler)(new Request("https://shop.test/", { headers: { [PAYMENT_HEADER]: encodeJson(payment) } }));
  return { call, asked, errors };
}

const taken = json({ ok: true, transactionId: "txn_1" });

describe("a seller", () => {
  it("asks again when the answer to a completion is lost, and delivers once", async () => {
    const { call, asked } = shop({ authorize: [taken], complete: [lost, json({}, 500), json(receipt)] });
    const response = await call();
    expect(await response.text()).toBe("goods");
    expect(response.headers.get(RECEIPT_HEADER)).toBe(encodeJson(receipt));
    expect(asked).toEqual(["authorize", "complete", "complete", "complete"]);
  });

  it("never asks twice for a hold: whoever is told yes runs the handler", async () => {
    let ran = 0;
    const { call, asked, errors } = shop({ authorize: [lost, taken] }, () => {
      ran += 1;
      return new Response("goods");
    });
    expect((await call()).status).toBe(502);
    expect({ ran, asked, errors: errors.length }).toEqual({ ran: 0, asked: ["authorize"], errors: 1 });
  });

  it("delivers nothing for a call that came too late or cannot be completed", async () => {
    const late = json({ error: { code: "CALL_DECIDED" }, receipt: vectors.receipts.failed.receipt }, 409);
    const tooLate = await shop({ authorize: [taken], complete: [late] }).call();
    expect(tooLate.status).toBe(500);
    expect(await tooLate.text()).not.toContain("goods");
    expect(tooLate.headers.get(RECEIPT_HEADER)).toBe(encodeJson(vectors.receipts.failed.receipt));
    const unreachable = await shop({ authorize: [taken], complete: [lost, lost, lost] }).call();
    expect(unreachable.status).toBe(502);
    expect(await unreachable.text()).not.toContain("goods");
  });

  it("says 503 while the wallet does not answer, 403 to the owner's no, 402 to every other", async () => {
    const statuses = [];
    for (const code of [
      "UNAVAILABLE",
      "POLICY_DENIED",
      "APPROVAL_REQUIRED",
      "NONCE_REPLAYED",
      "BUDGET_EXCEEDED",
    ]) {
      const refused = json(
        { ok: false, code, reason: "no", approvalId: "apr_1" },
        code === "UNAVAILABLE" ? 503 : 402,
      );
      const response = await shop({ authorize: [refused] }).call();
      expect(await response.json()).toEqual({ error: { code, message: "no" }, approvalId: "apr_1" });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([503, 403, 403, 402, 402]);
  });

  it("leaves an x402 payment to whoever takes those", async () => {
    const { call, asked } = shop({});
    expect(await (await call({ x402Version: 1, payload: {} })).text()).toBe("x402");
    expect(asked).toEqual([]);
  });

  it("keeps status, headers and cookies of a response, also of one without a body", async () => {
    const headers = new Headers({ "x-own": "1", "content-length": "99" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    const { call } = shop(
      { authorize: [taken], complete: [json(receipt)] },
      () => new Response(null, { status: 204, headers }),
    );
    const response = await call();
    expect(response.status).toBe(204);
    expect(response.headers.get("x-own")).toBe("1");
    expect(response.headers.get("content-length")).toBeNull();
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });
});

describe("the Express adapter", () => {
  const echo: FetchHandler = async (request) =>
    Response.json({
      method: request.method,
      url: request.url,
      type: request.headers.get("content-type"),
      body: await request.text(),
    });

  async function through(incoming: Record<string, unknown>, chunks: string[] = []) {
    let ended = "";
    const outgoing = {
      statusCode: 0,
      setHeader: () => undefined,
      end: (body: Uint8Array = new Uint8Array()) => {
        ended = Buffer.from(body).toString();
      },
    };
    const stream = {
      ...{
        method: "POST",
        url: "/a?b=1",
        headers: { host: "shop.test", "content-type": "application/json" },
      },
      ...incoming,
      async *[Symbol.asyncIterator]() {
        for (const chunk of chunks) yield new Uint8Array(Buffer.from(chunk));
      },
    };
    await forExpress(echo)(stream, outgoing);
    return { status: outgoing.statusCode, ...JSON.parse(ended) };
  }

  it.each([
    ["a body that nobody parsed", {}, ['{"a":', "1}"], '{"a":1}'],
    ["a body parsed as JSON", { body: { a: 1 }, readableEnded: true }, [], '{"a":1}'],
    ["a body parsed as text", { body: "text", readableEnded: true }, [], "text"],
    ["a body parsed as bytes", { body: Buffer.from("bytes"), readableEnded: true }, [], "bytes"],
    ["no body at all", { body: {}, method: "GET" }, [], ""],
  ])("passes on %s", async (_name, incoming, chunks, body) => {
    expect(await through(incoming, chunks)).toMatchObject({ status: 200, body });
  });

  it("passes on where a mounted router stripped the path", async () => {
    expect(await through({ originalUrl: "/api/a?b=1" })).toMatchObject({ url: "http://shop.test/api/a?b=1" });
  });
});
