// A large catalog made of a small one: each listing again and again under other brands, hosts and payTos, its text
// varied the way competing sellers vary it (a qualifier, a region, a sentence more, a parameter less), so that words are
// as common in the large catalog as in the small one. Deterministic. Pure.

import type { LabelledListing } from "./labelled-set.ts";

const STARTS =
  "al be cor du el fin gra hy in jo kel lu mon nor op pra qui ras sol tre ur vel wex yo zen".split(" ");
const MIDDLES = "ba ce di fo gu li ma ne ro sa ti vu".split(" ");
const ENDS = "bit cast data dex flow forge hub ly lens mint nest path ra scout sense ta vault works".split(
  " ",
);
const QUALIFIERS =
  "fast,reliable,enterprise grade,low latency,community run,hourly updated,pay per call,high volume,experimental,regional".split(
    ",",
  );
const REGIONS =
  "Brazil,Canada,Denmark,Egypt,France,Germany,India,Japan,Kenya,Mexico,Norway,Poland,Singapore,Spain,Turkey,Vietnam".split(
    ",",
  );
const CLOSINGS = [
  "No account needed.",
  "Answers in well under a second.",
  "See the examples for all fields.",
  "Batches of up to a hundred are welcome.",
  "Free of charge when nothing was found.",
  "Sources are named in the answer.",
];
/** Listings of one brand; the corpus has the same mix of single sellers and families. */
const MAX_LISTINGS_PER_BRAND = 8;

interface Brand {
  name: string;
  host: string;
  payTo: string;
  listingsLeft: number;
}

export function varyCorpus(corpus: readonly LabelledListing[], size: number): LabelledListing[] {
  const random = randomFrom(1);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const varied: LabelledListing[] = [];
  let brand: Brand | undefined;
  while (varied.length < size) {
    const base = pick(corpus);
    brand = brand && brand.listingsLeft > 0 ? brand : makeBrand(varied.length, pick, random);
    brand.listingsLeft--;
    varied.push(vary(base, brand, varied.length, pick, random));
  }
  return varied;
}

function makeBrand(index: number, pick: <T>(list: readonly T[]) => T, random: () => number): Brand {
  const start = pick(STARTS);
  const word = start + pick(MIDDLES) + pick(ENDS);
  return {
    name: word.charAt(0).toUpperCase() + word.slice(1),
    host: `${word}${index.toString(36)}.example`,
    payTo: `0x${index.toString(16).padStart(40, "0")}`,
    listingsLeft: 1 + Math.floor(random() ** 3 * MAX_LISTINGS_PER_BRAND),
  };
}

function vary(
  base: LabelledListing,
  brand: Brand,
  index: number,
  pick: <T>(list: readonly T[]) => T,
  random: () => number,
): LabelledListing {
  const url = new URL(base.resource);
  const label = url.hostname.split(".")[0];
  const sentences = base.description === "" ? [] : [base.description];
  if (random() < 0.4) sentences.unshift(`${pick(QUALIFIERS)}, for ${pick(REGIONS)} and beyond:`);
  if (random() < 0.4) sentences.push(pick(CLOSINGS));
  const tags = (base.tags ?? []).filter(() => random() < 0.8);
  return {
    ...base,
    id: `V${index}`,
    resource: `https://${label}.${brand.host}${url.pathname}`,
    ...(base.serviceName !== undefined && { serviceName: brand.name }),
    tags: random() < 0.3 ? [...tags, pick(REGIONS).toLowerCase()] : tags,
    description: sentences.join(" "),
    accepts: base.accepts.slice(0, 1).map((offer) => ({ ...offer, payTo: brand.payTo })),
  };
}

/** A small generator (mulberry32): the same catalog in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
