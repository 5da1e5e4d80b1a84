// Verifies bodies on a test chain by the real use case: decoding, terms, mechanism, reader, one node.

import { decodePayment } from "../../src/payments/decode-payment.ts";
import { JsonRpc } from "../../src/payments/evm/json-rpc.ts";
import { describeNetwork } from "../../src/payments/networks.ts";
import { wordReason } from "../../src/payments/reasons.ts";
import { type VerifyingNetwork, verifyPayment } from "../../src/payments/verify-payment.ts";
import { NETWORK, RELAYER } from "./chain.ts";

/** The test chain's network as an operator would switch it on. */
export function servedNetwork(rpcUrl: string, change: Partial<VerifyingNetwork> = {}): VerifyingNetwork {
  const description = describeNetwork(NETWORK);
  if (!description) throw new Error(`${NETWORK} is not described`);
  return {
    ...description,
    rpcUrls: [rpcUrl],
    relayers: () => [RELAYER.address],
    allowedFactories: [],
    blockTimeMs: null,
    ...change,
  };
}

export interface TestVerdict {
  isValid: boolean;
  /** As it goes on the wire; `""` for a valid payment. */
  reason: string;
  status: number;
  /** What a client is told, as one text. */
  told: string;
}

export interface VerifySetting {
  change?: Partial<VerifyingNetwork>;
  /** Default: this machine's clock. */
  nowMs?: number;
  purpose?: "verify" | "settle";
}

/** The verdict on a body as it would arrive: sent as JSON text. */
export async function verdictOn(
  rpcUrl: string,
  body: unknown,
  { change = {}, nowMs = Date.now(), purpose = "verify" }: VerifySetting = {},
): Promise<TestVerdict> {
  const network = servedNetwork(rpcUrl, change);
  const decoding = decodePayment(JSON.parse(JSON.stringify(body)), new Map([[network.id, network]]));
  if (!decoding.ok) return wording(decoding.reason, decoding.message);
  const rpc = new JsonRpc({
    rpcUrls: network.rpcUrls,
    chainId: network.chainId,
    attemptTimeoutMs: 300,
    totalTimeoutMs: 400,
  });
  const verdict = await verifyPayment(decoding.payment, { network, rpc, nowMs, purpose });
  if (verdict.ok) return { isValid: true, reason: "", status: 200, told: "" };
  return wording(verdict.reason, null);
}

function wording(reason: Parameters<typeof wordReason>[0], message: string | null): TestVerdict {
  const worded = wordReason(reason);
  const told = `${worded.reason}: ${message ?? worded.sentence}`;
  return { isValid: false, reason: worded.reason, status: worded.status, told };
}
