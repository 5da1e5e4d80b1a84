// What a buyer without a Permit2 allowance may attach so that a facilitator sponsors it: an EIP-2612 permit, or a
// signed approve transaction. Souk offers neither, so these blocks exist to show that they change nothing.

import { hashTypedData } from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import {
  CHAIN_ID,
  type Hex,
  PERMIT2,
  type TestAccount,
  USDC,
  USDC_DOMAIN,
} from "../../scripts/chain/addresses.ts";

const PERMIT_TYPES = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** Gas and fees of the approve transaction: far above what the test chain asks. */
const APPROVE_GAS = 70_000n;
const APPROVE_FEE_WEI = 2_000_000_000n;

/** `extensions` with an EIP-2612 permit of `amount` for Permit2. `nonce` is the token's count of used permits. */
export async function eip2612Sponsoring(
  payer: TestAccount,
  { amount, nonce = 0n }: { amount: bigint; nonce?: bigint },
): Promise<Record<string, unknown>> {
  const deadline = BigInt(Math.floor(Date.now() / 1000) + 300);
  const hash = hashTypedData({
    domain: { ...USDC_DOMAIN, chainId: CHAIN_ID, verifyingContract: USDC },
    primaryType: "Permit",
    types: PERMIT_TYPES,
    message: { owner: payer.address, spender: PERMIT2, value: amount, nonce, deadline },
  });
  const info = {
    from: payer.address,
    asset: USDC,
    spender: PERMIT2,
    amount: amount.toString(),
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    signature: await sign({ hash, privateKey: payer.key, to: "hex" }),
    version: "1",
  };
  return { eip2612GasSponsoring: { info } };
}

/** `extensions` with a signed transaction to USDC, said to be an approve; `data` is what it really calls. */
export async function approvalSponsoring(
  payer: TestAccount,
  { data, nonce = 0 }: { data: Hex; nonce?: number },
): Promise<Record<string, unknown>> {
  const signedTransaction = await privateKeyToAccount(payer.key).signTransaction({
    chainId: CHAIN_ID,
    to: USDC,
    data,
    nonce,
    gas: APPROVE_GAS,
    maxFeePerGas: APPROVE_FEE_WEI,
    maxPriorityFeePerGas: 1n,
  });
  const amount = (2n ** 256n - 1n).toString();
  const info = {
    from: payer.address,
    asset: USDC,
    spender: PERMIT2,
    amount,
    signedTransaction,
    version: "1",
  };
  return { erc20ApprovalGasSponsoring: { info } };
}
