// `aPayment({...})`: payments as a buyer's client would send them, signed here with the test chain's public keys.
// Pure viem, so it runs in Node and in workerd. What is not named has a sensible default; every field can be wrong.

import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { getAddress, type TypedDataDomain, toHex } from "viem";
import {
  ACCOUNTS,
  EXACT_PERMIT2_PROXY,
  type Hex,
  NETWORK,
  UPTO_PERMIT2_PROXY,
  USDC,
  USDC_DOMAIN,
} from "../../scripts/chain/addresses.ts";
import {
  bytes32,
  digestOf,
  type Payer,
  type PaymentMethod,
  type SignatureForm,
  type SignedFields,
  signatureOf,
} from "./signing.ts";

/** The three that most payments are between. An upto payment names the relayer as its facilitator. */
export const [RELAYER, SELLER, BUYER] = ACCOUNTS;

/** One cent in USDC, in millionths. */
export const DEFAULT_AMOUNT = 10_000n;

const DEFAULT_TIMEOUT_SECONDS = 300;
/** Signed as valid from a while ago, as clocks differ. */
const BACKDATED_SECONDS = 600n;

export interface PaymentOptions extends SignatureForm {
  method?: PaymentMethod;
  /** A plain account, or a smart wallet whose owner signs (ERC-1271). Default BUYER. */
  payer?: Payer;

  amount?: bigint;
  payTo?: Hex;
  asset?: Hex;
  network?: `${string}:${string}`;
  maxTimeoutSeconds?: number;
  /** Replaces `extra` whole, in the requirements and in the payload's copy. */
  extra?: Record<string, unknown>;

  /** Signed with another content than the requirements ask for; sent as signed. */
  signed?: Partial<SignedFields>;
  /** Changed after signing: what is sent is not what was signed. */
  sent?: Partial<SignedFields>;
  /** The domain signed over; by default the asset's as `extra` names it, or Permit2's. */
  domain?: TypedDataDomain;
  signature?: Hex;

  /** Overrides in the server's requirements only (for upto: `{ amount }` is the charge). */
  requirements?: Partial<PaymentRequirements>;
  /** Overrides in the payload's `accepted` only. */
  accepted?: Partial<PaymentRequirements>;
  /** `null` leaves it out. */
  resource?: PaymentPayload["resource"] | null;
  extensions?: Record<string, unknown>;
  /** Default: this machine's clock. */
  nowSeconds?: number;
}

export interface TestPayment {
  x402Version: 2;
  paymentPayload: PaymentPayload;
  paymentRequirements: PaymentRequirements;
}

/**
 * The body of a verify or settle call, ready to send.
 *
 * @example
 * await aPayment();                                              // 0.01 USDC, EIP-3009, BUYER to SELLER
 * await aPayment({ method: "upto", amount: 500n, requirements: { amount: "120" } });   // charge 120 of 500
 * await aPayment({ signed: { value: 1n } });                     // signed for less than the price
 * await aPayment({ payer: wallet, withDeployment: true });       // ERC-6492
 */
export async function aPayment(options: PaymentOptions = {}): Promise<TestPayment> {
  const { method = "eip3009", payer = BUYER, amount = DEFAULT_AMOUNT, payTo = SELLER.address } = options;
  const base: PaymentRequirements = {
    scheme: method === "upto" ? "upto" : "exact",
    network: options.network ?? NETWORK,
    asset: options.asset ?? USDC,
    amount: amount.toString(),
    payTo,
    maxTimeoutSeconds: options.maxTimeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    extra: options.extra ?? defaultExtra(method),
  };
  const signed: SignedFields = { ...defaultFields(options, base, payer.address), ...options.signed };
  const digest = digestOf(method, signed, base, options.domain);
  const signature = options.signature ?? (await signatureOf(digest, payer, options));
  const sent: SignedFields = { ...signed, ...options.sent };
  const resource =
    options.resource === undefined ? { url: "https://seller.example/weather" } : options.resource;
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      ...(resource && { resource }),
      accepted: { ...base, ...options.accepted },
      payload:
        method === "eip3009" ? eip3009Payload(sent, signature) : permit2Payload(method, sent, signature),
      ...(options.extensions && { extensions: options.extensions }),
    },
    paymentRequirements: { ...base, ...options.requirements },
  };
}

function defaultExtra(method: PaymentMethod): Record<string, unknown> {
  if (method === "eip3009") return { ...USDC_DOMAIN };
  const extra = { ...USDC_DOMAIN, assetTransferMethod: "permit2" };
  return method === "upto" ? { ...extra, facilitatorAddress: RELAYER.address } : extra;
}

function defaultFields(options: PaymentOptions, base: PaymentRequirements, from: Hex): SignedFields {
  const now = BigInt(options.nowSeconds ?? Math.floor(Date.now() / 1000));
  return {
    from,
    to: getAddress(base.payTo),
    value: BigInt(base.amount),
    validAfter: now - BACKDATED_SECONDS,
    validBefore: now + BigInt(base.maxTimeoutSeconds),
    nonce: BigInt(toHex(crypto.getRandomValues(new Uint8Array(32)))),
    token: getAddress(base.asset),
    spender: options.method === "upto" ? UPTO_PERMIT2_PROXY : EXACT_PERMIT2_PROXY,
    facilitator: RELAYER.address,
  };
}

function eip3009Payload(fields: SignedFields, signature: Hex): Record<string, unknown> {
  const authorization = {
    from: fields.from,
    to: fields.to,
    value: fields.value.toString(),
    validAfter: fields.validAfter.toString(),
    validBefore: fields.validBefore.toString(),
    nonce: bytes32(fields.nonce),
  };
  return { signature, authorization };
}

function permit2Payload(
  method: PaymentMethod,
  fields: SignedFields,
  signature: Hex,
): Record<string, unknown> {
  const permit2Authorization = {
    from: fields.from,
    permitted: { token: fields.token, amount: fields.value.toString() },
    spender: fields.spender,
    nonce: fields.nonce.toString(),
    deadline: fields.validBefore.toString(),
    witness: {
      to: fields.to,
      ...(method === "upto" && { facilitator: fields.facilitator }),
      validAfter: fields.validAfter.toString(),
    },
  };
  return { signature, permit2Authorization };
}
