// The EIP-712 digest that the payer signed, for each way to pay. Pure. The payment's own fields go in, so that what
// is checked and what is broadcast are one object.

import type { Hex } from "viem";
import { hashTypedData } from "viem/utils";
import { type Payment, signedReceiver } from "../payment.ts";
import { EXACT_PROXY_ADDRESS, PERMIT2_ADDRESS, UPTO_PROXY_ADDRESS } from "./contracts.ts";

const EIP3009_TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

const PERMIT2_TYPES = {
  PermitWitnessTransferFrom: [
    { name: "permitted", type: "TokenPermissions" },
    { name: "spender", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
    { name: "witness", type: "Witness" },
  ],
  TokenPermissions: [
    { name: "token", type: "address" },
    { name: "amount", type: "uint256" },
  ],
} as const;

const EXACT_WITNESS = [
  { name: "to", type: "address" },
  { name: "validAfter", type: "uint256" },
] as const;

const UPTO_WITNESS = [
  { name: "to", type: "address" },
  { name: "facilitator", type: "address" },
  { name: "validAfter", type: "uint256" },
] as const;

/** What a wallet contract is asked about, and what a plain account's signature is recovered from. */
export function signedDigest(payment: Payment): Hex {
  if (payment.method === "eip3009") return eip3009Digest(payment);
  return payment.facilitator === null ? exactDigest(payment) : uptoDigest(payment, payment.facilitator);
}

function eip3009Digest(payment: Payment): Hex {
  const { name, version } = payment.requirements.extra as { name: string; version: string };
  return hashTypedData({
    domain: { name, version, chainId: payment.chainId, verifyingContract: payment.asset },
    types: EIP3009_TYPES,
    primaryType: "TransferWithAuthorization",
    message: {
      from: payment.payer,
      to: signedReceiver(payment),
      value: payment.signedAtomic,
      validAfter: payment.validAfterSeconds,
      validBefore: payment.validBeforeSeconds,
      nonce: payment.nonce as Hex,
    },
  });
}

function exactDigest(payment: Payment): Hex {
  return hashTypedData({
    domain: permit2Domain(payment),
    types: { ...PERMIT2_TYPES, Witness: EXACT_WITNESS },
    primaryType: "PermitWitnessTransferFrom",
    message: {
      ...permitOf(payment),
      spender: EXACT_PROXY_ADDRESS,
      witness: { to: signedReceiver(payment), validAfter: payment.validAfterSeconds },
    },
  });
}

function uptoDigest(payment: Payment, facilitator: Hex): Hex {
  return hashTypedData({
    domain: permit2Domain(payment),
    types: { ...PERMIT2_TYPES, Witness: UPTO_WITNESS },
    primaryType: "PermitWitnessTransferFrom",
    message: {
      ...permitOf(payment),
      spender: UPTO_PROXY_ADDRESS,
      witness: { to: signedReceiver(payment), facilitator, validAfter: payment.validAfterSeconds },
    },
  });
}

function permit2Domain(payment: Payment) {
  return { name: "Permit2", chainId: payment.chainId, verifyingContract: PERMIT2_ADDRESS } as const;
}

function permitOf(payment: Payment) {
  return {
    permitted: { token: payment.asset, amount: payment.signedAtomic },
    nonce: BigInt(payment.nonce),
    deadline: payment.validBeforeSeconds,
  };
}
