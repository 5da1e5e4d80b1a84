// Our verify and the published mechanisms, asked about the same payments on the same chain at the same moment. What a
// client would read of the verdict is compared: valid or not, the reason, the payer. Messages are not: ours are ours.

import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { UptoEvmScheme } from "@x402/evm/upto/facilitator";
import { createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { rpcOf, type VerifyingNetwork, verifyPayment } from "../../../src/payments/verify-payment.ts";
import { RELAYER, TEST_CHAIN, WALLET_FACTORY } from "../chain.ts";
import { servedNetwork } from "../verify.ts";
import type { Case } from "./cases.ts";
import { assetsOf } from "./faults.ts";
import type { Ground } from "./ground.ts";

export interface Comparison {
  compared: number;
  /** How often the reference gave each reason; `valid` for none. */
  reasons: Record<string, number>;
  /** One line per difference; empty when there is none. */
  differences: string[];
}

const ALLOWED_FACTORIES = [WALLET_FACTORY];
/** Enough to keep the node busy, and few enough for its batches. */
const CONCURRENCY = 64;

export async function compareAll(ground: Ground, cases: readonly Case[]): Promise<Comparison> {
  const askReference = referenceOn(ground.rpcUrl);
  const network = openNetwork(ground);
  const reasons: Record<string, number> = {};
  const differences: string[] = [];
  let next = 0;
  const work = async () => {
    for (let item = cases[next++]; item; item = cases[next++]) {
      const [ours, reference] = await Promise.all([askOurs(network, item, ground), askReference(item)]);
      const reason = reference.split(" ")[0] ?? "";
      reasons[reason] = (reasons[reason] ?? 0) + 1;
      if (ours !== reference) differences.push(`${item.label}: ${ours}, the reference: ${reference}`);
    }
  };
  await atSecond(ground.nowSeconds, () => Promise.all(Array.from({ length: CONCURRENCY }, work)));
  return { compared: cases.length, reasons, differences };
}

/** Below the allowlist: every asset of the cases is on it, and no amount is too small. */
function openNetwork(ground: Ground): VerifyingNetwork {
  const tokens = assetsOf(ground).map((address) => ({
    address,
    symbol: "ANY",
    decimals: 6,
    domain: null,
    minimumAtomic: 0n,
    isDollar: false,
  }));
  return servedNetwork(ground.rpcUrl, { tokens, allowedFactories: ALLOWED_FACTORIES });
}

async function askOurs(network: VerifyingNetwork, { payment }: Case, ground: Ground): Promise<string> {
  const nowMs = ground.nowSeconds * 1_000;
  const verdict = await verifyPayment(payment, { network, rpc: rpcOf(network), nowMs, purpose: "verify" });
  return inWords(verdict.ok, verdict.ok ? undefined : verdict.reason, payment.payer);
}

function referenceOn(rpcUrl: string): (item: Case) => Promise<string> {
  const client = createWalletClient({
    account: privateKeyToAccount(RELAYER.key),
    chain: TEST_CHAIN,
    transport: http(rpcUrl, { batch: true }),
  }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({ ...client, address: RELAYER.address } as never);
  const exact = new ExactEvmScheme(signer, { eip6492AllowedFactories: ALLOWED_FACTORIES });
  const upto = new UptoEvmScheme(signer);
  return async ({ payment }) => {
    const mechanism = payment.scheme === "upto" ? upto : exact;
    const { isValid, invalidReason, payer } = await mechanism.verify(payment.payload, payment.requirements);
    return inWords(isValid, invalidReason, payer);
  };
}

function inWords(isValid: boolean, reason: string | undefined, payer: string | undefined): string {
  return `${isValid ? "valid" : (reason ?? "no reason")} of ${payer ?? "nobody"}`;
}

/** The mechanisms read the clock themselves. */
async function atSecond(nowSeconds: number, run: () => Promise<unknown>): Promise<void> {
  const realNow = Date.now;
  Date.now = () => nowSeconds * 1_000;
  try {
    await run();
  } finally {
    Date.now = realNow;
  }
}
