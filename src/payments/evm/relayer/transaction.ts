// Signs a relayer's transaction. Pure: the same stored fields and key always give the same bytes and hash (RFC 6979),
// so whoever signs again after a crash signs the same transaction.

import type { Address, Hex } from "viem";
import { keccak256, numberToHex, serializeTransaction } from "viem/utils";
import { signHash } from "../../../platform/secp256k1-keys.ts";
import type { Fees } from "./relayer-lane.ts";

export interface TransactionFields {
  chainId: number;
  nonce: number;
  to: Address;
  data: Hex;
  gas: bigint;
  fees: Fees;
}

export interface SignedTransaction {
  raw: Hex;
  /** Known before anything is sent: a lost answer loses no transaction. */
  hash: Hex;
}

/** Value is always 0: a relayer pays for gas and for nothing else. */
export function signTransaction(fields: TransactionFields, key: Hex): SignedTransaction {
  const { chainId, nonce, to, data, gas, fees } = fields;
  const transaction = { type: "eip1559", chainId, nonce, to, data, gas, value: 0n, ...fees } as const;
  const { r, s, isOdd } = signHash(keccak256(serializeTransaction(transaction), "bytes"), BigInt(key));
  const signature = { r: word(r), s: word(s), yParity: isOdd ? 1 : 0 };
  const raw = serializeTransaction(transaction, signature);
  return { raw, hash: keccak256(raw) };
}

function word(value: bigint): Hex {
  return numberToHex(value, { size: 32 });
}
