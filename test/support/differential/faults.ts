// What can be wrong with a payment, one thing at a time; cases.ts combines them. A fault changes a draft before or
// after it is signed. Some are none: they stand at the edge of what is still right.

import { maxUint256, serializeErc6492Signature, toHex } from "viem";
import { type Hex, type PaymentOptions, PERMIT2, type SignedFields, USDC, USDC_DOMAIN } from "../chain.ts";
import { accountOf, CARELESS_DOMAIN, type Ground } from "./ground.ts";
import type { Chance } from "./random.ts";

/** A payment in the making. */
export interface Draft {
  options: PaymentOptions & {
    amount: bigint;
    signed: Partial<SignedFields>;
    sent: Partial<SignedFields>;
    accepted: NonNullable<PaymentOptions["accepted"]>;
  };
  /** What becomes of the signature. */
  reforge: (signature: Hex) => Hex;
}

export interface Setting {
  chance: Chance;
  ground: Ground;
}

export type Fault = (draft: Draft, setting: Setting) => void;

/** secp256k1's group order. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const OTHER = accountOf("somebody else");

/** Of every way to pay. */
const COMMON: Record<string, Fault> = {
  none: () => {},
  "another scheme accepted": ({ options }) => {
    options.accepted.scheme = options.method === "upto" ? "exact" : "upto";
  },
  "another network accepted": ({ options }) => {
    options.accepted.network = "eip155:8453";
  },
  "another receiver": ({ options }) => {
    options.signed.to = OTHER.address;
  },
  expired: ({ options }, { chance, ground }) => {
    options.signed.validBefore = BigInt(chance.pick([0, ...around(ground, [-100, -1, 0, 1, 5])]));
  },
  "about to expire": ({ options }, { chance, ground }) => {
    options.signed.validBefore = BigInt(chance.pick(around(ground, [6, 7])));
  },
  "not valid yet": ({ options }, { chance, ground }) => {
    options.signed.validAfter = chance.pick([...around(ground, [1, 2, 600]).map(BigInt), maxUint256]);
  },
  "valid from now": ({ options }, { chance, ground }) => {
    options.signed.validAfter = BigInt(chance.pick([0, ...around(ground, [-1, 0])]));
  },
  "another value": ({ options }, { chance }) => {
    const { amount } = options;
    options.signed.value = chance.pick([amount === 0n ? 2n : amount - 1n, amount + 1n, 0n, maxUint256]);
  },
  "more than there is": ({ options }) => {
    options.amount = 5_000_000_000_000n;
  },
  nothing: ({ options }) => {
    options.amount = 0n;
  },
  "changed after signing": ({ options }, { chance, ground }) => {
    const changes: Partial<SignedFields>[] = [
      { from: chance.pick(ground.rich).address },
      { to: OTHER.address },
      { value: options.amount + 1n },
      { validAfter: 1n },
      { validBefore: BigInt(ground.nowSeconds + 7_000) },
      { nonce: chance.bits(256) },
    ];
    Object.assign(options.sent, chance.pick(changes));
  },
  "another key": ({ options }) => {
    if (options.payer && "key" in options.payer) options.payer = { ...options.payer, key: OTHER.key };
    else if (options.payer) options.payer = { ...options.payer, owner: OTHER };
  },
  "another domain": ({ options }, { chance }) => {
    options.domain = chance.pick([{ name: "Other" }, { chainId: 1 }, { verifyingContract: OTHER.address }]);
  },
  "high s": (draft) => {
    draft.reforge = (signature) => {
      const { r, s, v } = split(signature);
      return join({ r, s: ORDER - s, v: 55 - v });
    };
  },
  "other recovery id": (draft) => {
    draft.reforge = (signature) => join({ ...split(signature), v: 55 - split(signature).v });
  },
  "recovery id from 0": (draft) => {
    draft.reforge = (signature) => join({ ...split(signature), v: split(signature).v - 27 });
  },
  "r or s out of range": (draft, { chance }) => {
    const number = chance.pick([0n, ORDER, maxUint256]);
    const name = chance.pick(["r", "s"]);
    draft.reforge = (signature) => join({ ...split(signature), [name]: number });
  },
  "65 bytes of chance": (draft, { chance }) => {
    const signature = join({ r: chance.bits(256), s: chance.bits(256), v: chance.pick([27, 28]) });
    draft.reforge = () => signature;
  },
  "another length": (draft, { chance }) => {
    const bytes = chance.pick([1, 32, 62, 63, 64, 66, 67, 96, 128, 300]);
    const padding = toHex(chance.bits(2_400), { size: 300 }).slice(2);
    draft.reforge = (signature) =>
      `0x${(chance.int(2) ? padding : signature.slice(2) + padding).slice(0, 2 * bytes)}`;
  },
  "asset without code": ({ options }) => {
    options.asset = OTHER.address;
  },
  "asset without EIP-3009": ({ options }, { ground }) => {
    options.asset = ground.plainToken;
  },
  "asset that checks no signature": ({ options }, { ground }) => {
    options.asset = ground.carelessToken;
    options.extra = { ...options.extra, ...CARELESS_DOMAIN };
  },
};

export const EIP3009_FAULTS: Record<string, Fault> = {
  ...COMMON,
  "wrapped in a stranger's deployment": (draft) => {
    draft.reforge = (signature) =>
      serializeErc6492Signature({ address: OTHER.address, data: "0x1234", signature });
  },
  "no domain": ({ options }, { chance }) => {
    const { name, version } = USDC_DOMAIN;
    options.extra = chance.pick([{}, { name }, { version }, { name: "", version }]);
  },
  "another name than the token's": ({ options }) => {
    options.extra = { ...USDC_DOMAIN, name: "USD Coin" };
  },
  "another version than the token's": ({ options }) => {
    options.extra = { ...USDC_DOMAIN, version: "1" };
  },
};

export const PERMIT2_FAULTS: Record<string, Fault> = {
  ...COMMON,
  "another spender": ({ options }, { chance }) => {
    options.signed.spender = chance.pick([PERMIT2, OTHER.address]);
  },
  "another token": ({ options }, { chance, ground }) => {
    options.signed.token = chance.pick([ground.plainToken, OTHER.address]);
  },
};

export const UPTO_FAULTS: Record<string, Fault> = {
  ...PERMIT2_FAULTS,
  "another facilitator": ({ options }) => {
    options.signed.facilitator = OTHER.address;
  },
};

/** Every asset that the faults know, for the allowlist. */
export function assetsOf(ground: Ground): Hex[] {
  return [USDC, OTHER.address, ground.plainToken, ground.carelessToken];
}

function around({ nowSeconds }: Ground, offsets: readonly number[]): number[] {
  return offsets.map((offset) => nowSeconds + offset);
}

interface Parts {
  r: bigint;
  s: bigint;
  v: number;
}

function split(signature: Hex): Parts {
  return {
    r: BigInt(signature.slice(0, 66)),
    s: BigInt(`0x${signature.slice(66, 130)}`),
    v: Number.parseInt(signature.slice(130, 132), 16),
  };
}

/** 65 bytes. */
function join({ r, s, v }: Parts): Hex {
  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  return `0x${word(r)}${word(s)}${v.toString(16).padStart(2, "0")}`;
}
