// `npm run keys`: makes and revokes API keys through the operator's routes, on the local world or on a deployed Worker.
//
//   npm run keys -- create <tenant> <scope> [<scope> ...]
//   npm run keys -- revoke <key id>
//
// SOUK_URL names the Worker (default: the local world), SOUK_ADMIN_TOKEN its operator token (default: the local one, on
// loopback only). The key is printed once, on a line of its own. A provider's key: `npm run souk -- provider key`.

import { ask, localUrl, runTool } from "./worker-client.ts";

const USAGE = `usage: npm run keys -- create <tenant> <scope> [<scope> ...]
       npm run keys -- revoke <key id>
scopes: payments:verify payments:settle payments:read audit:read
environment: SOUK_URL (${localUrl()}), SOUK_ADMIN_TOKEN (needed where SOUK_URL is not on this machine)`;

const [action, name, ...scopes] = process.argv.slice(2);
await runTool(async () => {
  if (action === "create" && name !== undefined && scopes.length > 0) return create(name, scopes);
  if (action === "revoke" && name !== undefined) return revoke(name);
  throw new Error(USAGE);
});

async function create(tenant: string, wanted: readonly string[]): Promise<void> {
  const answer = await ask("POST", "/v1/keys", { body: { tenant, scopes: wanted } });
  const { keyId, key } = (await answer.json()) as { keyId: string; key: string };
  console.log(`key id  ${keyId}\ntenant  ${tenant}\nscopes  ${wanted.join(" ")}\nkey (shown once):\n${key}`);
}

async function revoke(keyId: string): Promise<void> {
  await ask("DELETE", `/v1/keys/${encodeURIComponent(keyId)}`);
  console.log(`${keyId} is revoked; it stops within a minute`);
}
