// Which networks are switched on: descriptions of the repository, changed by `NETWORKS`, with the operator's RPC URLs and
// relayer keys. And the refusal to move money where anybody could.

import type { Address, Hex } from "viem";
import { addressesOf, isPrivateKey, isPublicTestKey } from "../payments/evm/relayer-keys.ts";
import { describeNetwork, NETWORKS, type NetworkDescription, type Token } from "../payments/networks.ts";
import {
  integer,
  isAddressText,
  isCount,
  isRecord,
  list,
  type Report,
  text,
  type Variables,
} from "./variables.ts";

/** A network that is switched on: described in the repository, with an RPC URL and at least one relayer key. */
export interface Network extends NetworkDescription {
  /** First is preferred, the rest are fallbacks. May carry provider keys: never logged, never answered. */
  rpcUrls: readonly string[];
  relayerKeys: readonly Hex[];
  /** Derived at first use and kept: deriving costs tens of milliseconds that a first answer should not pay. */
  relayers(): readonly Address[];
  /** ERC-6492 factories this operator trusts; empty switches counterfactual wallets off. */
  allowedFactories: readonly Address[];
  /** Transactions of one relayer in flight at once; more wait, none is refused for it. */
  maxInFlight: number;
  /** Settlements one relayer accepts to wait; one payer may have at most half. Over it: 503 `relayer_busy`. */
  maxQueued: number;
}

const DEFAULT_MAX_IN_FLIGHT = 64;
const DEFAULT_MAX_QUEUED = 1_000;

export function readNetworks(env: Variables, report: Report): Map<string, Network> {
  const overrides = readOverrides(env, report);
  const networks = new Map<string, Network>();
  for (const description of NETWORKS) {
    const { id, chainId } = description;
    const rpcUrls = list(env, `RPC_URLS_${chainId}`);
    const relayerKeys = list(env, `RELAYER_KEYS_${chainId}`);
    if (rpcUrls.length === 0 && relayerKeys.length === 0) continue;
    // `fetch` refuses URLs with a user or password.
    const isUsable = (url: URL | undefined) => /^https?:$/.test(url?.protocol ?? "") && url?.username === "";
    if (rpcUrls.length === 0 || !rpcUrls.every((url) => isUsable(parseUrl(url)))) {
      report(
        `RPC_URLS_${chainId}`,
        "must be one or more http(s) URLs without user or password, separated by commas",
      );
      continue;
    }
    if (relayerKeys.length === 0 || !relayerKeys.every(isPrivateKey)) {
      report(
        `RELAYER_KEYS_${chainId}`,
        "must be one or more private keys (0x and 64 hex digits), separated by commas",
      );
      continue;
    }
    let derived: readonly Address[] | undefined;
    networks.set(id, {
      ...description,
      ...overrides[id],
      rpcUrls,
      relayerKeys,
      relayers: () => (derived ??= addressesOf(relayerKeys)),
      allowedFactories: overrides[id]?.allowedFactories ?? [],
      maxInFlight: integer(env, "MAX_IN_FLIGHT", DEFAULT_MAX_IN_FLIGHT, 1, 1_000, report),
      maxQueued: integer(env, "MAX_QUEUED", DEFAULT_MAX_QUEUED, 2, 100_000, report),
    });
  }
  return networks;
}

/** What `NETWORKS` may change about a described network. */
interface NetworkOverride {
  confirmations?: number;
  finalityBlocks?: number | null;
  blockTimeMs?: number | null;
  allowedFactories?: Address[];
  tokens?: Token[];
}

/**
 * `NETWORKS`: JSON by CAIP-2 id, e.g.
 * `{"eip155:8453":{"confirmations":2,"finalityBlocks":30,"blockTimeSeconds":2,"allowedFactories":["0x..."],"tokens":[...]}}`.
 * `tokens` replaces the described list; a token's `minimumAtomic` is a decimal string.
 */
function readOverrides(env: Variables, report: Report): Record<string, NetworkOverride> {
  const raw = text(env, "NETWORKS");
  if (raw === undefined) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(raw);
  } catch {
    report("NETWORKS", "must be JSON");
    return {};
  }
  if (!isRecord(parsed)) {
    report("NETWORKS", "must be an object by CAIP-2 id");
    return {};
  }
  const overrides: Record<string, NetworkOverride> = {};
  for (const [id, value] of Object.entries(parsed)) {
    const override = readOverride(id, value, report);
    if (override) overrides[id] = override;
  }
  return overrides;
}

function readOverride(id: string, value: unknown, report: Report): NetworkOverride | undefined {
  const problem = (field: string, wanted: string) => report("NETWORKS", `${id}.${field} must be ${wanted}`);
  if (!describeNetwork(id) || !isRecord(value)) {
    report("NETWORKS", `${id.slice(0, 60)} is not a network this release describes`);
    return undefined;
  }
  const override: NetworkOverride = {};
  const { confirmations, finalityBlocks, blockTimeSeconds, allowedFactories, tokens } = value;
  if (confirmations !== undefined) {
    if (isCount(confirmations) && confirmations >= 1) override.confirmations = confirmations;
    else problem("confirmations", "a whole number from 1");
  }
  if (finalityBlocks !== undefined) {
    if (finalityBlocks === null || isCount(finalityBlocks)) override.finalityBlocks = finalityBlocks;
    else problem("finalityBlocks", "a whole number or null");
  }
  if (blockTimeSeconds !== undefined) {
    if (blockTimeSeconds === null) override.blockTimeMs = null;
    else if (typeof blockTimeSeconds === "number" && blockTimeSeconds > 0) {
      override.blockTimeMs = Math.round(blockTimeSeconds * 1_000);
    } else problem("blockTimeSeconds", "a positive number or null");
  }
  if (allowedFactories !== undefined) {
    if (Array.isArray(allowedFactories) && allowedFactories.every(isAddressText)) {
      override.allowedFactories = allowedFactories;
    } else problem("allowedFactories", "a list of addresses");
  }
  if (tokens !== undefined) {
    const read = Array.isArray(tokens) ? tokens.map(readToken) : [undefined];
    if (read.every((token) => token !== undefined)) override.tokens = read;
    else problem("tokens", "a list of {address, symbol, decimals, domain?, minimumAtomic, isDollar?}");
  }
  return override;
}

function readToken(value: unknown): Token | undefined {
  if (!isRecord(value)) return undefined;
  const { address, symbol, decimals, domain, minimumAtomic, isDollar } = value;
  if (!isAddressText(address) || typeof symbol !== "string" || !isCount(decimals)) return undefined;
  if (typeof minimumAtomic !== "string" || !/^\d{1,78}$/.test(minimumAtomic)) return undefined;
  const name = isRecord(domain) ? domain.name : undefined;
  const version = isRecord(domain) ? domain.version : undefined;
  return {
    address,
    symbol,
    decimals,
    domain: typeof name === "string" && typeof version === "string" ? { name, version } : null,
    minimumAtomic: BigInt(minimumAtomic),
    isDollar: isDollar === true,
  };
}

/** Anyone's key, or nobody's, must never move money on a chain that is not on this machine. */
export function refuseUnsafeMoney(
  auth: string,
  networks: ReadonlyMap<string, Network>,
  report: Report,
): void {
  for (const network of networks.values()) {
    const remote = network.rpcUrls.some((url) => !isLoopback(url));
    if (remote && auth === "open") {
      report("AUTH", `"open" is refused while RPC_URLS_${network.chainId} is not on loopback`);
    }
    if (remote && network.relayerKeys.some(isPublicTestKey)) {
      report(
        `RELAYER_KEYS_${network.chainId}`,
        "holds a publicly known test key while its RPC is not on loopback",
      );
    }
  }
}

function isLoopback(url: string): boolean {
  const host = parseUrl(url)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function parseUrl(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
