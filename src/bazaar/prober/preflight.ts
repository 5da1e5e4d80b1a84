// A seller's preflight: what an origin's answer to one question says about whether a first settled payment would list
// it here. Pure; the route asks, this judges. Reports hold rules and short facts, never what the origin sent at length.

import { isRecord } from "../block/block-rules.ts";
import { readBazaarBlock } from "../block/extension.ts";
import { cutOnCodePoint, readDescription } from "../block/service-metadata.ts";
import type { HostRules } from "../catalog/host-rules.ts";
import type { ListingIdentity } from "../catalog/listing-identity.ts";
import type { Observation } from "../catalog/observation.ts";
import type { Offer } from "../catalog/offer.ts";
import type { OriginAnswer } from "./ask-origin.ts";
import type { OriginStatement } from "./payment-required.ts";

export interface PreflightCheck {
  name: string;
  ok: boolean;
  /** An `error` that is not ok keeps the resource out of the bazaar; a `warning` costs something less. */
  severity: "error" | "warning";
  detail: string;
  expected?: string;
  actual?: string;
}

export interface PreflightQuestion {
  /** Canonical, as asked. */
  url: string;
  method: string;
}

export interface PreflightContext {
  rules: HostRules;
  /** Why this facilitator cannot settle such an offer, as a sentence's end, or null. */
  findSettleProblem(offer: Offer): string | null;
}

export interface Preflight {
  checks: PreflightCheck[];
  wouldList: boolean;
  /** The first error's detail. */
  reason?: string;
  /** What the listing would be, or is, known by. */
  identity: ListingIdentity;
}

/** Judges an origin's answer. The checks come in the order in which a seller would mend what they find. */
export function judgeAnswer(
  question: PreflightQuestion,
  answer: OriginAnswer,
  context: PreflightContext,
): Preflight {
  const checks = reachability(question, answer);
  let identity: ListingIdentity = {
    type: "http",
    resource: question.url,
    method: question.method,
    toolName: null,
  };
  if (answer.kind === "statement") {
    checks.push(...judgeOffers(answer.statement, context), judgeUrl(question, answer.statement));
    const block = judgeBlock(question, answer.statement, context.rules);
    checks.push(...block.checks);
    identity = block.observation ?? identity;
  }
  const failed = checks.find((check) => !check.ok && check.severity === "error");
  return { checks, wouldList: failed === undefined, ...(failed && { reason: failed.detail }), identity };
}

function reachability({ method }: PreflightQuestion, answer: OriginAnswer): PreflightCheck[] {
  const asked = passed("target", "the URL may be listed and asked");
  const reached = passed("reachable", "the server answered in time");
  const is402 = passed("status", "the server asks for a payment", { expected: "402", actual: "402" });
  switch (answer.kind) {
    case "refused":
      return [failed("target", `resource ${answer.problem}`)];
    case "unreachable":
      return [asked, failed("reachable", UNREACHABLE[answer.reason])];
    case "no_402": {
      const hint = [404, 405].includes(answer.status) ? "; is this the right method?" : "";
      const detail = `the server does not ask for a payment when called by ${method}${hint}`;
      return [asked, reached, failed("status", detail, { expected: "402", actual: String(answer.status) })];
    }
    case "unreadable":
      return [asked, reached, is402, failed("payment_required", answer.problem)];
    case "statement":
      return [asked, reached, is402, judgePlace(answer.statement)];
  }
}

const UNREACHABLE = {
  unreachable: "the server could not be reached",
  timed_out: "the server did not answer within 5 seconds",
  redirected_elsewhere: "the server redirects to another scheme, host or port, which is not followed",
  too_many_redirects: "the server redirects more than twice",
} as const;

/** Version 2 lives in the header: published clients look nowhere else. */
function judgePlace({ x402Version, source }: OriginStatement): PreflightCheck {
  if (x402Version === 1) {
    return failed(
      "payment_required",
      "PaymentRequired is of version 1, whose payments are not settled here",
      {
        expected: "x402Version 2",
        actual: "x402Version 1",
      },
    );
  }
  return source === "header"
    ? passed("payment_required", "PaymentRequired can be read")
    : warned("payment_required", "clients read PaymentRequired from the header PAYMENT-REQUIRED only", {
        expected: "header PAYMENT-REQUIRED",
        actual: "body",
      });
}

function judgeOffers(statement: OriginStatement, context: PreflightContext): PreflightCheck[] {
  const { offers, offerProblems } = statement;
  const [firstProblem] = offerProblems;
  if (offers.length === 0) return [failed("offers", firstProblem ?? "accepts names no offer")];
  const read =
    firstProblem === undefined
      ? passed("offers", `${offers.length} of accepts can be read`)
      : warned("offers", firstProblem);
  const problems = offers.map((offer) => context.findSettleProblem(offer));
  const settleable = problems.filter((problem) => problem === null).length;
  const actual = offers.map(({ scheme, network, asset }) => `${scheme} ${network} ${asset}`).join(", ");
  return [
    read,
    settleable > 0
      ? passed("settleable", `${settleable} of ${offers.length} offers can be settled here`)
      : failed("settleable", `accepts: no offer can be settled here: ${problems[0]}`, { actual }),
  ];
}

/** Buyers echo `resource.url`: a listing stands under it, whatever URL was called. */
function judgeUrl({ url }: PreflightQuestion, { resource }: OriginStatement): PreflightCheck {
  const stated = resource?.url;
  if (typeof stated !== "string") return failed("resource_url", "resource.url is missing", { expected: url });
  const isSame = URL.canParse(stated) && withoutQuery(stated) === url;
  const facts = { expected: url, actual: stated };
  return isSame
    ? passed("resource_url", "resource.url is the URL that was called", facts)
    : warned("resource_url", "resource.url is another URL; the listing would stand under that one", facts);
}

function withoutQuery(text: string): string {
  const url = new URL(text);
  return url.origin + url.pathname;
}

function judgeBlock(
  { method }: PreflightQuestion,
  statement: OriginStatement,
  rules: HostRules,
): { checks: PreflightCheck[]; observation?: Observation } {
  const [offer] = statement.offers;
  if (!isRecord(statement.extensions.bazaar)) {
    const detail = "extensions.bazaar is missing: without it a payment is not listed";
    return { checks: [failed("bazaar_block", detail)] };
  }
  const present = passed("bazaar_block", "extensions.bazaar is there");
  if (!offer) return { checks: [present] };
  const reading = readBazaarBlock(statement, offer.requirements, rules);
  if (reading.kind !== "accepted") {
    const detail = reading.kind === "rejected" ? reading.reason : "extensions.bazaar is missing";
    return { checks: [present, failed("bazaar_valid", detail)] };
  }
  const { observation } = reading;
  const valid = passed("bazaar_valid", "info fits its schema and the specification");
  return { observation, checks: [present, valid, ...judgeDetails(method, statement, observation)] };
}

function judgeDetails(
  method: string,
  { resource = {}, extensions }: OriginStatement,
  observation: Observation,
): PreflightCheck[] {
  const checks: PreflightCheck[] = [];
  if (observation.type === "http") {
    const facts = { expected: method, actual: observation.method ?? "" };
    checks.push(
      observation.method === method
        ? passed("method", "info.input.method is the method that was called", facts)
        : failed("method", "info.input.method is another method than was called", facts),
    );
  }
  const template = isRecord(extensions.bazaar) ? extensions.bazaar.routeTemplate : undefined;
  if (template !== undefined && observation.routeTemplate === null) {
    checks.push(warned("route_template", "routeTemplate breaks a rule; the concrete path would be listed"));
  }
  for (const field of ["serviceName", "iconUrl"] as const) {
    if (resource[field] !== undefined && resource[field] !== null && observation[field] === null) {
      checks.push(warned("metadata", `resource.${field} breaks a rule and would be left out`));
    }
  }
  if (Array.isArray(resource.tags) && resource.tags.length > observation.tags.length) {
    checks.push(warned("metadata", "some of resource.tags break a rule and would be left out"));
  }
  if (observation.description === null) {
    checks.push(warned("metadata", "resource.description is missing: search finds little without it"));
  }
  return checks;
}

type Facts = Pick<PreflightCheck, "expected" | "actual">;

function passed(name: string, detail: string, facts: Facts = {}): PreflightCheck {
  return check(name, true, "error", detail, facts);
}

function failed(name: string, detail: string, facts: Facts = {}): PreflightCheck {
  return check(name, false, "error", detail, facts);
}

function warned(name: string, detail: string, facts: Facts = {}): PreflightCheck {
  return check(name, false, "warning", detail, facts);
}

/** Enough for a URL; what an origin sent is never repeated at length. */
const MAX_FACT_CHARACTERS = 200;

function check(
  name: string,
  ok: boolean,
  severity: PreflightCheck["severity"],
  detail: string,
  facts: Facts,
): PreflightCheck {
  const short = Object.entries(facts).map(([key, text]) => [key, plain(text)]);
  return { name, ok, severity, detail: plain(detail), ...Object.fromEntries(short) };
}

function plain(text: string): string {
  return cutOnCodePoint(readDescription(text) ?? "", MAX_FACT_CHARACTERS);
}
