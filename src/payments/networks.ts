// The networks and tokens that this repository describes. Describing a network switches nothing on: a network serves
// once the operator gives it an RPC URL and a relayer key (config.ts). Pure data; the catalog prices offers by the
// same table.

import type { Address } from "viem";

/** One token a relayer may move. Amounts are atomic units. */
export interface Token {
  address: Address;
  symbol: string;
  decimals: number;
  /** EIP-712 domain of its EIP-3009; null where the token has none and only Permit2 moves it. */
  domain: { name: string; version: string } | null;
  /** Smallest payment worth its gas; a smaller one is refused before anything is read. */
  minimumAtomic: bigint;
  /** Pegged one to one to the US dollar, so that a price in dollars can be computed from it. */
  isDollar: boolean;
}

export interface NetworkDescription {
  /** CAIP-2 in canonical form. */
  id: `eip155:${number}`;
  chainId: number;
  name: string;
  tokens: readonly Token[];
  /** Depth at which a receipt counts; 1 = mined. */
  confirmations: number;
  /** Distance below the head that counts as final; null asks the node for its `finalized` block. */
  finalityBlocks: number | null;
  /** Null where blocks come irregularly: then a head's age says nothing about the node. */
  blockTimeMs: number | null;
}

// A tenth of a cent: below it, a transfer's gas costs more than the payment on every network described here.
const TENTH_OF_A_CENT_6 = 1_000n;
const TENTH_OF_A_CENT_18 = 1_000_000_000_000_000n;

function usdc(address: Address, domainName: string): Token {
  return {
    address,
    symbol: "USDC",
    decimals: 6,
    domain: { name: domainName, version: "2" },
    minimumAtomic: TENTH_OF_A_CENT_6,
    isDollar: true,
  };
}

export const NETWORKS: readonly NetworkDescription[] = [
  {
    id: "eip155:8453",
    chainId: 8453,
    name: "Base",
    tokens: [usdc("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USD Coin")],
    confirmations: 1,
    finalityBlocks: null,
    blockTimeMs: 2_000,
  },
  {
    id: "eip155:84532",
    chainId: 84532,
    name: "Base Sepolia",
    tokens: [usdc("0x036CbD53842c5426634e7929541eC2318f3dCF7e", "USDC")],
    confirmations: 1,
    finalityBlocks: null,
    blockTimeMs: 2_000,
  },
  {
    id: "eip155:56",
    chainId: 56,
    name: "BNB Smart Chain",
    tokens: [
      {
        address: "0x55d398326f99059fF775485246999027B3197955",
        symbol: "USDT",
        decimals: 18,
        domain: null,
        minimumAtomic: TENTH_OF_A_CENT_18,
        isDollar: true,
      },
      {
        address: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
        symbol: "USDC",
        decimals: 18,
        domain: null,
        minimumAtomic: TENTH_OF_A_CENT_18,
        isDollar: true,
      },
      {
        address: "0x8d0D000Ee44948FC98c9B98A4FA4921476f08B0d",
        symbol: "USD1",
        decimals: 18,
        domain: null,
        minimumAtomic: TENTH_OF_A_CENT_18,
        isDollar: true,
      },
    ],
    confirmations: 2,
    finalityBlocks: null,
    blockTimeMs: 750,
  },
  {
    id: "eip155:137",
    chainId: 137,
    name: "Polygon",
    tokens: [usdc("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USD Coin")],
    confirmations: 2,
    finalityBlocks: null,
    blockTimeMs: 2_000,
  },
  {
    id: "eip155:42161",
    chainId: 42161,
    name: "Arbitrum One",
    tokens: [usdc("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USD Coin")],
    confirmations: 1,
    finalityBlocks: null,
    blockTimeMs: null,
  },
  {
    id: "eip155:43114",
    chainId: 43114,
    name: "Avalanche C-Chain",
    tokens: [usdc("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USD Coin")],
    confirmations: 1,
    finalityBlocks: null,
    blockTimeMs: 2_000,
  },
];

export function describeNetwork(id: string): NetworkDescription | undefined {
  return NETWORKS.find((network) => network.id === id);
}

/** The token at `address` (any letter case) on `network`, or undefined when it is not in the allowlist. */
export function tokenOf(network: { tokens: readonly Token[] }, address: string): Token | undefined {
  const wanted = address.toLowerCase();
  return network.tokens.find((token) => token.address.toLowerCase() === wanted);
}
