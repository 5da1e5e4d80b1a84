// What one isolate has learnt about the code at addresses, so that verifies need not ask again: that a token stands,
// and that a payer is a contract. Bounded, without I/O, gone with the isolate. That a payer has no code is never
// remembered: accounts become contracts.

import type { Hex } from "viem";
import type { Payment } from "../payment.ts";

interface KnownToken {
  code: Hex;
  untilSeconds: number;
}

const knownTokens = new Map<string, KnownToken>();
/** A token that stands goes on standing; the published mechanisms believe it as long. */
const TOKEN_KNOWN_SECONDS = 900;
/** More than the allowlists of all networks hold; at 24 KiB of code a token, 5 MB at the very most. */
const MAX_KNOWN_TOKENS = 100;

export function rememberToken({ chainId, asset }: Payment, code: Hex, nowSeconds: number): void {
  if (knownTokens.size >= MAX_KNOWN_TOKENS) knownTokens.clear();
  knownTokens.set(`${chainId} ${asset}`, { code, untilSeconds: nowSeconds + TOKEN_KNOWN_SECONDS });
}

export function codeOfKnownToken({ chainId, asset }: Payment, nowSeconds: number): Hex | undefined {
  const known = knownTokens.get(`${chainId} ${asset}`);
  return known && known.untilSeconds > nowSeconds ? known.code : undefined;
}

/** Payers that were seen to be contracts: their next payment asks the wallet in the first round trip. */
const knownContracts = new Set<string>();
/** About 100 KB. Forgetting costs a round trip. */
const MAX_KNOWN_CONTRACTS = 1_000;

export function rememberContract({ chainId, payer }: Payment): void {
  if (knownContracts.size >= MAX_KNOWN_CONTRACTS) knownContracts.clear();
  knownContracts.add(`${chainId} ${payer}`);
}

export function isKnownContract({ chainId, payer }: Payment): boolean {
  return knownContracts.has(`${chainId} ${payer}`);
}
