// Text to copy. Without JavaScript it can be selected; public/copy.js shows the button.

import { type Html, html } from "./html.ts";

/** `id` is ours and unique on its page; `label` says what the text is. */
export function copyBox(id: string, label: string, text: string): Html {
  return html`<div class="copy-box">
<pre id="${id}" role="region" aria-label="${label}" tabindex="0"><code>${text}</code></pre>
<button type="button" data-copy="${id}" hidden>Copy<span class="unseen"> ${label}</span></button>
<span class="copied" role="status"></span>
</div>`;
}
