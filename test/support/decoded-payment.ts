// `decodedPayment({...})`: a Payment as the rules see it, for tests that need no signature and no chain.

import type { Payment } from "../../src/payments/payment.ts";
import { BUYER, CHAIN_ID, NETWORK, SELLER, USDC } from "./chain.ts";

/** EIP-3009, one cent from BUYER to SELLER; every field can be replaced. */
export function decodedPayment(change: Partial<Payment> = {}): Payment {
  return {
    scheme: "exact",
    method: "eip3009",
    network: NETWORK,
    chainId: CHAIN_ID,
    payer: BUYER.address,
    payTo: SELLER.address,
    asset: USDC,
    amountAtomic: 10_000n,
    signedAtomic: 10_000n,
    nonce: `0x${"ab".repeat(32)}`,
    validAfterSeconds: 0n,
    validBeforeSeconds: 2_000_000_000n,
    signature: `0x${"11".repeat(64)}1b`,
    facilitator: null,
    payload: {} as Payment["payload"],
    requirements: {} as Payment["requirements"],
    ...change,
  };
}
