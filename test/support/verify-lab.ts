// A chain, a node in front of it that can be told to fail, and the accounts that verify's field cases need. Used by the
// files of test/verify/, each with a chain of its own.

import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type Anvil, startAnvil } from "../../scripts/chain/anvil.ts";
import {
  ACCOUNTS,
  aPayment,
  approvePermit2,
  approvePermit2Data,
  BUYER,
  deployWallet,
  executeFromWallet,
  type FactoryWallet,
  type Hex,
  type PaymentOptions,
  transferUsdc,
  USDC,
  WALLET_FACTORY,
  walletOf,
} from "./chain.ts";
import { type FaultyNode, startFaultyNode } from "./faulty-node.ts";
import { type TestVerdict, type VerifySetting, verdictOn } from "./verify.ts";

/** A provider's key, as it stands in an operator's URL: it must never come back. */
export const PROVIDER_KEY = "s3cr3t-provider-key";
export const ATTACKER = ACCOUNTS[5]?.address as Hex;
/** Holds USDC, but Permit2 may not move it. */
export const STRANGER = ACCOUNTS[3];

export let anvil: Anvil;
export let node: FaultyNode;
/** Deployed, funded, and Permit2 may move its USDC. */
export let wallet: FactoryWallet;

/** Starts the chain and the node before the tests of the calling file, and stops them after. */
export function useVerifyLab(): void {
  beforeAll(async () => {
    anvil = await startAnvil();
    const { rpcUrl } = anvil;
    node = await startFaultyNode(rpcUrl, `/v2/${PROVIDER_KEY}`);
    await approvePermit2(rpcUrl, BUYER.address);
    wallet = walletOf(BUYER, `0x${"01".repeat(32)}`);
    await deployWallet(rpcUrl, wallet);
    await transferUsdc(rpcUrl, BUYER.address, wallet.address, 1_000_000n);
    await executeFromWallet(rpcUrl, wallet, USDC, approvePermit2Data());
  });
  afterAll(async () => {
    await node?.stop();
    await anvil?.stop();
  });
  beforeEach(() => {
    node.behave({});
    node.requests.length = 0;
  });
}

export async function verify(
  options: PaymentOptions = {},
  setting: VerifySetting = {},
): Promise<TestVerdict> {
  return verdictOn(node.url, await aPayment(options), setting);
}

export const VALID: TestVerdict = { isValid: true, reason: "", status: 200, told: "" };

export const refused = (reason: string, status = 200) =>
  expect.objectContaining({ isValid: false, reason, status }) as unknown as TestVerdict;

export const trustsFactory: VerifySetting = { change: { allowedFactories: [WALLET_FACTORY] } };
