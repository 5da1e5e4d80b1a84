// Money of the gateway: whole minor units (cents) of one currency. A decimal string on the wire and in storage,
// bigint in code.

/** Below 10^15 minor units, so that sums of balances stay far inside SQLite's 64-bit integers. */
export const MINOR_PATTERN = "^[1-9][0-9]{0,14}$";

/** Upper-case code of the currency, e.g. USD. */
export const CURRENCY_PATTERN = "^[A-Z]{3,8}$";

const MINOR = new RegExp(MINOR_PATTERN);

/** A positive amount as the wire spells it, or undefined: no sign, no leading zero, no fraction, no number type. */
export function readMinor(value: unknown): bigint | undefined {
  return typeof value === "string" && MINOR.test(value) ? BigInt(value) : undefined;
}
