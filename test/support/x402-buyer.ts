// A buyer by x402 for tests: a published scheme with one of anvil's keys, claims on disk, the rows it was told. No chain.

import { mkdtempSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";
import { onTestFinished } from "vitest";
import { NETWORK, USDC } from "../../scripts/chain/addresses.ts";
import { BUYER, SELLER } from "../../scripts/local-variables.ts";
import { type BuyerAuditRow, type BuyOptions, fileClaims } from "../../src/sdk/buyer.ts";

export const CENT_MICROS = 10_000n;
export const published = new ExactEvmScheme(privateKeyToAccount(BUYER.key));

let purchases = 0;

/** A purchase of its own for at most a cent, with a store of its own that goes with the test. */
export function aPurchase(changes: Partial<BuyOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "souk-claims-"));
  onTestFinished(() => fs.rm(folder, { recursive: true }));
  const rows: BuyerAuditRow[] = [];
  const options: BuyOptions = {
    paymentId: `purchase-${++purchases}`,
    maxUsdMicros: CENT_MICROS,
    claims: fileClaims(folder, fs),
    schemes: [{ network: NETWORK, scheme: published }],
    audit: (row) => rows.push(row),
    ...changes,
  };
  return { options, rows, folder };
}

/** A scheme that counts how often it signs. */
export function counting() {
  const counted = { scheme: "exact", signatures: 0, createPaymentPayload: published.createPaymentPayload };
  counted.createPaymentPayload = (...terms) => {
    counted.signatures++;
    return published.createPaymentPayload(...terms);
  };
  return counted;
}

export const offer = (changes: Partial<PaymentRequirements> = {}): PaymentRequirements => ({
  scheme: "exact",
  network: NETWORK,
  asset: USDC,
  amount: "10000",
  payTo: SELLER.address,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
  ...changes,
});
