// Env -> Config, once per isolate. The only reader of environment variables: everything else takes what it needs
// from Config. Names the variable that is missing or wrong; never repeats a secret's value.

import type { Address } from "viem";
import { type GatewayConfig, type MacKey, readGateway, readMacKeys } from "./config/keys.ts";
import { type Network, readNetworks, refuseUnsafeMoney } from "./config/networks.ts";
import { integer, isAddressText, type Report, text } from "./config/variables.ts";
import type { PaidCallObject } from "./gateway/paid-call-object.ts";
import type { WalletObject } from "./gateway/wallet-object.ts";
import type { RelayerObject } from "./payments/evm/relayer/relayer-object.ts";
import type { IdempotencyObject } from "./payments/settlement/idempotency-object.ts";
import type { SettlementObject } from "./payments/settlement/settlement-object.ts";

export type { GatewayConfig, MacKey } from "./config/keys.ts";
export type { Network } from "./config/networks.ts";

/** Bindings as wrangler.toml declares them, and variables by name. */
export interface Env {
  DB: D1Database;
  CATALOG_QUEUE: Queue<unknown>;
  PROBE_QUEUE: Queue<unknown>;
  SETTLEMENTS: DurableObjectNamespace<SettlementObject>;
  RELAYERS: DurableObjectNamespace<RelayerObject>;
  IDEMPOTENCY: DurableObjectNamespace<IdempotencyObject>;
  PAID_CALLS: DurableObjectNamespace<PaidCallObject>;
  WALLETS: DurableObjectNamespace<WalletObject>;
  PAYMENT_LIMIT: RateLimit;
  KEY_LIMIT: RateLimit;
  VALIDATE_CALLER_LIMIT: RateLimit;
  VALIDATE_TARGET_LIMIT: RateLimit;
  ASSETS: Fetcher;
  [variable: string]: unknown;
}

export interface Config {
  auth: "open" | "keys";
  adminToken: string | undefined;
  networks: ReadonlyMap<string, Network>;
  macKeys: readonly MacKey[];
  gateway: GatewayConfig;
  /** Wait for a settlement's outcome before answering `settlement_pending`. */
  settleWaitMs: number;
  /** Where wallets' top-ups are paid to; no seller's payment may go there. Undefined: no top-ups. */
  topUpPayTo: Address | undefined;
  /** Our own origin, where the operator states it; probes and listings of it are refused. */
  publicOrigin: string | undefined;
  /** Local world only: resources on loopback may be listed and probed. */
  allowLoopbackResources: boolean;
  /** Variables that are missing or wrong, each with what is wanted. Empty when all is well. */
  problems: readonly ConfigProblem[];
}

export interface ConfigProblem {
  variable: string;
  problem: string;
}

const BINDINGS = [
  "DB",
  "CATALOG_QUEUE",
  "PROBE_QUEUE",
  "SETTLEMENTS",
  "RELAYERS",
  "IDEMPOTENCY",
  "PAID_CALLS",
  "WALLETS",
  "PAYMENT_LIMIT",
  "KEY_LIMIT",
  "VALIDATE_CALLER_LIMIT",
  "VALIDATE_TARGET_LIMIT",
] as const;

/** Below the caller's own 90 s, and two of these waits fit into one seller's request. */
const DEFAULT_SETTLE_WAIT_SECONDS = 25;
/** Short enough to type, long enough not to be guessed within the rate limits. */
const ADMIN_TOKEN_MIN_CHARACTERS = 12;

let cached: { env: Env; config: Config } | undefined;

/** The isolate's Config. Reads every variable once; a second call with the same env costs a comparison. */
export function loadConfig(env: Env): Config {
  if (cached?.env === env) return cached.config;
  const config = readConfig(env);
  cached = { env, config };
  return config;
}

/** Reads a Config without the isolate's memory. Wrong values become `problems`, never exceptions. */
export function readConfig(env: Env): Config {
  const problems: ConfigProblem[] = [];
  const report = (variable: string, problem: string) => problems.push({ variable, problem });

  for (const binding of BINDINGS) {
    if (env[binding] === undefined) report(binding, "binding is missing: see wrangler.toml");
  }
  const auth = text(env, "AUTH") ?? "keys";
  if (auth !== "open" && auth !== "keys") report("AUTH", 'must be "open" or "keys"');

  const adminToken = text(env, "ADMIN_TOKEN");
  if (adminToken !== undefined && adminToken.length < ADMIN_TOKEN_MIN_CHARACTERS) {
    report("ADMIN_TOKEN", `must have at least ${ADMIN_TOKEN_MIN_CHARACTERS} characters`);
  }
  const networks = readNetworks(env, report);
  const macKeys = readMacKeys(env, report);
  const gateway = readGateway(env, report);
  const topUpPayTo = readTopUpPayTo(env, report);
  refuseUnsafeMoney(auth, networks, report);

  return {
    auth: auth === "open" ? "open" : "keys",
    adminToken,
    networks,
    macKeys,
    gateway,
    settleWaitMs: 1_000 * integer(env, "SETTLE_WAIT_SECONDS", DEFAULT_SETTLE_WAIT_SECONDS, 1, 80, report),
    topUpPayTo,
    publicOrigin: text(env, "PUBLIC_ORIGIN"),
    allowLoopbackResources: text(env, "ALLOW_LOOPBACK_RESOURCES") === "true",
    problems,
  };
}

function readTopUpPayTo(env: Env, report: Report): Address | undefined {
  const value = text(env, "TOPUP_PAY_TO");
  if (value === undefined || isAddressText(value)) return value;
  report("TOPUP_PAY_TO", "must be an address");
  return undefined;
}
