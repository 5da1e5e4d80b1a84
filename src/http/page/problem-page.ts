// What a person sees when a page cannot be shown: what is wrong in our words, and a way on.

import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";

export interface Problem {
  status: number;
  /** Ours, safe to show. */
  message: string;
  requestId?: string;
}

export function problemPage({ status, message, requestId }: Problem): Html {
  const title = TITLES[status] ?? (status >= 500 ? "Something broke here" : "That did not work");
  return layout({
    title,
    main: html`<section class="problem">
<p class="status-code" aria-hidden="true">${status}</p>
<h1>${title}</h1>
<p>${sentence(message)}</p>
${requestId !== undefined && html`<p class="quiet">If you report it, name request <code>${requestId}</code>.</p>`}
<p><a href="/">All listings</a></p>
</section>`,
  });
}

const TITLES: Record<number, string> = {
  400: "This address cannot be read",
  404: "Not here",
};

function sentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
