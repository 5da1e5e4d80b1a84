// The rules of a relayer's lane, the row of nonces it fills in order: which nonce comes next, what a transaction may
// cost, when a fee is raised, when a receipt counts. Pure; relayer-slots.ts stores what comes out.

export interface Fees {
  /** Wei per gas. */
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

/**
 * What a transaction offers: twice the base fee outlasts six full blocks, each of which may raise it by an eighth.
 *
 * @param baseFee - of the latest block, wei per gas.
 * @param tip - what the node suggests for the block's builder, wei per gas.
 */
export function feesFor(baseFee: bigint, tip: bigint): Fees {
  return { maxFeePerGas: 2n * baseFee + tip, maxPriorityFeePerGas: tip };
}

/** A node that calls every fee too low must not bid us up without end. */
const FEE_CEILING_FACTOR = 10n;

/**
 * Fees that replace a transaction of the same nonce: pools ask for a tenth more, we give an eighth, and at least what
 * a new transaction would offer now. Null at ten times that: then waiting is the better answer.
 */
export function raiseFees(previous: Fees, suggested: Fees): Fees | null {
  const raised = {
    maxFeePerGas: larger(anEighthMore(previous.maxFeePerGas), suggested.maxFeePerGas),
    maxPriorityFeePerGas: larger(anEighthMore(previous.maxPriorityFeePerGas), suggested.maxPriorityFeePerGas),
  };
  const ceiling = FEE_CEILING_FACTOR * larger(suggested.maxFeePerGas, 1n);
  return raised.maxFeePerGas > ceiling ? null : raised;
}

function anEighthMore(value: bigint): bigint {
  return value + value / 8n + 1n;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/**
 * Gas limit of a call: a fifth above the estimate, since state moves between estimate and block, never above the cap.
 * Null when the estimate itself is above the cap: the call could only run out of gas.
 */
export function gasLimitFor(estimate: bigint, cap: bigint): bigint | null {
  if (estimate > cap) return null;
  const withMargin = estimate + estimate / 5n;
  return withMargin < cap ? withMargin : cap;
}

const WEI_PER_GWEI = 1_000_000_000n;

/** The most a transaction can cost, in gwei rounded up: small enough for a number, so that storage can add it up. */
export function costGwei(gas: bigint, fees: Fees): number {
  return Number((gas * fees.maxFeePerGas + WEI_PER_GWEI - 1n) / WEI_PER_GWEI);
}

/** Whether the balance carries everything already promised and this too. Nodes add up the same way. */
export function isAffordable(balanceWei: bigint, reservedGwei: number, costGweiMore: number): boolean {
  return BigInt(Math.ceil(reservedGwei + costGweiMore)) * WEI_PER_GWEI <= balanceWei;
}

/** What the chain says of the account: transactions mined, and with those that wait in the node's pool. */
export interface ChainNonces {
  mined: number;
  pending: number;
}

/**
 * More than this many strangers' transactions in front of ours is not believable of an account that only we use: a
 * node that says so is wrong, and believing it would leave a gap nobody fills.
 */
const PENDING_LEAD_MAX = 10_000;

export function areCredible({ mined, pending }: ChainNonces): boolean {
  return pending <= mined + PENDING_LEAD_MAX;
}

/** The nonce of the next slot: never one that was given away, never one that the chain or its pool holds. */
export function nextNonce(stored: number, chain: ChainNonces): number {
  return Math.max(stored, chain.mined, chain.pending);
}

/** A hash that was sent is sent again after this long: a node may have lost it, and saying it twice costs nothing. */
export const RESEND_AFTER_MS = 15_000;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 8_000;

/** Wait after the `failures`-th failed send in a row (from 1): 0.5, 1, 2, 4, then 8 s. */
export function retryDelayMs(failures: number): number {
  return Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (failures - 1));
}

/** A refusal in words we do not know counts as final after this many tries, about half a minute. */
export const UNCLEAR_REFUSALS_MAX = 8;

/** Longer than this in the pool, while blocks went by, and the fee is too low for the times. */
export const STUCK_AFTER_MS = 30_000;
const STUCK_AFTER_BLOCKS = 3;

export interface Accepted {
  nonce: number;
  /** When, and at which height, a node first took the slot's newest bytes. */
  acceptedAtMs: number;
  acceptedHeight: number;
}

export function isStuck(slot: Accepted, height: number, nowMs: number): boolean {
  return nowMs - slot.acceptedAtMs >= STUCK_AFTER_MS && height - slot.acceptedHeight >= STUCK_AFTER_BLOCKS;
}

/** The market moved on: this offers less than half of what a new transaction would, which is below the base fee. */
export function isOutbid(fees: Fees, suggested: Fees): boolean {
  return 2n * fees.maxFeePerGas < suggested.maxFeePerGas;
}

/** Gaps are mended this many nonces at a time. */
const GAP_BITE = 16;

/** Nonces between the chain's next one and the lowest slot that waits: while they are free, nothing moves. */
export function gapBelow(lowestOpenNonce: number, minedCount: number): number[] {
  const length = Math.min(GAP_BITE, Math.max(0, lowestOpenNonce - minedCount));
  return Array.from({ length }, (_, index) => minedCount + index);
}

/** 1 = mined in the head block. A receipt may be younger than the height we know: it is mined all the same. */
export function depthOf(blockNumber: number, height: number | null): number {
  return height === null ? 1 : Math.max(1, height - blockNumber + 1);
}

/**
 * Height at and below which a block is final; null when that is unknown.
 *
 * @param finalityBlocks - distance below the head, or null where the node's own finalized block decides.
 */
export function finalHeight(
  finalityBlocks: number | null,
  height: number,
  finalized: number | null,
): number | null {
  return finalityBlocks === null ? finalized : height - finalityBlocks;
}
