// A seller's side of one paid call, whatever it travels over: no payment -> a challenge; a proof -> hold, handler, receipt.
// The transports (sell-http.ts, sell-tool.ts) word what comes out.

import { GatewayClient, type GatewayOptions, type Refusal } from "./gateway-client.ts";
import { type Challenge, kindOfPayment, type Receipt } from "./wire.ts";

export interface SellOptions extends GatewayOptions {
  /** What is sold. A proof for another capability of the same provider pays for nothing here. */
  capabilityId: string;
  /** A handler that takes longer has not answered; default 60 s, far below the gateway's 15 minutes. */
  handlerTimeoutMs?: number;
  /** A larger response is refused before it is sent; default 8 MiB, at most 12 MB fit the gateway's limit. */
  maxResponseBytes?: number;
  /** Told of what no buyer should read: a thrown handler, a gateway that cannot be reached. */
  onError?: (error: unknown) => void;
}

/** What a handler made of a call, ready to be hashed. */
export type Produced<Response> =
  | { ok: true; response: Response; bytes: Uint8Array }
  /** What there is of a response is sent to the buyer all the same: it says what is wrong. */
  | { ok: false; response: Response | undefined; kind: "client_error" | "provider_error"; error: string };

export type Sale<Response> =
  | { outcome: "price"; challenge: Challenge }
  /** The buyer's payment is refused; `status` is what HTTP says to it. */
  | { outcome: "refused"; status: number; refusal: Refusal }
  | { outcome: "delivered"; response: Response; receipt: Receipt }
  /** The handler failed and the buyer has the money back; no response when it threw or did not answer. */
  | { outcome: "failed"; response: Response | undefined; receipt: Receipt | undefined };

export const DEFAULT_MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
const DEFAULT_HANDLER_TIMEOUT_MS = 60_000;

export class Seller {
  readonly options: SellOptions;
  readonly #gateway: GatewayClient;

  constructor(options: SellOptions) {
    this.options = options;
    this.#gateway = new GatewayClient(options);
  }

  /** A price for a caller who brought no payment. */
  async quote(): Promise<Sale<never>> {
    const answer = await this.#gateway.challenge(this.options.capabilityId);
    return answer.ok
      ? { outcome: "price", challenge: answer.challenge }
      : { outcome: "refused", status: statusOf(answer.code), refusal: answer };
  }

  /** Takes the money, lets `produce` work, and hands over its response with a receipt, or gives the money back. */
  async sell<Response>(
    proof: unknown,
    produce: (signal: AbortSignal) => Promise<Produced<Response>>,
  ): Promise<Sale<Response>> {
    const refusal = this.#notMine(proof);
    if (refusal) return { outcome: "refused", status: statusOf(refusal.code), refusal };
    const authorization = await this.#gateway.authorize(proof);
    if (!authorization.ok) {
      return { outcome: "refused", status: statusOf(authorization.code), refusal: authorization };
    }
    const { transactionId } = authorization;
    const produced = await this.#produce(produce);
    if (!produced.ok) {
      const receipt = await this.#giveBack(transactionId, produced.error, produced.kind);
      return { outcome: "failed", response: produced.response, receipt };
    }
    const completion = await this.#gateway.complete(transactionId, produced.bytes);
    // Not paid for after all: the fifteen minutes were over. What was produced is not handed out.
    return completion.ok
      ? { outcome: "delivered", response: produced.response, receipt: completion.receipt }
      : { outcome: "failed", response: undefined, receipt: completion.receipt };
  }

  /** The gateway checks that this provider owns the proof's capability; that it is the one sold here is our check. */
  #notMine(proof: unknown): Refusal | undefined {
    if (kindOfPayment(proof) !== "proof") {
      return { ok: false, code: "INVALID_PROOF", reason: "the payment is no proof" };
    }
    const { capabilityId } = proof as { capabilityId: string };
    if (capabilityId === this.options.capabilityId) return undefined;
    return { ok: false, code: "CHALLENGE_MISMATCH", reason: "the proof pays for another capability" };
  }

  async #produce<Response>(
    produce: (signal: AbortSignal) => Promise<Produced<Response>>,
  ): Promise<Produced<Response>> {
    const signal = AbortSignal.timeout(this.options.handlerTimeoutMs ?? DEFAULT_HANDLER_TIMEOUT_MS);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("the handler did not answer in time")));
    });
    try {
      return await Promise.race([produce(signal), late]);
    } catch (error) {
      this.options.onError?.(error);
      const text = error instanceof Error ? error.message : String(error);
      return { ok: false, response: undefined, kind: "provider_error", error: text };
    }
  }

  /** A refund that cannot be asked for comes by itself after fifteen minutes. */
  async #giveBack(
    transactionId: string,
    error: string,
    kind: "client_error" | "provider_error",
  ): Promise<Receipt | undefined> {
    try {
      return (await this.#gateway.fail(transactionId, error, kind)).receipt;
    } catch (cause) {
      this.options.onError?.(cause);
      return undefined;
    }
  }
}

/** What a seller answers a buyer whose payment is refused (CONTRACT.md section 4); 503: the same proof may try again. */
function statusOf(code: string): number {
  if (code === "POLICY_DENIED" || code === "APPROVAL_REQUIRED") return 403;
  return code === "UNAVAILABLE" ? 503 : 402;
}

/** The body of a refusal towards the buyer. */
export function refusalBody({ code, reason, decision, approvalId }: Refusal) {
  return {
    error: { code, message: reason },
    ...(decision === undefined ? {} : { decision }),
    ...(approvalId === undefined ? {} : { approvalId }),
  };
}
