// Decoding by the contract's strict rules: the order of its questions, the form of every field, and that nothing in
// the world makes it throw.

import fc from "fast-check";
import { maxUint256 } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import { findProblem } from "../../src/http/json-schema.ts";
import { decodePayment } from "../../src/payments/decode-payment.ts";
import { PAYMENT_REQUEST_SCHEMA } from "../../src/payments/payment-schema.ts";
import { aPayment, BUYER, CHAIN_ID, NETWORK, SELLER, type TestPayment, USDC } from "../support/chain.ts";

const networks = new Map([[NETWORK, { chainId: CHAIN_ID }]]);
const decode = (body: unknown) => decodePayment(body, networks);

let eip3009: TestPayment;
let permit2: TestPayment;
let upto: TestPayment;
beforeAll(async () => {
  eip3009 = await aPayment();
  permit2 = await aPayment({ method: "permit2" });
  upto = await aPayment({ method: "upto" });
});

/** A copy with one field set, or left out for `undefined`; the path is dotted. */
function withField(payment: TestPayment, path: string, value: unknown): unknown {
  const copy = structuredClone(payment) as unknown as Record<string, unknown>;
  const names = path.split(".");
  const last = names.pop() ?? "";
  let parent = copy;
  for (const name of names) parent = parent[name] as Record<string, unknown>;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

function refusal(body: unknown): { reason: string; message: string | null } | null {
  const decoding = decode(body);
  return decoding.ok ? null : { reason: decoding.reason, message: decoding.message };
}

describe("decodePayment", () => {
  it("reads an EIP-3009 payment into one normalised object", () => {
    const decoding = decode(eip3009);
    expect(decoding).toMatchObject({
      ok: true,
      payment: {
        scheme: "exact",
        method: "eip3009",
        network: NETWORK,
        chainId: CHAIN_ID,
        payer: BUYER.address,
        payTo: SELLER.address,
        asset: USDC,
        amountAtomic: 10_000n,
        signedAtomic: 10_000n,
        facilitator: null,
        requirements: { extra: { name: "USDC", version: "2" } },
      },
    });
  });

  it("gives the mechanisms no extension and nothing that it does not know", () => {
    const decoding = decode({
      ...eip3009,
      more: 1,
      paymentPayload: {
        ...eip3009.paymentPayload,
        extensions: { eip2612GasSponsoring: { info: {} } },
        more: 1,
      },
    });
    expect(decoding.ok && Object.keys(decoding.payment.payload)).toEqual([
      "x402Version",
      "accepted",
      "payload",
    ]);
  });

  it("survives structured clone, as it must to reach an object", () => {
    for (const payment of [eip3009, permit2, upto]) {
      const decoding = decode(payment);
      expect(structuredClone(decoding)).toEqual(decoding);
    }
  });

  it.each([
    ["null", null],
    ["an array", []],
    ["a string", "{}"],
    ["a number", 2],
    ["nothing", undefined],
  ])("C21: refuses %s as a body", (_, body) => {
    expect(refusal(body)).toEqual({ reason: "invalid_payload", message: "body is not an object" });
  });

  it.each([
    "x402Version",
    "paymentPayload",
    "paymentPayload.x402Version",
    "paymentPayload.accepted",
    "paymentPayload.accepted.scheme",
    "paymentPayload.accepted.network",
    "paymentPayload.accepted.asset",
    "paymentPayload.accepted.amount",
    "paymentPayload.accepted.payTo",
    "paymentPayload.payload",
    "paymentPayload.payload.signature",
    "paymentPayload.payload.authorization",
    "paymentPayload.payload.authorization.from",
    "paymentPayload.payload.authorization.to",
    "paymentPayload.payload.authorization.value",
    "paymentPayload.payload.authorization.validAfter",
    "paymentPayload.payload.authorization.validBefore",
    "paymentPayload.payload.authorization.nonce",
    "paymentRequirements",
    "paymentRequirements.scheme",
    "paymentRequirements.network",
    "paymentRequirements.asset",
    "paymentRequirements.amount",
    "paymentRequirements.payTo",
    "paymentRequirements.maxTimeoutSeconds",
  ])("C21: names %s when it is missing or null", (path) => {
    expect(refusal(withField(eip3009, path, undefined))).toEqual({
      reason: "invalid_payload",
      message: `${path} is missing`,
    });
    const ofNull = refusal(withField(eip3009, path, null));
    expect(ofNull?.message).toMatch(new RegExp(`^${path} is not `));
    expect(ofNull?.reason).toMatch(/^invalid_payload$|^invalid_payment_requirements$/);
  });

  it.each([
    "paymentPayload.payload.permit2Authorization.from",
    "paymentPayload.payload.permit2Authorization.permitted",
    "paymentPayload.payload.permit2Authorization.permitted.token",
    "paymentPayload.payload.permit2Authorization.permitted.amount",
    "paymentPayload.payload.permit2Authorization.spender",
    "paymentPayload.payload.permit2Authorization.nonce",
    "paymentPayload.payload.permit2Authorization.deadline",
    "paymentPayload.payload.permit2Authorization.witness",
    "paymentPayload.payload.permit2Authorization.witness.to",
    "paymentPayload.payload.permit2Authorization.witness.validAfter",
  ])("C21: names Permit2's %s when it is missing", (path) => {
    const missing = { reason: "invalid_payload", message: `${path} is missing` };
    expect(refusal(withField(permit2, path, undefined))).toEqual(missing);
    expect(refusal(withField(upto, path, undefined))).toEqual(missing);
  });

  it("C21: names upto's facilitator and payload when they are missing", () => {
    const path = "paymentPayload.payload.permit2Authorization";
    expect(refusal(withField(upto, `${path}.witness.facilitator`, undefined))?.message).toBe(
      `${path}.witness.facilitator is missing`,
    );
    expect(refusal(withField(upto, path, undefined))?.message).toBe(`${path} is missing`);
  });

  it("C21: echoes network and payer in a refusal, when they can be read", () => {
    const without = decode(withField(eip3009, "paymentPayload.accepted", undefined));
    expect(without).toMatchObject({ network: NETWORK, payer: BUYER.address });
    expect(decode({})).toMatchObject({ network: "", payer: null });
    const long = withField(eip3009, "paymentRequirements.network", "x".repeat(10_000));
    expect(decode(long)).toMatchObject({ reason: "invalid_network", network: "" });
  });

  it.each([
    "",
    " 10000",
    "10000 ",
    "+1",
    "-1",
    "0x10",
    "1e4",
    "010",
    "00",
    "1.0",
    "१",
    "1_000",
    (maxUint256 + 1n).toString(),
    "1".repeat(79),
    10_000,
    1e21,
    true,
    {},
    ["10000"],
  ])("refuses %j as an amount, by whose it is", (value) => {
    expect(refusal(withField(eip3009, "paymentRequirements.amount", value))?.reason).toBe(
      "invalid_payment_requirements",
    );
    for (const path of [
      "paymentPayload.accepted.amount",
      "paymentPayload.payload.authorization.value",
      "paymentPayload.payload.authorization.validAfter",
      "paymentPayload.payload.authorization.validBefore",
    ]) {
      expect(refusal(withField(eip3009, path, value))?.reason).toBe("invalid_payload");
    }
    expect(
      refusal(withField(permit2, "paymentPayload.payload.permit2Authorization.nonce", value))?.reason,
    ).toBe("invalid_payload");
  });

  it.each([
    "",
    "0x",
    "0X3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    `0x${"g".repeat(40)}`,
    `0x${"1".repeat(41)}`,
    7,
    {},
  ])("refuses %j as an address, by whose it is", (value) => {
    for (const name of ["asset", "payTo"]) {
      expect(refusal(withField(eip3009, `paymentRequirements.${name}`, value))?.reason).toBe(
        "invalid_payment_requirements",
      );
      expect(refusal(withField(eip3009, `paymentPayload.accepted.${name}`, value))?.reason).toBe(
        "invalid_payload",
      );
    }
  });

  it.each(["0x11", `0x${"11".repeat(33)}`, "7", 7, `0x${"zz".repeat(32)}`])(
    "refuses %j as an EIP-3009 nonce",
    (value) => {
      const path = "paymentPayload.payload.authorization.nonce";
      expect(refusal(withField(eip3009, path, value))?.reason).toBe("invalid_payload");
    },
  );

  it("answers version before network, network before fields, fields before scheme, scheme before signature", () => {
    const worse = (steps: [string, unknown][]) =>
      refusal(
        steps.reduce(
          (body, [path, value]) => withField(body as TestPayment, path, value),
          eip3009 as unknown,
        ),
      );
    const steps: [string, unknown][] = [
      ["paymentPayload.payload.signature", "0x12zz"],
      ["paymentRequirements.scheme", "deferred"],
      ["paymentRequirements.amount", "01"],
      ["paymentPayload.accepted", undefined],
      ["paymentRequirements.network", "base"],
      ["x402Version", 1],
      ["paymentPayload.x402Version", "2"],
    ];
    const reasons = steps.map((_, index) => worse(steps.slice(0, index + 1))?.reason);
    expect(reasons).toEqual([
      "invalid_exact_evm_signature",
      "unsupported_scheme",
      "invalid_payment_requirements",
      "invalid_payload",
      "invalid_network",
      "invalid_x402_version",
      "invalid_payload",
    ]);
  });

  it("never throws, whatever the JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (body) => {
        expect(decode(body).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it("never throws, whichever field of a payment holds whatever JSON", () => {
    const samples = [eip3009, permit2, upto];
    const paths = [...new Set(samples.flatMap((sample) => pathsOf(sample)))];
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.constantFrom(...paths),
        fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string(), hexText()),
        (sample, path, value) => {
          if (!pathsOf(sample).includes(path)) return;
          const decoding = decode(withField(sample, path, value));
          if (!decoding.ok) expect(decoding.reason).toMatch(/^[a-z0-9_]+$/);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("answers huge and deep bodies", () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(decode(JSON.parse(deep)).ok).toBe(false);
    const nested = JSON.parse(`{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`);
    expect(decode(withField(eip3009, "paymentPayload.extensions", nested)).ok).toBe(true);
    expect(decode(withField(eip3009, "paymentRequirements.extra", nested)).ok).toBe(true);
    expect(decode(withField(eip3009, "paymentPayload.accepted", nested)).ok).toBe(false);
    expect(
      refusal(withField(eip3009, "paymentPayload.payload.signature", `0x${"11".repeat(120_000)}`)),
    ).toEqual({
      reason: "invalid_exact_evm_signature",
      message: null,
    });
  });

  it("keeps every amount exactly", () => {
    fc.assert(
      fc.property(fc.bigInt(0n, maxUint256), (amount) => {
        const priced = withField(eip3009, "paymentRequirements.amount", amount.toString()) as TestPayment;
        const signed = withField(priced, "paymentPayload.payload.authorization.value", amount.toString());
        const decoding = decode(signed);
        if (!decoding.ok) throw new Error(decoding.reason);
        const { amountAtomic, signedAtomic, requirements } = decoding.payment;
        expect([amountAtomic, signedAtomic]).toEqual([amount, amount]);
        expect(requirements.amount).toBe(amount.toString());
      }),
    );
  });

  it("takes exactly the bodies that the published schema describes", () => {
    for (const sample of [eip3009, permit2, upto]) {
      expect(findProblem(PAYMENT_REQUEST_SCHEMA, sample)).toBeUndefined();
      // Which of Permit2's two witnesses is wanted follows from the scheme, which the schema does not follow.
      for (const path of pathsOf(sample).filter((name) => !name.endsWith(".facilitator"))) {
        for (const value of [undefined, null, 7, "", "x"]) {
          const body = withField(sample, path, value);
          const decoding = decode(body);
          const isMalformed = !decoding.ok && decoding.reason.startsWith("invalid_pay");
          // What the schema refuses never gets a verdict; and what decoding calls malformed, the schema refuses.
          if (findProblem(PAYMENT_REQUEST_SCHEMA, body)) expect(decoding.ok, path).toBe(false);
          else expect(isMalformed, `${path} ${value}`).toBe(false);
        }
      }
    }
  });
});

/** Dotted paths of every field, but for `resource`, `extensions` and `extra`, which are nobody's reason to refuse. */
function pathsOf(value: unknown, path = ""): string[] {
  if (typeof value !== "object" || value === null || /(resource|extensions|extra)$/.test(path)) {
    return /(resource|extensions|extra)$/.test(path) ? [] : [path];
  }
  const inner = Object.entries(value).flatMap(([name, field]) =>
    pathsOf(field, path === "" ? name : `${path}.${name}`),
  );
  return path === "" ? inner : [path, ...inner];
}

function hexText() {
  return fc.uint8Array({ maxLength: 200 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`);
}
