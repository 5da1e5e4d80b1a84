// The prober: asks origins for their 402 and writes what that says of their listings. Woken by the probe queue when a
// listing is new or changed, and by cron for whatever is due: the queue is only the quicker way, what is due stands in
// D1. Owns the fetches (ask-origin.ts), the storage and the queue's acknowledgements.

import type { Clock } from "../../platform/clock.ts";
import { describeError, log } from "../../platform/log.ts";
import type { PriceOf } from "../catalog/catalog-store.ts";
import { isLoopbackHost } from "../catalog/host-rules.ts";
import { indexListing } from "../catalog/index-listing-store.ts";
import { type Asker, askOrigin, type OriginAnswer, type Question, readQuestion } from "./ask-origin.ts";
import { judgeProbe } from "./probe-verdict.ts";
import {
  type DueListing,
  findDue,
  findDueAmong,
  forgetHosts,
  leaseListings,
  type StoredOffer,
  storeVerdict,
  takeHosts,
} from "./prober-store.ts";

export interface ProberPorts extends Asker {
  db: D1Database;
  clock: Clock;
  priceOf: PriceOf;
}

/** Body of a probe queue message. */
export interface ProbeMessage {
  listingId: string;
}

/** Hosts asked in one cron run: with one run a minute, 28,800 probes a day. */
const HOSTS_PER_RUN = 20;
/** A Worker waits for at most six answers at once. */
const PROBES_AT_ONCE = 5;

/** Probes what the messages name and is due. Nothing is retried: what was not done is still due, and cron comes. */
export async function consumeProbes(batch: MessageBatch<unknown>, ports: ProberPorts): Promise<void> {
  const ids = batch.messages.map(({ body }) => (body as Partial<ProbeMessage> | null)?.listingId);
  const named = [...new Set(ids.filter((id) => typeof id === "string"))];
  await probe(await findDueAmong(ports.db, named, ports.clock.nowMs()), ports);
  batch.ackAll();
}

/** One cron run: the listings that have been due longest, one per host. */
export async function probeDue(ports: ProberPorts): Promise<void> {
  const nowMs = ports.clock.nowMs();
  await forgetHosts(ports.db, nowMs);
  await probe(await findDue(ports.db, nowMs, HOSTS_PER_RUN), ports);
}

async function probe(due: readonly DueListing[], ports: ProberPorts): Promise<void> {
  const turns = await takeTurns(due, ports);
  const leased = turns.length === 0 ? [] : await leaseListings(ports.db, turns, ports.clock.nowMs());
  for (let i = 0; i < leased.length; i += PROBES_AT_ONCE) {
    const group = leased.slice(i, i + PROBES_AT_ONCE);
    await Promise.all(group.map(({ listing, offers }) => probeListing(listing, offers, ports)));
  }
}

/** Those of the due listings that may be dealt with now: where something will be sent, one per host and minute. */
async function takeTurns(due: readonly DueListing[], ports: ProberPorts): Promise<DueListing[]> {
  const isFree = (listing: DueListing) =>
    !readQuestion(questionOf(listing), ports.rules).ok ||
    (ports.rules.allowLoopback && isLoopbackHost(listing.host));
  const { free = [], limited = [] } = Object.groupBy(due, (listing) =>
    isFree(listing) ? "free" : "limited",
  );
  const firstOfHost = new Map(limited.toReversed().map((listing) => [listing.host, listing]));
  const taken = await takeHosts(ports.db, [...firstOfHost.keys()], ports.clock.nowMs());
  return [...free, ...taken.flatMap((host) => firstOfHost.get(host) ?? [])];
}

/** One listing, from question to rows. What fails on our side is logged; the lease brings the listing back. */
async function probeListing(
  listing: DueListing,
  offers: readonly StoredOffer[],
  ports: ProberPorts,
): Promise<void> {
  try {
    const answer = await askAbout(listing, offers, ports);
    const nowMs = ports.clock.nowMs();
    const verdict = judgeProbe(listing, offers, answer, { rules: ports.rules, nowMs });
    await storeVerdict(ports.db, listing, verdict, { priceOf: ports.priceOf, nowMs });
    await indexListing(ports.db, listing.id);
    log("probed", { listingId: listing.id, answer: answer.kind, finding: verdict.finding });
  } catch (error) {
    log("probe_failed", { listingId: listing.id, cause: describeError(error) });
  }
}

/** Whoever withdrew every offer is left alone. */
async function askAbout(
  listing: DueListing,
  offers: readonly StoredOffer[],
  asker: Asker,
): Promise<OriginAnswer> {
  if (offers.length === 0) return { kind: "refused", problem: "has no offer left" };
  return askOrigin(questionOf(listing), asker);
}

function questionOf({ type, url, method, toolName, transport }: DueListing): Question {
  return type === "http"
    ? { type, url, method: method ?? "" }
    : { type, url, toolName: toolName ?? "", transport };
}
