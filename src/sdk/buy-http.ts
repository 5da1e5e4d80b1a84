// Buys one HTTP call from a custodial balance.
//
//   const buy = buyOverHttp({ gatewayUrl, walletId, agentId, paymentKeySeed });
//   const bought = await buy("https://shop.test/answer", { method: "POST", body }, { maxMinor: 100n });
//   if (bought.status === "paid") console.log(await bought.response.json(), bought.receipt);

import { decodeJson, encodeJson } from "../platform/base64-json.ts";
import { type Answer, type Bought, Buyer, type Send } from "./buy.ts";
import type { BuyerOptions, Limit } from "./buyer-wallet.ts";
import { PAYMENT_HEADER, RECEIPT_HEADER } from "./wire.ts";

/** Makes a function that buys: like fetch, with the buyer's bounds for this one call. */
export function buyOverHttp(options: BuyerOptions) {
  const buyer = new Buyer(options);
  const { fetch: doFetch = fetch } = options;
  return (input: string | URL, init: RequestInit, limit: Limit): Promise<Bought<Response>> => {
    const send: Send<Response> = async (proof) => {
      const headers = new Headers(init.headers);
      if (proof) headers.set(PAYMENT_HEADER, encodeJson(proof));
      // A proof goes to the seller that was asked, and to nobody it would send us to.
      const redirect = proof ? "manual" : (init.redirect ?? "follow");
      return answerOf(await doFetch(input, { ...init, headers, redirect }));
    };
    return buyer.buy(send, limit, { url: String(input), toolName: null });
  };
}

async function answerOf(received: Response): Promise<Answer<Response>> {
  const bytes = new Uint8Array(await received.arrayBuffer());
  const { status, headers } = received;
  const response = new Response(bytes.length === 0 ? null : bytes, { status, headers });
  const receiptHeader = headers.get(RECEIPT_HEADER);
  const body = status === 402 || status === 403 || status === 503 ? readJson(bytes) : undefined;
  return {
    response,
    bytes,
    isRedirected: received.redirected,
    ...(body?.challenge === undefined ? {} : { challenge: body.challenge }),
    // A receipt that cannot be read is not the same as none.
    ...(receiptHeader === null ? {} : { receipt: decodeJson(receiptHeader) ?? null }),
    ...refusalOf(body),
  };
}

function refusalOf(body: Record<string, unknown> | undefined): Pick<Answer<Response>, "refusal"> {
  const { code, message } = (body?.error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string" || body?.challenge !== undefined) return {};
  const { decision, approvalId } = body as Partial<NonNullable<Answer<Response>["refusal"]>>;
  return {
    refusal: {
      code,
      message: typeof message === "string" ? message : "",
      ...(decision === undefined ? {} : { decision }),
      ...(approvalId === undefined ? {} : { approvalId }),
    },
  };
}

function readJson(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
