// A seller's way to the four routes of the gateway. Answers are values; what throws is a gateway that cannot be reached
// or that does not accept this seller's key, which no buyer can help.

import { toBase64 } from "../platform/bytes.ts";
import type { Challenge, Decision, FailureKind, Receipt } from "./wire.ts";

export interface GatewayOptions {
  /** The gateway's origin, e.g. `https://souk.example.com`. */
  gatewayUrl: string;
  /** A provider's key with `payments:write`. */
  providerKey: string;
  /** Instead of the global fetch. */
  fetch?: typeof fetch;
}

export interface Refusal {
  ok: false;
  code: string;
  reason: string;
  decision?: Decision;
  approvalId?: string;
}

export type Authorization = { ok: true; transactionId: string } | Refusal;
export type Completion = { ok: true; receipt: Receipt } | { ok: false; code: string; receipt?: Receipt };

/** Thrown with the gateway's status: the seller's configuration or the gateway is broken. */
export class GatewayError extends Error {
  override name = "GatewayError";
}

const TIMEOUT_MS = 30_000;
/** Completing and failing may be repeated without harm; a lost answer must not cost a sale. */
const TRIES = 3;
const PAUSE_MS = 500;

export class GatewayClient {
  readonly #options: GatewayOptions;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  /** A signed price, or why there is none now. */
  async challenge(capabilityId: string): Promise<{ ok: true; challenge: Challenge } | Refusal> {
    const { status, body } = await this.#post("challenge", { capabilityId });
    if (status === 200) return { ok: true, challenge: body as unknown as Challenge };
    const { code = "", message = "" } = (body.error ?? {}) as { code?: string; message?: string };
    if (code === "CAPABILITY_UNAVAILABLE") return { ok: false, code, reason: message };
    throw unexpected("challenge", status, code);
  }

  /** Takes the hold. Never repeated here: who gets `ok: true` runs the handler, and two would. */
  async authorize(proof: unknown): Promise<Authorization> {
    const { status, body } = await this.#post("authorize", { proof });
    if (status === 200 || status === 402 || (status === 503 && typeof body.code === "string")) {
      return body as unknown as Authorization;
    }
    throw unexpected("authorize", status, (body.error as { code?: string } | undefined)?.code);
  }

  /** `responseBody`: exactly the bytes that the buyer will get. */
  complete(transactionId: string, responseBody: Uint8Array): Promise<Completion> {
    return this.#decide("complete", { transactionId, responseBodyBase64: toBase64(responseBody) });
  }

  fail(transactionId: string, error: string, kind: Exclude<FailureKind, "timeout">): Promise<Completion> {
    return this.#decide("fail", { transactionId, error, kind });
  }

  async #decide(route: "complete" | "fail", request: object): Promise<Completion> {
    for (let attempt = 1; ; attempt++) {
      try {
        const { status, body } = await this.#post(route, request);
        if (status === 200) return { ok: true, receipt: body as unknown as Receipt };
        const { code = "" } = (body.error ?? {}) as { code?: string };
        if (status === 409) {
          return { ok: false, code, ...(body.receipt ? { receipt: body.receipt as Receipt } : {}) };
        }
        throw unexpected(route, status, code);
      } catch (error) {
        if (attempt === TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, attempt * PAUSE_MS));
      }
    }
  }

  async #post(route: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> {
    const { gatewayUrl, providerKey, fetch: send = fetch } = this.#options;
    const response = await send(new URL(`/v1/x402/${route}`, gatewayUrl), {
      method: "POST",
      headers: { authorization: `Bearer ${providerKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer: unknown = await response.json().catch(() => undefined);
    const isObject = typeof answer === "object" && answer !== null;
    return { status: response.status, body: isObject ? (answer as Record<string, unknown>) : {} };
  }
}

function unexpected(route: string, status: number, code = "no code"): GatewayError {
  return new GatewayError(`the gateway answered ${route} with ${status} (${code})`);
}
