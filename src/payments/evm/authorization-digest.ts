// The EIP-712 digest of an EIP-3009 authorization, hashed by hand: one struct of static words under a domain that
// hardly ever changes. Same value as signed-digest.ts, which hashes any typed data and takes seven times as long.
// Pure but for a bounded memory of domains.

import { keccak_256 } from "@noble/hashes/sha3";
import { utf8, writeHex } from "../../platform/bytes.ts";
import { type Payment, signedReceiver } from "../payment.ts";

const DOMAIN_TYPE = keccak_256(
  utf8("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
);
const AUTHORIZATION_TYPE = keccak_256(
  utf8(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)",
  ),
);

const WORD_BYTES = 32;

/** 32 bytes. The payment's method is `eip3009` and its `extra` names the token's domain (judge-terms.ts). */
export function authorizationDigest(payment: Payment): Uint8Array {
  const { payer, signedAtomic, validAfterSeconds, validBeforeSeconds, nonce } = payment;
  const struct = new Words(7);
  struct.bytes(AUTHORIZATION_TYPE);
  struct.hex(payer);
  struct.hex(signedReceiver(payment));
  struct.uint(signedAtomic);
  struct.uint(validAfterSeconds);
  struct.uint(validBeforeSeconds);
  struct.hex(nonce);
  const message = new Uint8Array(2 + 2 * WORD_BYTES);
  message.set([0x19, 0x01]);
  message.set(domainSeparator(payment), 2);
  message.set(keccak_256(struct.words), 2 + WORD_BYTES);
  return keccak_256(message);
}

/** `name` and `version` come from sellers, so the memory is bounded; a forgotten domain costs four hashes. */
const MAX_DOMAINS = 256;
const domains = new Map<string, Uint8Array>();

function domainSeparator({ chainId, asset, requirements }: Payment): Uint8Array {
  const { name, version } = requirements.extra as { name: string; version: string };
  const key = JSON.stringify([chainId, asset, name, version]);
  const known = domains.get(key);
  if (known) return known;
  const struct = new Words(5);
  struct.bytes(DOMAIN_TYPE);
  struct.bytes(keccak_256(utf8(name)));
  struct.bytes(keccak_256(utf8(version)));
  struct.uint(BigInt(chainId));
  struct.hex(asset);
  const separator = keccak_256(struct.words);
  if (domains.size >= MAX_DOMAINS) domains.clear();
  domains.set(key, separator);
  return separator;
}

/** ABI words one after another, each value at the right end of its word. */
class Words {
  readonly words: Uint8Array<ArrayBuffer>;
  #next = 0;

  constructor(count: number) {
    this.words = new Uint8Array(count * WORD_BYTES);
  }

  bytes(value: Uint8Array): void {
    this.words.set(value, this.#next + WORD_BYTES - value.length);
    this.#next += WORD_BYTES;
  }

  /** Hex with 0x, of an even number of digits. */
  hex(value: string): void {
    writeHex(value.slice(2), this.words.subarray(this.#next + WORD_BYTES - (value.length - 2) / 2));
    this.#next += WORD_BYTES;
  }

  uint(value: bigint): void {
    this.hex(`0x${value.toString(16).padStart(2 * WORD_BYTES, "0")}`);
  }
}
