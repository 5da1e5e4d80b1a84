// The forms of a payment's single fields, and reading them out of unknown JSON: an amount, an address, a nonce. Pure
// and total: whatever is given, the first problem is kept with the path of its field, and nothing throws. Nothing is
// repaired silently (CONTRACT.md "Strict payment parsing").

import type { Address } from "viem";
import { getAddress } from "viem/utils";
import type { Reason } from "./reasons.ts";

/** Decimal without sign, leading zero, exponent or space; `isUint256` bounds it. */
export const AMOUNT_PATTERN = "^(0|[1-9][0-9]{0,77})$";
export const ADDRESS_PATTERN = "^0x[0-9a-fA-F]{40}$";
export const BYTES32_PATTERN = "^0x[0-9a-fA-F]{64}$";
/** CAIP-2; an EVM chain id is decimal without leading zeros. */
export const NETWORK_PATTERN =
  "^(eip155:(0|[1-9][0-9]{0,31})|(?!eip155:)[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32})$";

const AMOUNT = new RegExp(AMOUNT_PATTERN);
const ADDRESS = new RegExp(ADDRESS_PATTERN);
const BYTES32 = new RegExp(BYTES32_PATTERN);
const NETWORK = new RegExp(NETWORK_PATTERN);
const UINT256_END = 1n << 256n;

/** Decimal digits of a uint256, or undefined. Numbers, signs, hex and `""` are not amounts. */
export function amountOf(value: unknown): bigint | undefined {
  if (typeof value !== "string" || !AMOUNT.test(value)) return undefined;
  const amount = BigInt(value);
  return amount < UINT256_END ? amount : undefined;
}

/** The address with its checksum; undefined when it is none, or mixes cases with a wrong checksum. */
export function addressOf(value: unknown): Address | undefined {
  if (typeof value !== "string" || !ADDRESS.test(value)) return undefined;
  const digits = value.slice(2);
  const checksummed = getAddress(`0x${digits.toLowerCase()}`);
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isOneCase || checksummed === value ? checksummed : undefined;
}

export function isCanonicalNetwork(value: string): boolean {
  return NETWORK.test(value);
}

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface FieldProblem {
  reason: Reason;
  /** Names the field and the rule, never its value. */
  message: string;
}

/** Reads fields one after the other and keeps the first problem; what it returns after one is a placeholder. */
export class FieldReader {
  problem: FieldProblem | undefined;

  /**
   * @param path - of `parent`, `""` for the body itself.
   */
  object(parent: Json, path: string, name: string): Json {
    return (
      this.#present(parent, path, name, "an object", (value) => (isObject(value) ? value : undefined)) ?? {}
    );
  }

  text(parent: Json, path: string, name: string): string {
    return (
      this.#present(parent, path, name, "a string", (value) =>
        typeof value === "string" ? value : undefined,
      ) ?? ""
    );
  }

  integer(parent: Json, path: string, name: string): number {
    return (
      this.#present(parent, path, name, "a whole number", (value) =>
        typeof value === "number" && Number.isSafeInteger(value) ? value : undefined,
      ) ?? 0
    );
  }

  /** `reason` is what a malformed value means; a missing one is always `invalid_payload`. */
  amount(parent: Json, path: string, name: string, reason: Reason = "invalid_payload"): bigint {
    const rule = "an amount: a string of decimal digits without leading zeros, below 2^256";
    return this.#present(parent, path, name, rule, amountOf, reason) ?? 0n;
  }

  address(parent: Json, path: string, name: string, reason: Reason = "invalid_payload"): Address {
    const rule = "an address: 0x and 40 hex digits, in mixed case only with the right checksum";
    return this.#present(parent, path, name, rule, addressOf, reason) ?? ZERO_ADDRESS;
  }

  bytes32(parent: Json, path: string, name: string): string {
    return (
      this.#present(parent, path, name, "0x and 64 hex digits", (value) =>
        typeof value === "string" && BYTES32.test(value) ? value.toLowerCase() : undefined,
      ) ?? ""
    );
  }

  #present<T>(
    parent: Json,
    path: string,
    name: string,
    rule: string,
    read: (value: unknown) => T | undefined,
    reason: Reason = "invalid_payload",
  ): T | undefined {
    if (this.problem) return undefined;
    const field = path === "" ? name : `${path}.${name}`;
    if (!Object.hasOwn(parent, name)) {
      this.problem = { reason: "invalid_payload", message: `${field} is missing` };
      return undefined;
    }
    const value = read(parent[name]);
    if (value === undefined) this.problem = { reason, message: `${field} is not ${rule}` };
    return value;
  }
}

const ZERO_ADDRESS: Address = "0x0000000000000000000000000000000000000000";
