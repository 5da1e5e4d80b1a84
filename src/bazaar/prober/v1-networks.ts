// Version 1 of x402 called networks by name. Origins still answer in it, so the names are translated before their
// offers are compared with the catalog's. Pure data.

const CHAIN_IDS: Readonly<Record<string, number>> = {
  ethereum: 1,
  bsc: 56,
  polygon: 137,
  monad: 143,
  sei: 1_329,
  "sei-testnet": 1_328,
  abstract: 2_741,
  peaq: 3_338,
  iotex: 4_689,
  base: 8_453,
  arbitrum: 42_161,
  celo: 42_220,
  "avalanche-fuji": 43_113,
  avalanche: 43_114,
  "polygon-amoy": 80_002,
  "base-sepolia": 84_532,
  sepolia: 11_155_111,
};

const SOLANA: Readonly<Record<string, string>> = {
  solana: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  "solana-devnet": "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
};

/** The CAIP-2 id of a version 1 name; a CAIP-2 id stays itself (some sellers mix the two); undefined when unknown. */
export function networkOfV1Name(name: string): string | undefined {
  if (name.includes(":")) return name;
  if (Object.hasOwn(SOLANA, name)) return SOLANA[name];
  return Object.hasOwn(CHAIN_IDS, name) ? `eip155:${CHAIN_IDS[name]}` : undefined;
}
