// Shell text to copy: a request as one `curl` command. Every word that a seller wrote stands in single quotes, where a
// shell obeys nothing, and behind options of curl that obey nothing either. Pure.

import type { ExampleRequest } from "../../bazaar/catalog/example-request.ts";

/** One word of a POSIX shell, whatever the text; a NUL, which no word can hold, is left out. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
}

/**
 * The command that sends `request` without payment. `--globoff`: brackets and braces in a URL are no lists.
 * `--data-raw` and `--form-string`: a leading @ or < is no file.
 */
export function curlCommand({ method, url, headers, body }: ExampleRequest): string {
  const words = ["curl --globoff --include"];
  if (method === "HEAD") words[0] = "curl --globoff --head";
  else if (method !== "GET") words.push(`--request ${quoteForShell(method)}`);
  for (const [name, value] of Object.entries(headers)) {
    words.push(`--header ${quoteForShell(`${name}: ${value}`)}`);
  }
  if (body.kind === "text") words.push(`--data-raw ${quoteForShell(body.text)}`);
  if (body.kind === "form") {
    for (const [name, value] of body.fields) words.push(`--form-string ${quoteForShell(`${name}=${value}`)}`);
  }
  words.push(quoteForShell(url));
  return words.join(" \\\n  ");
}
