// What one isolate has learnt about the nodes it talks to: whether a URL serves the right chain, whether it takes
// batches, and how far its head has come. Plain facts without I/O, so that requests may share them; gone with the
// isolate, and rightly so. Keys hold RPC URLs and must never be logged.

export interface NodeFacts {
  /** `eth_chainId` was read here: `wrong` is asked again with every request, `right` never. */
  chain: "unknown" | "right" | "wrong";
  takesBatches: boolean;
  /** Failed a moment ago: until then the other URLs are asked first. */
  restUntilMs: number;
}

const factsByNode = new Map<string, NodeFacts>();

/** A configured URL or two per network; the bound only keeps a misuse from growing the isolate. */
const MAX_NODES = 1_000;

export function factsOf(chainId: number, url: string): NodeFacts {
  const key = `${chainId} ${url}`;
  let facts = factsByNode.get(key);
  if (!facts) {
    if (factsByNode.size >= MAX_NODES) factsByNode.clear();
    facts = { chain: "unknown", takesBatches: true, restUntilMs: 0 };
    factsByNode.set(key, facts);
  }
  return facts;
}

export interface Head {
  number: bigint;
  /** Header time in Unix seconds. */
  timeSeconds: number;
}

export interface HeadReport {
  /** How many blocks this head lies below the highest one seen lately on this chain; 0 when it leads. */
  behindBlocks: number;
  /** Age of the head by our clock; null where the network states no block time, since its age says nothing. */
  ageMs: number | null;
  /** The node answers from the past: what it says about nonces and balances may be old. */
  isLagging: boolean;
}

/** A load-balanced provider's nodes differ by a block or two without anything being wrong. */
const TOLERATED_BLOCKS_BEHIND = 3n;
/** Missed slots and clock skew are normal; this many block times without a block, and at least this long, is not. */
const TOLERATED_BLOCK_TIMES = 10;
const TOLERATED_AGE_MS_MIN = 15_000;
/** A height is compared with what was seen this recently; a chain that was set back is believed after it. */
const HIGHEST_KEPT_MS = 300_000;

const highestByChain = new Map<number, { number: bigint; seenAtMs: number }>();

/** Judges a head just read against the highest one seen lately and, where blocks come regularly, our clock. */
export function observeHead(
  chainId: number,
  head: Head,
  blockTimeMs: number | null,
  nowMs: number,
): HeadReport {
  const known = highestByChain.get(chainId);
  const highest = known && nowMs - known.seenAtMs < HIGHEST_KEPT_MS ? known.number : head.number;
  if (head.number >= highest) highestByChain.set(chainId, { number: head.number, seenAtMs: nowMs });
  const behind = highest > head.number ? highest - head.number : 0n;
  const ageMs = blockTimeMs === null ? null : Math.max(0, nowMs - head.timeSeconds * 1_000);
  const toleratedAgeMs = Math.max(TOLERATED_AGE_MS_MIN, (blockTimeMs ?? 0) * TOLERATED_BLOCK_TIMES);
  const isOld = ageMs !== null && ageMs > toleratedAgeMs;
  return { behindBlocks: Number(behind), ageMs, isLagging: isOld || behind > TOLERATED_BLOCKS_BEHIND };
}
