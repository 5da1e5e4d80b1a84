// What a mechanism will ask the chain about a payment, encoded exactly as it will ask. Pure. A wrong prediction costs
// a round trip, never correctness: the reader asks for what was not predicted when it is wanted. The payment's terms
// have been judged before (judge-terms.ts), so payTo and asset are also what the payer signed.

import type { Address, Hex } from "viem";
import { encodeFunctionData, isAddressEqual, parseErc6492Signature } from "viem/utils";
import type { Payment } from "../payment.ts";
import {
  EXACT_PROXY_ABI,
  EXACT_PROXY_ADDRESS,
  MULTICALL3_ABI,
  MULTICALL3_ADDRESS,
  PERMIT2_ADDRESS,
  TOKEN_ABI,
  UPTO_PROXY_ABI,
  UPTO_PROXY_ADDRESS,
  WALLET_ABI,
} from "./contracts.ts";
import { signedDigest } from "./signed-digest.ts";

export interface ContractRead {
  to: Address;
  data: Hex;
}

export interface PredictedReads {
  /** Addresses whose code is asked for. */
  code: Address[];
  /** The call that would move the money, simulated. */
  transfer: ContractRead;
  /** The same behind its wallet's deployment, where a trusted factory is named. */
  deployingTransfer: ContractRead | null;
  /** ERC-1271, where the payer is or may be a contract. */
  wallet: ContractRead | null;
}

export interface PredictionHints {
  /** The payer was seen to be a contract before. A signature of another length than 65 bytes says so by itself. */
  payerMayHaveCode: boolean;
  /** Only a factory in this list is called, be it in a simulation. */
  allowedFactories: readonly Address[];
}

/** 65 bytes as hex with 0x. */
const ECDSA_SIGNATURE_CHARACTERS = 132;

export function predictReads(payment: Payment, hints: PredictionHints): PredictedReads {
  const { payer, asset, signature } = payment;
  const { inner, deployment } = unwrapSignature(signature);
  const isTrusted = hints.allowedFactories.some(
    (factory) => deployment !== null && isAddressEqual(factory, deployment.to),
  );
  const asksWallet = hints.payerMayHaveCode || signature.length !== ECDSA_SIGNATURE_CHARACTERS;
  return {
    code: [payer, asset],
    transfer: predictTransfer(payment),
    deployingTransfer:
      deployment && isTrusted ? tryAggregate([deployment, transferOf(payment, inner, AS_BYTES)]) : null,
    wallet: asksWallet ? { to: payer, data: encodeWalletQuestion(payment, inner) } : null,
  };
}

/** The transfer as its transaction makes it: by a payer whose account stands, with the inner signature. */
export function predictTransfer(payment: Payment): ContractRead {
  return transferOf(payment, unwrapSignature(payment.signature).inner);
}

/** An ERC-6492 signature's inner signature and the call that deploys its wallet; any other is its own inner one. */
export function unwrapSignature(signature: Hex): { inner: Hex; deployment: ContractRead | null } {
  const { address, data, signature: inner } = parseErc6492Signature(signature);
  return address && data
    ? { inner, deployment: { to: address, data } }
    : { inner: signature, deployment: null };
}

function encodeWalletQuestion(payment: Payment, signature: Hex): Hex {
  return encodeFunctionData({
    abi: WALLET_ABI,
    functionName: "isValidSignature",
    args: [signedDigest(payment), signature],
  });
}

/** Behind a deployment the mechanism always hands the token the signature as bytes. */
const AS_BYTES = "as_bytes";

function transferOf(payment: Payment, signature: Hex, form?: typeof AS_BYTES): ContractRead {
  if (payment.method === "permit2") return permit2Transfer(payment, signature);
  const { payer, payTo, signedAtomic, validAfterSeconds, validBeforeSeconds, nonce, asset } = payment;
  if (form !== AS_BYTES && signature.length === ECDSA_SIGNATURE_CHARACTERS) {
    return { to: asset, data: encodePlainTransfer(payment, signature) };
  }
  const args = [payer, payTo, signedAtomic, validAfterSeconds, validBeforeSeconds, nonce as Hex] as const;
  const data = encodeFunctionData({
    abi: TOKEN_ABI,
    functionName: "transferWithAuthorization",
    args: [...args, signature],
  });
  return { to: asset, data };
}

/** `transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)`. */
const PLAIN_TRANSFER_SELECTOR = "0xe3ee160e";

/** The usual call, written out: nine static words, and every verify and settle writes it. */
function encodePlainTransfer(payment: Payment, signature: Hex): Hex {
  const { payer, payTo, signedAtomic, validAfterSeconds, validBeforeSeconds, nonce } = payment;
  const words = [
    payer,
    payTo,
    hexOf(signedAtomic),
    hexOf(validAfterSeconds),
    hexOf(validBeforeSeconds),
    nonce,
    `0x${signature.slice(130)}`,
    signature.slice(0, 66),
    `0x${signature.slice(66, 130)}`,
  ];
  return `${PLAIN_TRANSFER_SELECTOR}${words.map((word) => word.slice(2).toLowerCase().padStart(64, "0")).join("")}`;
}

function hexOf(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function permit2Transfer(payment: Payment, signature: Hex): ContractRead {
  const { payer, payTo, asset, signedAtomic, validAfterSeconds, facilitator } = payment;
  const permit = {
    permitted: { token: asset, amount: signedAtomic },
    nonce: BigInt(payment.nonce),
    deadline: payment.validBeforeSeconds,
  };
  if (facilitator === null) {
    const args = [permit, payer, { to: payTo, validAfter: validAfterSeconds }, signature] as const;
    return {
      to: EXACT_PROXY_ADDRESS,
      data: encodeFunctionData({ abi: EXACT_PROXY_ABI, functionName: "settle", args }),
    };
  }
  const witness = { to: payTo, facilitator, validAfter: validAfterSeconds };
  const args = [permit, signedAtomic, payer, witness, signature] as const;
  return {
    to: UPTO_PROXY_ADDRESS,
    data: encodeFunctionData({ abi: UPTO_PROXY_ABI, functionName: "settle", args }),
  };
}

/** What a mechanism asks, in one call, once the simulated transfer failed: why? */
export function predictDiagnosis(payment: Payment): ContractRead {
  const { asset, payer } = payment;
  const balance = encodeFunctionData({ abi: TOKEN_ABI, functionName: "balanceOf", args: [payer] });
  if (payment.method === "permit2") {
    const proxy = payment.scheme === "upto" ? UPTO_PROXY_ADDRESS : EXACT_PROXY_ADDRESS;
    const allowanceArgs = [payer, PERMIT2_ADDRESS] as const;
    return tryAggregate([
      { to: proxy, data: encodeFunctionData({ abi: EXACT_PROXY_ABI, functionName: "PERMIT2" }) },
      { to: asset, data: balance },
      {
        to: asset,
        data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "allowance", args: allowanceArgs }),
      },
    ]);
  }
  const stateArgs = [payer, payment.nonce as Hex] as const;
  return tryAggregate([
    { to: asset, data: balance },
    { to: asset, data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "name" }) },
    { to: asset, data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "version" }) },
    {
      to: asset,
      data: encodeFunctionData({ abi: TOKEN_ABI, functionName: "authorizationState", args: stateArgs }),
    },
  ]);
}

function tryAggregate(reads: readonly ContractRead[]): ContractRead {
  const calls = reads.map(({ to, data }) => ({ target: to, callData: data }));
  const args = [false, calls] as const;
  return {
    to: MULTICALL3_ADDRESS,
    data: encodeFunctionData({ abi: MULTICALL3_ABI, functionName: "tryAggregate", args }),
  };
}
