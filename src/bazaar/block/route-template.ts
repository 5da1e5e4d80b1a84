// `routeTemplate` merges `/users/1` and `/users/2` into one listing, and so it is what a stranger would bend to list a
// payment under somebody else's path. A template that breaks a rule is dropped and the concrete path is listed.

/** Longer than any route; the listing shows it in full. */
const MAX_TEMPLATE_CHARACTERS = 512;
/** Encodings of encodings end here; what still changes is an attack. */
const MAX_DECODE_PASSES = 5;

/** The template when it may stand for `path` (percent-encoded, from the resource URL), else undefined. */
export function readRouteTemplate(template: unknown, path: string): string | undefined {
  if (typeof template !== "string" || template.length > MAX_TEMPLATE_CHARACTERS) return undefined;
  if (!/^\/[a-zA-Z0-9_/:.\-~%]+$/.test(template)) return undefined;
  const decoded = decodeFully(template);
  if (decoded === undefined || decoded.includes("..") || decoded.includes("://")) return undefined;
  const wanted = template.split("/").slice(1);
  const given = path.split("/").slice(1);
  if (wanted.length !== given.length) return undefined;
  return wanted.every((segment, i) => matchesSegment(segment, given[i] ?? "")) ? template : undefined;
}

function matchesSegment(template: string, concrete: string): boolean {
  const wanted = decodeFully(template);
  const given = decodeFully(concrete);
  if (!isPlainSegment(wanted) || !isPlainSegment(given)) return false;
  const colon = wanted.indexOf(":");
  if (colon === -1) return wanted === given;
  const [, name = "", suffix = ""] = /^:([a-zA-Z_][a-zA-Z0-9_]*)(.*)$/.exec(wanted.slice(colon)) ?? [];
  if (name === "" || suffix.includes(":")) return false; // No parameter, or two that nothing separates for sure.
  const prefix = wanted.slice(0, colon);
  return given.length > prefix.length + suffix.length && given.startsWith(prefix) && given.endsWith(suffix);
}

/** Not empty, not `.`, and decoded without a character that would end or leave a segment. */
function isPlainSegment(segment: string | undefined): segment is string {
  if (segment === undefined || segment === "" || segment === ".") return false;
  return !/[\p{Cc}?#\\/]/u.test(segment);
}

/** Percent-decodes until nothing changes; undefined when it cannot be decoded or does not come to rest. */
function decodeFully(text: string): string | undefined {
  let current = text;
  for (let pass = 0; pass < MAX_DECODE_PASSES; pass++) {
    let next: string;
    try {
      next = decodeURIComponent(current);
    } catch {
      return undefined;
    }
    if (next === current) return current;
    current = next;
  }
  return undefined;
}
