// What a sum in dollars may be paid with: the dollar tokens of the networks that are switched on. Pure.

import type { Address } from "viem";
import type { NetworkDescription, Token } from "./networks.ts";

/** An entry of a 402's `accepts` (x402 core spec, PaymentRequirements). */
export interface DollarOffer {
  scheme: "exact";
  network: string;
  asset: Address;
  amount: string;
  payTo: Address;
  maxTimeoutSeconds: number;
  extra: Record<string, string>;
}

/** Long enough for a person's wallet to ask, short enough that an unused signature dies soon. */
const MAX_TIMEOUT_SECONDS = 300;
const CENT_DECIMALS = 2;

/** One offer per dollar token, each of exactly `amountMinor` cents. A token's decimals are at least two. */
export function dollarOffers(
  networks: Iterable<Pick<NetworkDescription, "id" | "tokens">>,
  amountMinor: bigint,
  payTo: Address,
): DollarOffer[] {
  return [...networks].flatMap(({ id, tokens }) =>
    tokens
      .filter(({ isDollar, decimals }) => isDollar && decimals >= CENT_DECIMALS)
      .map(
        (token): DollarOffer => ({
          scheme: "exact",
          network: id,
          asset: token.address,
          amount: (amountMinor * 10n ** BigInt(token.decimals - CENT_DECIMALS)).toString(),
          payTo,
          maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
          extra: extraOf(token),
        }),
      ),
  );
}

/** How the token is moved, as published clients read it: by its EIP-712 domain, or by Permit2. */
function extraOf({ domain }: Token): Record<string, string> {
  return domain ?? { assetTransferMethod: "permit2" };
}
