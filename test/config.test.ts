// Env -> Config: what is missing or wrong is named, no secret is repeated, and money moves nowhere that anybody could
// reach with a key the whole world has.

import { describe, expect, it } from "vitest";
import { type Env, readConfig } from "../src/config.ts";

const PUBLIC_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const OWN_KEY = `0x${"1f".repeat(32)}`;
const MAC_KEYS = `1:${"ab".repeat(32)}`;

const bindings = Object.fromEntries(
  [
    ...[
      "DB",
      "CATALOG_QUEUE",
      "PROBE_QUEUE",
      "SETTLEMENTS",
      "RELAYERS",
      "IDEMPOTENCY",
      "PAID_CALLS",
      "WALLETS",
    ],
    ...["PAYMENT_LIMIT", "KEY_LIMIT", "VALIDATE_CALLER_LIMIT", "VALIDATE_TARGET_LIMIT"],
  ].map((name) => [name, {}]),
);

function read(variables: Record<string, unknown>) {
  return readConfig({ ...bindings, MAC_KEYS, ...variables } as unknown as Env);
}

const named = (variables: Record<string, unknown>) =>
  read(variables).problems.map(({ variable }) => variable);

describe("a configuration", () => {
  it("of a fresh deploy has no network, needs keys, and names what is missing", () => {
    const config = read({ AUTH: "keys", MAC_KEYS: undefined });
    expect(config).toMatchObject({ auth: "keys", networks: new Map() });
    expect(config.problems).toEqual([{ variable: "MAC_KEYS", problem: expect.stringContaining("missing") }]);
  });

  it.each(Object.keys(bindings))("names the binding %s when it is missing", (binding) => {
    expect(named({ [binding]: undefined })).toEqual([binding]);
  });

  it("switches a described network on by an RPC URL and a key", () => {
    const config = read({
      RPC_URLS_8453: "https://a.example, https://b.example",
      RELAYER_KEYS_8453: OWN_KEY,
    });
    expect(config.problems).toEqual([]);
    const network = config.networks.get("eip155:8453");
    expect(network?.rpcUrls).toEqual(["https://a.example", "https://b.example"]);
    expect(network?.relayers()).toHaveLength(1);
  });

  it("takes overrides of a network and names a bad one", () => {
    const networks = (value: unknown) => ({
      RPC_URLS_84532: "http://127.0.0.1:1",
      RELAYER_KEYS_84532: PUBLIC_KEY,
      NETWORKS: JSON.stringify({ "eip155:84532": value }),
    });
    const config = read(networks({ confirmations: 3, finalityBlocks: 9, blockTimeSeconds: 0.25 }));
    expect(config.problems).toEqual([]);
    expect(config.networks.get("eip155:84532")).toMatchObject({
      confirmations: 3,
      finalityBlocks: 9,
      blockTimeMs: 250,
    });
    expect(named(networks({ confirmations: 0 }))).toEqual(["NETWORKS"]);
    expect(named({ NETWORKS: "{" })).toEqual(["NETWORKS"]);
    expect(named({ NETWORKS: JSON.stringify({ "eip155:999": {} }) })).toEqual(["NETWORKS"]);
  });

  it.each([
    ["AUTH", { AUTH: "off" }],
    ["ADMIN_TOKEN", { ADMIN_TOKEN: "short" }],
    ["MAC_KEYS", { MAC_KEYS: "1:zz" }],
    ["SETTLE_WAIT_SECONDS", { SETTLE_WAIT_SECONDS: "0" }],
    ["SETTLE_WAIT_SECONDS", { SETTLE_WAIT_SECONDS: "1e3" }],
    ["HOLD_SECONDS", { HOLD_SECONDS: "-1" }],
    ["CHALLENGE_SIGNING_KEYS", { CHALLENGE_SIGNING_KEYS: "00" }],
    ["TOPUP_PAY_TO", { TOPUP_PAY_TO: "0x1" }],
    ["RPC_URLS_8453", { RELAYER_KEYS_8453: OWN_KEY }],
    ["RPC_URLS_8453", { RELAYER_KEYS_8453: OWN_KEY, RPC_URLS_8453: "ftp://a.example" }],
    ["RPC_URLS_8453", { RELAYER_KEYS_8453: OWN_KEY, RPC_URLS_8453: "https://user:secret@a.example" }],
    ["RELAYER_KEYS_8453", { RPC_URLS_8453: "https://a.example" }],
    ["RELAYER_KEYS_8453", { RPC_URLS_8453: "https://a.example", RELAYER_KEYS_8453: `0x${"0".repeat(64)}` }],
    ["RELAYER_KEYS_8453", { RPC_URLS_8453: "https://a.example", RELAYER_KEYS_8453: `0x${"f".repeat(64)}` }],
  ])("names %s in %j and repeats no value", (variable, variables) => {
    const { problems } = read(variables);
    expect(problems.map((problem) => problem.variable)).toEqual([variable]);
    for (const value of Object.values(variables)) {
      if (value.length > 4) expect(JSON.stringify(problems)).not.toContain(value);
    }
  });

  it.each([
    ["RELAYER_KEYS_8453", "keys", PUBLIC_KEY],
    ["RELAYER_KEYS_8453", "keys", PUBLIC_KEY.toUpperCase().replace("0X", "0x")],
    ["AUTH", "open", OWN_KEY],
  ])("refuses money and names %s where the RPC is not on loopback", (variable, AUTH, key) => {
    expect(named({ AUTH, RELAYER_KEYS_8453: key, RPC_URLS_8453: "https://rpc.example/v2/secret" })).toEqual([
      variable,
    ]);
    expect(
      named({ AUTH, RELAYER_KEYS_8453: key, RPC_URLS_8453: "http://127.0.0.1:8545,https://rpc.example" }),
    ).toEqual([variable]);
  });

  it.each(["http://127.0.0.1:8545", "http://localhost:8545", "http://[::1]:8545"])(
    "serves the local world on %s",
    (url) => {
      expect(named({ AUTH: "open", RELAYER_KEYS_84532: PUBLIC_KEY, RPC_URLS_84532: url })).toEqual([]);
    },
  );

  it.each(["http://127.0.0.1.evil.example", "http://localhost.evil.example", "http://127.1.evil.example"])(
    "does not take %s for loopback",
    (url) => {
      expect(named({ AUTH: "open", RELAYER_KEYS_84532: OWN_KEY, RPC_URLS_84532: url })).toEqual(["AUTH"]);
    },
  );
});
