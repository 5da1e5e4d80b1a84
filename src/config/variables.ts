// Single variables as text, list and number, and the forms that several of them share. Pure: a wrong value is reported
// by its variable's name and never repeated.

import type { Address } from "viem";

/** What of Env the variables' readers need. */
export type Variables = Readonly<Record<string, unknown>>;

/** Says of a variable what is wanted of it. */
export type Report = (variable: string, problem: string) => void;

export function text(env: Variables, name: string): string | undefined {
  const value = env[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function list(env: Variables, name: string): string[] {
  return (text(env, name) ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

export function integer(
  env: Variables,
  name: string,
  fallback: number,
  least: number,
  most: number,
  report: Report,
): number {
  const raw = text(env, name);
  if (raw === undefined) return fallback;
  const value = /^\d{1,9}$/.test(raw) ? Number(raw) : Number.NaN;
  if (value >= least && value <= most) return value;
  report(name, `must be a whole number from ${least} to ${most}`);
  return fallback;
}

export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isAddressText(value: unknown): value is Address {
  return typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
