// The published mechanisms, looked up by scheme. They decide whether to pay and what to send. One instance per
// request around that request's signer: their registry is not used (two networks in one registration would accept
// every EVM chain), they see no extension, and their memory of pending settlements is always empty (a hit in it
// skips every check of the requirements). Loaded with the first payment that needs them, because the usual one does
// not (plain-transfer.ts) and every start would wait.

import type { FacilitatorContext, SettleResponse, VerifyResponse } from "@x402/core/types";
import type { FacilitatorEvmSigner } from "@x402/evm";
import type { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { UptoEvmScheme } from "@x402/evm/upto/facilitator";
import type { Address } from "viem";
import type { Payment, Scheme } from "../payment.ts";

export interface Mechanism {
  verify(payment: Payment): Promise<VerifyResponse>;
  /** Checks and simulates again by itself, then hands its transactions to the signer. */
  settle(payment: Payment): Promise<SettleResponse>;
}

export interface MechanismOptions {
  signer: FacilitatorEvmSigner;
  /** ERC-6492 factories the operator trusts; empty refuses wallets that are not deployed yet. */
  allowedFactories: readonly Address[];
}

const MAKERS: Record<Scheme, (options: MechanismOptions) => Promise<ExactEvmScheme | UptoEvmScheme>> = {
  exact: async ({ signer, allowedFactories }) => {
    const { ExactEvmScheme } = await import("@x402/evm/exact/facilitator");
    return new ExactEvmScheme(signer, {
      eip6492AllowedFactories: [...allowedFactories],
      simulateInSettle: true,
      pendingSettlementStore: EMPTY_STORE,
    });
  },
  // Simulates in settle without being told.
  upto: async ({ signer }) => {
    const { UptoEvmScheme } = await import("@x402/evm/upto/facilitator");
    return new UptoEvmScheme(signer, { pendingSettlementStore: EMPTY_STORE });
  },
};

/** The schemes that verify accepts and `/supported` lists, on every configured network. */
export const SCHEMES = Object.keys(MAKERS) as readonly Scheme[];

export async function mechanismOf(scheme: Scheme, options: MechanismOptions): Promise<Mechanism> {
  const mechanism = await MAKERS[scheme](options);
  return {
    verify: ({ payload, requirements }) => mechanism.verify(payload, requirements, NO_EXTENSIONS),
    settle: ({ payload, requirements }) => mechanism.settle(payload, requirements, NO_EXTENSIONS),
  };
}

const EMPTY_STORE = {
  get: async () => undefined,
  set: async () => {},
  delete: async () => {},
};

const NO_EXTENSIONS: FacilitatorContext = { getExtension: () => undefined };
