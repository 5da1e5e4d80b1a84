// What a payer signs, for EIP-3009 and for Permit2 with a witness, and signing it with a test key. Pure viem.

import type { PaymentRequirements } from "@x402/core/types";
import { getAddress, hashTypedData, serializeErc6492Signature, type TypedDataDomain, toHex } from "viem";
import { sign } from "viem/accounts";
import { type Hex, PERMIT2, type TestAccount } from "../../scripts/chain/addresses.ts";
import type { FactoryWallet, SmartWallet } from "./wallets.ts";

/** `eip3009` and `permit2` are ways to pay `exact`; `upto` is always paid through Permit2. */
export type PaymentMethod = "eip3009" | "permit2" | "upto";

export type Payer = TestAccount | SmartWallet | FactoryWallet;

/** What the payer signs, in one vocabulary for all methods; atomic units and Unix seconds. */
export interface SignedFields {
  from: Hex;
  to: Hex;
  /** EIP-3009 `value`, Permit2 `permitted.amount`: for upto the ceiling. */
  value: bigint;
  validAfter: bigint;
  /** EIP-3009 `validBefore`, Permit2 `deadline`. */
  validBefore: bigint;
  nonce: bigint;
  /** Permit2 only. */
  token: Hex;
  spender: Hex;
  /** upto only: who alone may settle. */
  facilitator: Hex;
}

export interface SignatureForm {
  /** Wraps a factory wallet's signature with its deployment (ERC-6492). */
  withDeployment?: boolean;
  /** A wallet's signature has 66 bytes unless this asks for the owner's bare 65. */
  bareOwnerSignature?: boolean;
}

const AUTHORIZATION_TYPES = {
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
};

function chainIdOf(requirements: PaymentRequirements): number {
  return Number(requirements.network.split(":")[1]);
}

/** What the payer signs; `domain` overrides the asset's or Permit2's. */
export function digestOf(
  method: PaymentMethod,
  fields: SignedFields,
  requirements: PaymentRequirements,
  domain: TypedDataDomain = {},
): Hex {
  return method === "eip3009"
    ? eip3009Digest(fields, requirements, domain)
    : permit2Digest(method, fields, requirements, domain);
}

function eip3009Digest(
  fields: SignedFields,
  requirements: PaymentRequirements,
  domain: TypedDataDomain,
): Hex {
  const { name, version } = requirements.extra as { name?: string; version?: string };
  return hashTypedData({
    domain: {
      ...(name !== undefined && { name }),
      ...(version !== undefined && { version }),
      chainId: chainIdOf(requirements),
      verifyingContract: getAddress(requirements.asset),
      ...domain,
    },
    primaryType: "TransferWithAuthorization",
    types: AUTHORIZATION_TYPES,
    message: { ...fields, nonce: bytes32(fields.nonce) },
  });
}

function permit2Digest(
  method: PaymentMethod,
  fields: SignedFields,
  requirements: PaymentRequirements,
  domain: TypedDataDomain,
): Hex {
  const witness = [
    { name: "to", type: "address" },
    ...(method === "upto" ? [{ name: "facilitator", type: "address" }] : []),
    { name: "validAfter", type: "uint256" },
  ];
  const types: Record<string, { name: string; type: string }[]> = { ...PERMIT2_TYPES, Witness: witness };
  return hashTypedData({
    domain: { name: "Permit2", chainId: chainIdOf(requirements), verifyingContract: PERMIT2, ...domain },
    primaryType: "PermitWitnessTransferFrom",
    types,
    message: {
      permitted: { token: fields.token, amount: fields.value },
      spender: fields.spender,
      nonce: fields.nonce,
      deadline: fields.validBefore,
      witness: { to: fields.to, facilitator: fields.facilitator, validAfter: fields.validAfter },
    },
  });
}

/** The payer's signature, or the owner's for a wallet, in the form a wallet's signature has. */
export async function signatureOf(digest: Hex, payer: Payer, form: SignatureForm): Promise<Hex> {
  if ("key" in payer) return sign({ hash: digest, privateKey: payer.key, to: "hex" });
  const ownerSignature = await sign({ hash: digest, privateKey: payer.owner.key, to: "hex" });
  const signature: Hex = form.bareOwnerSignature ? ownerSignature : `${ownerSignature}01`;
  if (!form.withDeployment || !("factory" in payer)) return signature;
  return serializeErc6492Signature({ address: payer.factory, data: payer.factoryCalldata, signature });
}

export function bytes32(value: bigint): Hex {
  return toHex(value, { size: 32 });
}
