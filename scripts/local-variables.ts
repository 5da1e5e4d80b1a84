// The variables of the local world, on top of wrangler.toml's production ones. Every key here is public: it is worth
// nothing, and config.ts refuses to use it on a chain that is not on this machine.

import { ACCOUNTS, NETWORK } from "./chain/addresses.ts";

/** Who is who among anvil's ten public accounts. */
export const [RELAYER, SELLER, BUYER] = ACCOUNTS;
/** None of the sellers', buyers' or relayers' accounts: top-ups of custodial wallets are paid to it. */
export const TOPUP_ACCOUNT = ACCOUNTS[9] ?? SELLER;

export const OPERATOR_TOKEN = "local-operator";

const OWN_PREFIX = "SOUK_VAR_";

/** What the Worker gets as variables and secrets; `SOUK_VAR_<NAME>` of this process's environment wins. */
export function localVariables(url: string, rpcUrl: string): Record<string, string> {
  return {
    AUTH: "open",
    ADMIN_TOKEN: OPERATOR_TOKEN,
    MAC_KEYS: `1:${"a1".repeat(32)}`,
    CHALLENGE_SIGNING_KEYS: "b2".repeat(32),
    RECEIPT_SIGNING_KEYS: "c3".repeat(32),
    PUBLIC_ORIGIN: url,
    RPC_URLS_84532: rpcUrl,
    RELAYER_KEYS_84532: RELAYER.key,
    // Anvil mines at once and never takes a block back: mined is final. Its blocks come when something is sent.
    NETWORKS: JSON.stringify({ [NETWORK]: { confirmations: 1, finalityBlocks: 0, blockTimeSeconds: null } }),
    MAX_IN_FLIGHT: "256",
    TOPUP_PAY_TO: TOPUP_ACCOUNT.address,
    ALLOW_LOOPBACK_RESOURCES: "true",
  };
}

export function variablesFromEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(OWN_PREFIX) && value !== undefined ? [[name.slice(OWN_PREFIX.length), value]] : [],
    ),
  );
}
