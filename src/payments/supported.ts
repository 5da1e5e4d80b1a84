// What this facilitator takes: exactly the (scheme, network) pairs that verify accepts, and the accounts that settle.
// Pure.

import type { Address } from "viem";
import { SCHEMES } from "./evm/mechanisms.ts";
import type { Scheme } from "./payment.ts";

/** Extensions whose blocks in a payment mean something here. The mechanisms see none of them. */
export const EXTENSIONS = ["bazaar"] as const;

export interface SupportedKind {
  x402Version: 2;
  scheme: Scheme;
  network: string;
  extra?: Record<string, string>;
}

export interface Supported {
  kinds: SupportedKind[];
  extensions: string[];
  signers: Record<string, Address[]>;
}

/** @param networks - the networks that are switched on and may move money. */
export function describeSupported(
  networks: Iterable<{ id: string; relayers(): readonly Address[] }>,
): Supported {
  const served = [...networks];
  const kinds = served.flatMap(({ id, relayers }) =>
    SCHEMES.map((scheme): SupportedKind => {
      const kind = { x402Version: 2, scheme, network: id } as const;
      const facilitator = relayers()[0];
      // The payer signs who may settle; a payment that names another of our accounts is good too.
      return scheme === "upto" && facilitator
        ? { ...kind, extra: { facilitatorAddress: facilitator } }
        : kind;
    }),
  );
  const signers = [...new Set(served.flatMap(({ relayers }) => [...relayers()]))];
  return { kinds, extensions: [...EXTENSIONS], signers: { "eip155:*": signers } };
}
