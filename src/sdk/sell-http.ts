// Puts a fetch-style handler (Workers, Hono, itty, anything with Request and Response) behind a price.
//
//   const sell = sellOverHttp({ gatewayUrl, providerKey, capabilityId });
//   export default { fetch: sell(async (request) => Response.json(await answer(request))) };

import { decodeJson, encodeJson } from "../platform/base64-json.ts";
import { readBounded } from "../platform/bounded-body.ts";
import {
  DEFAULT_MAX_RESPONSE_BYTES,
  type Produced,
  refusalBody,
  type Sale,
  Seller,
  type SellOptions,
} from "./sell.ts";
import { kindOfPayment, PAYMENT_HEADER, RECEIPT_HEADER, type Receipt } from "./wire.ts";

export type FetchHandler = (request: Request) => Promise<Response> | Response;

export interface SellOverHttpOptions extends SellOptions {
  /**
   * Takes requests whose `x-payment` is an x402 payment, for a route that is sold both ways. Without it such a request
   * is shown the price.
   */
  onX402Payment?: FetchHandler;
}

/**
 * Wraps a handler: it runs once per payment, and its response goes out only once it is paid for. The request's signal
 * aborts when the handler has taken too long.
 */
export function sellOverHttp(options: SellOverHttpOptions): (handler: FetchHandler) => FetchHandler {
  const seller = new Seller(options);
  return (handler) => async (request) => {
    const header = request.headers.get(PAYMENT_HEADER);
    const payment = header === null ? undefined : decodeJson(header);
    const kind = header === null ? "none" : kindOfPayment(payment);
    if (kind === "neither") {
      return error(400, "INVALID_REQUEST", `${PAYMENT_HEADER} holds neither a proof nor an x402 payment`);
    }
    if (kind === "x402" && options.onX402Payment) return options.onX402Payment(request);
    try {
      const sale =
        kind === "proof"
          ? await seller.sell(payment, (signal) =>
              produce(handler, new Request(request, { signal }), options),
            )
          : await seller.quote();
      return answer(sale);
    } catch (cause) {
      options.onError?.(cause);
      return error(502, "GATEWAY_UNREACHABLE", "the payment could not be handled; nothing was delivered");
    }
  };
}

function answer(sale: Sale<Response>): Response {
  switch (sale.outcome) {
    case "price": {
      const { amountMinor, currency } = sale.challenge;
      const message = `this call costs ${amountMinor} minor units of ${currency}`;
      return json(402, { error: { code: "PAYMENT_REQUIRED", message }, challenge: sale.challenge });
    }
    case "refused": {
      const retry = sale.status === 503 ? { "retry-after": "1" } : undefined;
      return json(sale.status, refusalBody(sale.refusal), retry);
    }
    case "delivered":
      return withReceipt(sale.response, sale.receipt);
    case "failed":
      return withReceipt(
        sale.response ?? error(500, "PROVIDER_ERROR", "the call failed; the payment is returned"),
        sale.receipt,
      );
  }
}

/** Runs the handler and takes its whole body, because the receipt is over the exact bytes. */
async function produce(
  handler: FetchHandler,
  request: Request,
  { maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES }: SellOptions,
): Promise<Produced<Response>> {
  const response = await handler(request);
  const body = await readBounded(response, maxResponseBytes);
  if (!body) {
    const tooLarge = error(500, "PROVIDER_ERROR", "the response was too large; the payment is returned");
    const text = `the response is larger than ${maxResponseBytes} bytes`;
    return { ok: false, response: tooLarge, kind: "provider_error", error: text };
  }
  const bytes = new Uint8Array(body);
  const whole = new Response(HAS_NO_BODY.has(response.status) ? null : bytes, response);
  // What carried the body to us is not what carries it on.
  whole.headers.delete("content-length");
  whole.headers.delete("transfer-encoding");
  if (response.status < 400) return { ok: true, response: whole, bytes };
  const kind = response.status < 500 ? "client_error" : "provider_error";
  return { ok: false, response: whole, kind, error: `the handler answered ${response.status}` };
}

const HAS_NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function withReceipt(response: Response, receipt: Receipt | undefined): Response {
  const signed = new Response(response.body, response);
  if (receipt) signed.headers.set(RECEIPT_HEADER, encodeJson(receipt));
  return signed;
}

function error(status: number, code: string, message: string): Response {
  return json(status, { error: { code, message } });
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}
