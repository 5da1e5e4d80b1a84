// Words that say little: grammar, which is neither written nor searched, and the field's own small talk ("find me an API
// that"), which counts for little in a query. Pure; lower case, without accents, as search-words.ts leaves them.

import { type Word, wordsOf } from "./search-words.ts";

/** Grammar of the languages that queries come in. */
export const GRAMMAR_WORDS: ReadonlySet<string> = new Set(
  `a about across after again against ago all along already also although always am among an and another any
  anybody anyone anything are around as at be because been before behind being below beside besides between
  beyond but by can cannot could d despite did do does doing don during each either else even ever every
  everybody except few for from go goes going had has have having he her here him his how however i if in inside
  instead into is isn it its itself just l let ll m maybe me might more most much must my myself near never no
  nor not of off often on once one only onto or other our out outside over own per perhaps please quite rather
  re really s same she should since so some somebody someone something sometimes somewhere soon still such t
  than that the their them then there therefore these they this those though through to too toward towards under
  unlike until up upon us usually ve very via was we were what whatever when whenever where whether which while
  who whom whose why will with within without would yet you your
  der die das den dem des ein eine einen einem einer eines und oder fur mit von vom zu zum zur im auf aus bei nach
  ist sind war wie wo wer wann warum ich du er sie wir ihr mein dein nicht auch als am
  el la los las un una unos unas y o de del al en con por para que como cual donde cuando es son esta este mi tu su
  le les une des du au aux et ou est sont dans sur pour par avec ce cette ces mon ma mes ton quel quelle
  il lo gli uno dei della delle nel nella che sono per
  os um uma do da dos das no na nos nas em com ao se sao
  и в на с по для из от до как что где когда это или не`.split(/\s+/),
);

/** Small talk of the field: it may decide between two like answers, it never carries one. */
export const WEAK_WORDS: ReadonlySet<string> = new Set(
  `agent agents ai api apis app automatically available average bad best big biggest bit bot case certain cheap
  cheapest check checker create current currently daily data day details different easy endpoint endpoints
  example fast fetch find first free get give good got help info information kind know large latest level like
  list live look lookup lot make mcp need needs new next nice now obtain offer online part people place platform
  provide provider provides quick quickly real recent result results retrieve return returns right run see
  service services several show simple single small start take tell thing things today tomorrow tool tools town
  turn type typical use user using various want way whole work world x402 yesterday
  heute jetzt aktuell aktuelle morgen hoy ahora actual aujourd hui oggi hoje agora сегодня сеичас`.split(
    /\s+/,
  ),
);

/**
 * What one does with nearly anything: it tells half of what the thing does. Whoever wants to hire a plumber has no use
 * for whatever else can be hired.
 */
export const ACTION_WORDS: ReadonlySet<string> = new Set(
  `book booking buy buying change clean cleaning do fix fixing hire hiring install installing learn learning manage
  manager order ordering plan planning play playing purchase rent rental renting repair reserve sell selling teach
  training use watch write writing
  mieten kaufen buchen bestellen alquilar reservar comprar louer acheter reserver noleggiare alugar
  租赁 预订 购买 予約`.split(/\s+/),
);

/** Whether the word is grammar. A part of a longer spelling never is: `who` in `whoHas`. */
export function isGrammar({ text, whole }: Word): boolean {
  return whole === undefined && GRAMMAR_WORDS.has(text);
}

/** The words of a text without its grammar. A text of nothing else is taken as it stands: it may be a name. */
export function tellingWordsOf(text: string): Word[] {
  const words = wordsOf(text);
  const telling = words.filter((word) => !isGrammar(word));
  return telling.length > 0 ? telling : words;
}
