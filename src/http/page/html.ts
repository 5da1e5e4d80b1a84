// HTML as a tagged template: what stands in the template is ours, what is put into it is text and is escaped, by the one
// function below. Values may stand between tags and inside double-quoted attributes, nowhere else. Pure.

/** Markup that this project's own templates made. */
export class Html {
  readonly text: string;

  /** Only for `html`: nothing else may declare a text to be markup. */
  constructor(text: string) {
    this.text = text;
  }
}

/** `undefined`, `null` and `false` are nothing; lists are their parts one after the other. */
export type Fragment = Html | string | number | null | undefined | false | readonly Fragment[];

/** `` html`<p>${anything}</p>` `` */
export function html(template: TemplateStringsArray, ...values: Fragment[]): Html {
  const [first = "", ...rest] = template;
  return new Html(first + rest.map((part, i) => markupOf(values[i]) + part).join(""));
}

function markupOf(value: Fragment): string {
  if (value === null || value === undefined || value === false) return "";
  if (value instanceof Html) return value.text;
  return typeof value === "object" ? value.map(markupOf).join("") : escapeHtml(String(value));
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Text as HTML, for content and for quoted attributes. Controls, and characters that turn the direction of the text
 * around them, become the replacement character: a seller's text must not reorder ours.
 */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** A name or an address that may break after its dots and slashes, and not in the middle of a word. */
export function breakable(text: string): Html {
  return html`${text.split(/(?<=[./])/).map((part, i) => (i === 0 ? part : html`<wbr>${part}`))}`;
}

/** A link to a seller's URL; anything but http and https stays text. */
export function externalLink(url: string, label: string): Html {
  const isWeb = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return isWeb ? html`<a href="${url}" rel="nofollow ugc noopener">${label}</a>` : html`${label}`;
}
