// Verify, supported and health as they leave the Worker, inside workerd: statuses, shapes and headers of CONTRACT.md
// section 0, against a real chain behind a proxy that counts and fails.

import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createKey } from "../../src/http/key-store.ts";
import worker from "../../src/index.ts";
import { ACCOUNTS, aPayment, approvePermit2, BUYER, NETWORK, RELAYER } from "../support/chain.ts";
import { type LabChain, startLabChain } from "../support/chain-lab-client.ts";

type Variables = Record<string, unknown>;
type Body = Record<string, unknown>;

/** Stands in the RPC URL as a provider's key would. */
const PROVIDER_KEY = "s3cr3t-provider-key";

let chain: LabChain;
let open: Variables;

beforeAll(async () => {
  chain = await startLabChain();
  await approvePermit2(chain.rpcUrl, BUYER.address);
  open = {
    ...env,
    AUTH: "open",
    RPC_URLS_84532: `${chain.proxyUrl}/${PROVIDER_KEY}`,
    RELAYER_KEYS_84532: RELAYER.key,
    NETWORKS: JSON.stringify({ [NETWORK]: { blockTimeSeconds: null } }),
  };
});
beforeEach(() => chain.proxy.clearRules());

async function call(path: string, init: RequestInit = {}, variables = open): Promise<Response> {
  const ctx = createExecutionContext();
  const request = new Request<unknown, IncomingRequestCfProperties>(
    `https://souk.test${path}`,
    init as never,
  );
  const response = await worker.fetch(request, variables as never, ctx);
  await waitOnExecutionContext(ctx);
  return response;
}

function post(path: string, body: unknown, variables = open, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return call(path, { method: "POST", body: text, headers }, variables);
}

async function bodyOf(response: Response): Promise<Body> {
  return (await response.json()) as Body;
}

describe("POST /verify", () => {
  it("answers a good payment with 200 and who pays", async () => {
    const response = await post("/verify", await aPayment());
    expect(response.status).toBe(200);
    expect(await bodyOf(response)).toEqual({ isValid: true, payer: BUYER.address });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get("extension-responses")).toBeNull();
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("asks the node once", async () => {
    await (await post("/verify", await aPayment())).body?.cancel();
    await chain.proxy.resetCounts();
    for (const method of ["eip3009", "permit2", "upto"] as const) {
      const response = await post("/verify", await aPayment({ method }));
      expect(await bodyOf(response)).toEqual({ isValid: true, payer: BUYER.address });
    }
    expect(await chain.proxy.counts()).toMatchObject({ requests: 3 });
  });

  it("answers a bad payment with 200, the reason, one sentence of ours and who would pay", async () => {
    const response = await post("/verify", await aPayment({ signature: `0x${"11".repeat(65)}` }));
    expect(response.status).toBe(200);
    expect(await bodyOf(response)).toEqual({
      isValid: false,
      invalidReason: "invalid_exact_evm_signature",
      invalidMessage: "the signature is not the payer's over this authorization",
      payer: BUYER.address,
    });
  });

  it.each([
    ["{}", "x402Version is missing"],
    ["[]", "body is not an object"],
    ["null", "body is not an object"],
    ["7", "body is not an object"],
    ["", "body is not JSON"],
    ["{", "body is not JSON"],
    ["\u0000", "body is not JSON"],
  ])("C21: answers the body %j with 400 in the verdict shape", async (text, message) => {
    const response = await post("/verify", text);
    expect(response.status).toBe(400);
    expect(await bodyOf(response)).toEqual({
      isValid: false,
      invalidReason: "invalid_payload",
      invalidMessage: message,
    });
  });

  it("C21: names the missing field, and takes any content type", async () => {
    const payment = await aPayment();
    const { accepted: _, ...paymentPayload } = payment.paymentPayload;
    const response = await post("/verify", { ...payment, paymentPayload }, open, {
      "content-type": "text/plain",
    });
    expect(response.status).toBe(400);
    expect(await bodyOf(response)).toMatchObject({
      invalidReason: "invalid_payload",
      invalidMessage: "paymentPayload.accepted is missing",
      payer: BUYER.address,
    });
  });

  it("C08: answers malformed requirements with 400 and their own reason", async () => {
    const response = await post("/verify", await aPayment({ requirements: { amount: "010" } }));
    expect(response.status).toBe(400);
    expect(await bodyOf(response)).toMatchObject({
      isValid: false,
      invalidReason: "invalid_payment_requirements",
      invalidMessage: expect.stringContaining("paymentRequirements.amount"),
    });
  });

  it("C21: answers a body over 256 KiB with 413 in the verdict shape", async () => {
    const response = await post("/verify", `{"a":"${"x".repeat(2_000_000)}"}`);
    expect(response.status).toBe(413);
    expect(await bodyOf(response)).toMatchObject({ isValid: false, invalidReason: "invalid_payload" });
  });

  it("C21: answers deep JSON like any other malformed body", async () => {
    const response = await post("/verify", "[".repeat(120_000) + "]".repeat(120_000));
    expect(response.status).toBe(400);
    expect(await bodyOf(response)).toMatchObject({ isValid: false, invalidReason: "invalid_payload" });
  });

  it("C21: refuses GET and OPTIONS with 405, opens nothing to browsers, and never redirects", async () => {
    const get = await call("/verify");
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
    expect(await bodyOf(get)).toMatchObject({ error: { code: "METHOD_NOT_ALLOWED" } });
    const options = await call("/verify", { method: "OPTIONS" });
    expect(options.status).toBe(405);
    expect(options.headers.get("access-control-allow-origin")).toBeNull();
    const slash = await post("/verify/", await aPayment());
    expect(await bodyOf(slash)).toMatchObject({ isValid: true });
  });

  it("C21: a node that fails is 502 with Retry-After, says nothing of the payment and leaks nothing", async () => {
    await chain.proxy.addRule({ action: { do: "status", status: 500 } });
    const response = await post("/verify", await aPayment());
    expect(response.status).toBe(502);
    expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      isValid: false,
      invalidReason: "unexpected_verify_error",
      invalidMessage: "the network's nodes gave no answer; nothing is said about the payment",
      payer: BUYER.address,
      extra: { retryable: true },
    });
    expect(text).not.toContain(PROVIDER_KEY);
  });

  it("asks for a key with AUTH=keys: none and a wrong one are 401, another scope 403", async () => {
    const keys = { ...open, AUTH: "keys", RPC_URLS_84532: chain.proxyUrl };
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
    const right = await createKey(env.DB, { tenant: "shop" }, ["payments:verify"], 0);
    const other = await createKey(env.DB, { tenant: "shop" }, ["payments:settle"], 0);
    const payment = await aPayment();
    const none = await post("/verify", payment, keys);
    expect(none.status).toBe(401);
    expect(await bodyOf(none)).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    expect((await post("/verify", payment, keys, bearer("souk_wrong"))).status).toBe(401);
    expect((await post("/verify", payment, keys, bearer(other.key))).status).toBe(403);
    expect(await bodyOf(await post("/verify", payment, keys, bearer(right.key)))).toMatchObject({
      isValid: true,
    });
    // A wrong key is no key also where none is needed.
    expect((await post("/verify", payment, open, bearer("souk_wrong"))).status).toBe(401);
  });

  it("is 503 while the configuration is not fit for money, and names the variable", async () => {
    const unfit: [string, Variables][] = [
      ["AUTH", { RPC_URLS_84532: "https://rpc.example/key" }],
      ["RELAYER_KEYS_84532", { AUTH: "keys", RPC_URLS_84532: "https://rpc.example/key" }],
      ["RPC_URLS_84532", { RPC_URLS_84532: "ftp://x" }],
      ["MAC_KEYS", { MAC_KEYS: "1:zz" }],
      ["NETWORKS", { NETWORKS: "{" }],
      ["RELAYERS", { RELAYERS: undefined }],
    ];
    for (const [variable, change] of unfit) {
      const variables: Variables = { ...open, ...change };
      const headers = variables.AUTH === "keys" ? { authorization: `Bearer ${env.ADMIN_TOKEN}` } : {};
      const response = await post("/verify", await aPayment(), variables, headers);
      expect(response.status, variable).toBe(503);
      expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
      const body = await bodyOf(response);
      expect(body).toMatchObject({
        isValid: false,
        invalidReason: "misconfigured",
        extra: { retryable: true },
      });
      expect(body.invalidMessage).toMatch(new RegExp(`^${variable} `));
      expect(JSON.stringify(body)).not.toContain("rpc.example");
    }
  });

  it("is 429 with Retry-After over the limit of a payer, or of a key", async () => {
    const limited = (allowed: (key: string) => boolean) => ({
      limit: async ({ key }: { key: string }) => ({ success: allowed(key) }),
    });
    const payment = await aPayment();
    const byPayer = { ...open, PAYMENT_LIMIT: limited((key) => !key.includes(BUYER.address.toLowerCase())) };
    const response = await post("/verify", payment, byPayer);
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await bodyOf(response)).toMatchObject({
      isValid: false,
      invalidReason: "rate_limited",
      extra: { retryable: true },
    });
    const otherPayer = await aPayment({ payer: ACCOUNTS[3] ?? BUYER });
    expect(await bodyOf(await post("/verify", otherPayer, byPayer))).toMatchObject({ isValid: true });

    const { key, keyId } = await createKey(env.DB, { tenant: "busy" }, ["payments:verify"], 0);
    const byKey = { ...open, AUTH: "keys", KEY_LIMIT: limited((name) => name !== keyId) };
    const keyed = await post("/verify", payment, byKey, { authorization: `Bearer ${key}` });
    expect(keyed.status).toBe(429);
  });

  it("C41: says `processing` with an id for a valid payment's block, `rejected` for a bad block", async () => {
    const extensions = { bazaar: BLOCK };
    const good = await post("/verify", await aPayment({ extensions }));
    expect(await bodyOf(good)).toMatchObject({ isValid: true });
    expect(outcomeOf(good)).toEqual({ bazaar: { status: "processing", id: expect.any(String) } });
    const bad = await post("/verify", await aPayment({ extensions: { bazaar: { info: {}, schema: {} } } }));
    expect(await bodyOf(bad)).toMatchObject({ isValid: true });
    expect(outcomeOf(bad)).toEqual({ bazaar: { status: "rejected", rejectedReason: expect.any(String) } });
  });

  it("C41: says nothing of the block when the payment is not valid", async () => {
    const extensions = { bazaar: BLOCK };
    for (const options of [{ signed: { value: 1n } }, { signature: `0x${"00".repeat(62)}` as const }]) {
      const response = await post("/verify", await aPayment({ ...options, extensions }));
      expect(await bodyOf(response)).toMatchObject({ isValid: false });
      expect(response.headers.get("extension-responses")).toBeNull();
    }
  });
});

const BLOCK = {
  info: { input: { type: "http", method: "GET", queryParams: { city: "Oslo" } } },
  schema: {
    type: "object",
    required: ["input"],
    properties: {
      input: {
        type: "object",
        required: ["type", "method"],
        properties: {
          type: { const: "http" },
          method: { enum: ["GET", "HEAD", "DELETE"] },
          queryParams: { type: "object" },
        },
      },
    },
  },
};

function outcomeOf(response: Response): unknown {
  return JSON.parse(atob(response.headers.get("extension-responses") ?? ""));
}

describe("/supported", () => {
  it.each(["GET", "POST"])("lists by %s exactly what verify accepts, and who settles", async (method) => {
    for (const path of ["/supported", "/supported/"]) {
      const response = await call(path, { method, headers: { "content-type": "application/json" } });
      expect(response.status).toBe(200);
      expect(await bodyOf(response)).toEqual({
        kinds: [
          { x402Version: 2, scheme: "exact", network: NETWORK },
          {
            x402Version: 2,
            scheme: "upto",
            network: NETWORK,
            extra: { facilitatorAddress: RELAYER.address },
          },
        ],
        extensions: ["bazaar"],
        signers: { "eip155:*": [RELAYER.address] },
      });
    }
  });

  it("is open to any origin by GET", async () => {
    const response = await call("/supported");
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toBeNull();
    await response.body?.cancel();
  });

  it("supports nothing while money is refused or no network is switched on", async () => {
    const nothing = { kinds: [], signers: { "eip155:*": [] } };
    expect(await bodyOf(await call("/supported", {}, { ...open, MAC_KEYS: "" }))).toMatchObject(nothing);
    const off = { ...open, RPC_URLS_84532: "", RELAYER_KEYS_84532: "" };
    expect(await bodyOf(await call("/supported", {}, off))).toMatchObject(nothing);
  });
});

describe("GET /health", () => {
  const checksOf = async (response: Response) => {
    const { status, checks } = (await response.json()) as {
      status: string;
      checks: { name: string; ok: boolean; detail: string }[];
    };
    return { status, byName: Object.fromEntries(checks.map(({ name, ...check }) => [name, check])) };
  };

  it("is ok when the node answers and the relayer holds gas", async () => {
    const response = await call("/health", {}, { ...open });
    expect(response.status).toBe(200);
    const { status, byName } = await checksOf(response);
    expect(status).toBe("ok");
    expect(byName[`rpc ${NETWORK}`]).toMatchObject({ ok: true, detail: expect.stringMatching(/^head \d+/) });
    expect(byName[`relayer gas ${NETWORK}`]).toMatchObject({ ok: true });
  });

  it("stays 200 and degraded when a relayer is out of gas", async () => {
    const poor = { ...open, RELAYER_KEYS_84532: `0x${"77".repeat(32)}` };
    const response = await call("/health", {}, poor);
    expect(response.status).toBe(200);
    const { status, byName } = await checksOf(response);
    expect(status).toBe("degraded");
    expect(byName[`relayer gas ${NETWORK}`]).toEqual({ ok: false, detail: "1 of 1 accounts are low" });
  });

  it("is 503 when no network can verify: silent node, other chain, or configuration; no URL in it", async () => {
    await chain.proxy.addRule({ action: { do: "status", status: 500 } });
    const silent = await call("/health", {}, { ...open });
    expect(silent.status).toBe(503);
    expect(JSON.stringify(await silent.clone().json())).not.toContain(PROVIDER_KEY);
    expect((await checksOf(silent)).byName[`rpc ${NETWORK}`]).toEqual({ ok: false, detail: "no answer" });

    await chain.proxy.clearRules();
    await chain.proxy.addRule({ method: "eth_chainId", action: { do: "answer", result: "0x1" } });
    const other = await call("/health", {}, { ...open, RPC_URLS_84532: `${chain.proxyUrl}/other` });
    expect(other.status).toBe(503);
    expect((await checksOf(other)).byName[`rpc ${NETWORK}`]).toEqual({
      ok: false,
      detail: "the node serves another chain id",
    });

    await chain.proxy.clearRules();
    const unfit = await call("/health", {}, { ...open, MAC_KEYS: "1:zz" });
    expect(unfit.status).toBe(503);
    expect((await checksOf(unfit)).byName["config MAC_KEYS"]).toMatchObject({ ok: false });
  });
});
