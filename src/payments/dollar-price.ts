// What an amount of a token is worth in dollars, by the token table alone: a token that is not in it has no price, and
// none is guessed. The catalog sorts and filters by this.

import { describeNetwork, type NetworkDescription, type Token, tokenOf } from "./networks.ts";

/** Dollar tokens on networks that are described nowhere else: listings there are priced, payments are not served. */
const PRICED_ONLY: Record<string, readonly { address: string; decimals: number }[]> = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": [
    { address: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", decimals: 6 },
    { address: "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", decimals: 6 },
  ],
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": [
    { address: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU", decimals: 6 },
  ],
};

const MICROS_DECIMALS = 6;

/**
 * Millionths of a dollar, rounded up so that nothing looks cheaper than it is; null when the token is not in the table
 * or the sum is beyond exact integers. `served` are the networks as configured: their token lists come first.
 */
export function priceInUsdMicros(
  served: ReadonlyMap<string, Pick<NetworkDescription, "tokens">>,
  network: string,
  asset: string,
  amountAtomic: bigint,
): number | null {
  const decimals = dollarDecimals(served, network, asset);
  if (decimals === undefined) return null;
  const scale = 10n ** BigInt(Math.abs(decimals - MICROS_DECIMALS));
  const micros = decimals > MICROS_DECIMALS ? (amountAtomic + scale - 1n) / scale : amountAtomic * scale;
  return micros <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(micros) : null;
}

function dollarDecimals(
  served: ReadonlyMap<string, Pick<NetworkDescription, "tokens">>,
  network: string,
  asset: string,
): number | undefined {
  const description = served.get(network) ?? describeNetwork(network);
  const token: Token | undefined = description && tokenOf(description, asset);
  if (token) return token.isDollar ? token.decimals : undefined;
  return PRICED_ONLY[network]?.find(({ address }) => address === asset)?.decimals;
}
