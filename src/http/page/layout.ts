// The frame of every page: head, header, footer. No inline script or style; nothing is loaded from other hosts.

import { type Fragment, type Html, html } from "./html.ts";

export interface PageContent {
  /** Of the window; the name of the site follows. */
  title: string;
  main: Fragment;
  /** The page has a search form of its own, so the header needs none. */
  hasSearch?: boolean;
}

export function layout({ title, main, hasSearch = false }: PageContent): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Souk</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<script src="/copy.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<div class="width">
<a class="wordmark" href="/">Souk</a>
${hasSearch ? html`<p class="motto">pay-per-call APIs and tools</p>` : HEADER_SEARCH}
</div>
</header>
<main id="main" class="width">
${main}
</main>
<footer class="bottom">
<div class="width">
<p>Names and descriptions are the sellers’ own words. Souk checks payments, not promises.</p>
<nav aria-label="For programs">
<ul>
<li><a href="/openapi.json">API description</a></li>
<li><a href="/discovery/resources">Listings as JSON</a></li>
<li><a href="/supported">Networks served</a></li>
<li><a href="/health">Health</a></li>
</ul>
</nav>
</div>
</footer>
</body>
</html>
`;
}

const HEADER_SEARCH = html`<form class="small-search" role="search" action="/">
<label class="unseen" for="header-query">Search the bazaar</label>
<input id="header-query" name="query" type="search" maxlength="400" placeholder="Search the bazaar" required>
<button>Search</button>
</form>`;
