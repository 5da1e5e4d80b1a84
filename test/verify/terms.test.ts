// What verify compares: price, window, receiver, asset, version and network, against a real chain.

import { getAddress, maxUint256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../../scripts/chain/anvil.ts";
import {
  aPayment,
  approvePermit2,
  BUYER,
  type Hex,
  latestBlockSeconds,
  mine,
  type PaymentOptions,
  SELLER,
  setNextBlockSeconds,
  USDC,
} from "../support/chain.ts";
import { startFaultyNode } from "../support/faulty-node.ts";
import { type VerifySetting, verdictOn } from "../support/verify.ts";
import { ATTACKER, node, refused, useVerifyLab, VALID, verify } from "../support/verify-lab.ts";

useVerifyLab();

describe("C01: the signed value is compared with the price, exactly", () => {
  const mismatch = refused("invalid_exact_evm_payload_authorization_value_mismatch");
  it("C01: refuses a signature for less, and for more", async () => {
    expect(await verify({ signed: { value: 1n } })).toEqual(mismatch);
    expect(await verify({ signed: { value: 20_000n } })).toEqual(mismatch);
    expect(await verify({ method: "permit2", signed: { value: 1n } })).toEqual(
      refused("permit2_amount_mismatch"),
    );
    expect(await verify({ method: "permit2", signed: { value: 20_000n } })).toEqual(
      refused("permit2_amount_mismatch"),
    );
    expect(await verify({ method: "upto", signed: { value: 20_000n } })).toEqual(
      refused("permit2_amount_mismatch"),
    );
  });
  it("C01: refuses a value changed after signing, and a copy of the terms with another price", async () => {
    expect(await verify({ signed: { value: 1n }, sent: { value: 10_000n } })).toEqual(
      refused("invalid_exact_evm_signature"),
    );
    expect(await verify({ accepted: { amount: "1" } })).toEqual(mismatch);
  });
  it("C01: at settle an upto charge may be anything up to the signed ceiling, and not above", async () => {
    const settling: VerifySetting = { purpose: "settle" };
    const upto = (amount: string): PaymentOptions => ({ method: "upto", requirements: { amount } });
    expect(await verify(upto("9999"), settling)).toEqual(VALID);
    expect(await verify(upto("0"), settling)).toEqual(VALID);
    expect(await verify(upto("10001"), settling)).toEqual(
      refused("invalid_upto_evm_payload_settlement_exceeds_amount"),
    );
  });
  it("C01: refuses dust and assets that are not in the allowlist", async () => {
    expect(await verify({ amount: 999n })).toEqual(refused("invalid_payment_requirements"));
    expect(await verify({ amount: 1_000n })).toEqual(VALID);
    expect(await verify({ asset: ATTACKER })).toEqual(refused("invalid_payment_requirements"));
  });
});

describe("C07: the window, by the injected clock", () => {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const at = (seconds: number): VerifySetting => ({ nowMs: seconds * 1_000 });
  const tooLate = refused("invalid_exact_evm_payload_authorization_valid_before");
  const tooEarly = refused("invalid_exact_evm_payload_authorization_valid_after");

  it("C07: keeps six seconds for a block before the end", async () => {
    const signed = { validBefore: BigInt(nowSeconds + 200) };
    expect(await verify({ signed }, at(nowSeconds + 197))).toEqual(tooLate);
    expect(await verify({ signed }, at(nowSeconds + 194))).toEqual(VALID);
  });
  it("C07: is valid from its first second on", async () => {
    const signed = { validAfter: BigInt(nowSeconds - 1_000) };
    expect(await verify({ signed }, at(nowSeconds - 1_001))).toEqual(tooEarly);
    expect(await verify({ signed }, at(nowSeconds - 1_000))).toEqual(VALID);
  });
  it("C07: the same for Permit2 and upto", async () => {
    for (const method of ["permit2", "upto"] as const) {
      const signed = { validAfter: BigInt(nowSeconds - 500), validBefore: BigInt(nowSeconds + 200) };
      expect(await verify({ method, signed }, at(nowSeconds + 195))).toEqual(
        refused("permit2_deadline_expired"),
      );
      expect(await verify({ method, signed }, at(nowSeconds - 501))).toEqual(
        refused("permit2_not_yet_valid"),
      );
      expect(await verify({ method, signed }, at(nowSeconds))).toEqual(VALID);
    }
  });
  it("C07: reads far ends without overflow, and refuses numbers", async () => {
    const far = { validBefore: 9_999_999_999_999_999_999_999n };
    expect(await verify({ signed: far })).toEqual(VALID);
    expect(await verify({ signed: { validAfter: maxUint256 } })).toEqual(tooEarly);
    const payment = await aPayment();
    const { authorization } = payment.paymentPayload.payload as { authorization: Record<string, unknown> };
    authorization.validBefore = nowSeconds + 100;
    expect(await verdictOn(node.url, payment)).toEqual(refused("invalid_payload", 400));
  });
});

describe("C07: a chain that stood still", () => {
  let idle: Anvil;
  const nowSeconds = Math.floor(Date.now() / 1_000);
  beforeAll(async () => {
    idle = await startAnvil();
    await approvePermit2(idle.rpcUrl, BUYER.address);
  });
  afterAll(() => idle?.stop());

  it.each(["eip3009", "permit2", "upto"] as const)(
    "C07: %s is valid from now, though the last block is older",
    async (method) => {
      const headSeconds = await latestBlockSeconds(idle.rpcUrl);
      const nowMs = (headSeconds + 5_000) * 1_000;
      const signed = {
        validAfter: BigInt(headSeconds + 5_000),
        validBefore: BigInt(headSeconds + 9_000),
      };
      // The mechanism has a clock of its own, which stands before this window: what is asked here is the reader.
      const restore = Date.now;
      Date.now = () => nowMs;
      try {
        expect(await verdictOn(idle.rpcUrl, await aPayment({ method, signed }), { nowMs })).toEqual(VALID);
      } finally {
        Date.now = restore;
      }
    },
  );

  it("C07: a chain that is ahead of our clock is believed", async () => {
    const payment = await aPayment({ signed: { validBefore: BigInt(nowSeconds + 100) } });
    await setNextBlockSeconds(idle.rpcUrl, nowSeconds + 3_000);
    await mine(idle.rpcUrl);
    expect(await verdictOn(idle.rpcUrl, payment)).toEqual(
      refused("invalid_exact_evm_transaction_simulation_failed"),
    );
  });
});

describe("C08: the server's requirements are the authority", () => {
  it("C08: (a) refuses a payment to another receiver, whatever the client's copy says", async () => {
    for (const [method, reason] of [
      ["eip3009", "invalid_exact_evm_recipient_mismatch"],
      ["permit2", "invalid_permit2_recipient_mismatch"],
      ["upto", "invalid_permit2_recipient_mismatch"],
    ] as const) {
      const signed = { to: ATTACKER };
      expect(await verify({ method, signed, accepted: { payTo: ATTACKER } })).toEqual(refused(reason));
      expect(await verify({ method, signed })).toEqual(refused(reason));
      expect(await verify({ method, accepted: { payTo: ATTACKER } })).toEqual(refused(reason));
    }
  });
  it("C08: (b) compares addresses as bytes", async () => {
    const lower = SELLER.address.toLowerCase() as Hex;
    const upper = `0x${SELLER.address.slice(2).toUpperCase()}` as Hex;
    expect(await verify({ payTo: lower, sent: { to: getAddress(lower) } })).toEqual(VALID);
    expect(await verify({ requirements: { payTo: upper } })).toEqual(VALID);
    expect(await verify({ asset: USDC.toLowerCase() as Hex })).toEqual(VALID);
    expect(await verify({ sent: { from: BUYER.address.toLowerCase() as Hex } })).toEqual(VALID);
  });
  it("C08: (c) refuses a wrong checksum with 400, in the requirements by their reason", async () => {
    const wrong = withOtherCase(SELLER.address);
    const malformed = refused("invalid_payment_requirements", 400);
    expect(await verify({ requirements: { payTo: wrong } })).toEqual(malformed);
    expect(await verify({ requirements: { payTo: wrong }, accepted: { payTo: wrong } })).toEqual(malformed);
    expect(await verify({ accepted: { payTo: wrong } })).toEqual(refused("invalid_payload", 400));
    expect(await verify({ sent: { to: wrong } })).toEqual(refused("invalid_payload", 400));
  });
  it("C08: (d) (e) refuses another asset, network or scheme in the client's copy", async () => {
    expect(await verify({ accepted: { asset: ATTACKER } })).toEqual(refused("permit2_token_mismatch"));
    expect(await verify({ accepted: { network: "eip155:8453" } })).toEqual(
      refused("invalid_exact_evm_network_mismatch"),
    );
    expect(await verify({ method: "upto", accepted: { network: "eip155:8453" } })).toEqual(
      refused("invalid_upto_evm_network_mismatch"),
    );
    expect(await verify({ accepted: { scheme: "upto" } })).toEqual(refused("invalid_exact_evm_scheme"));
    expect(await verify({ method: "upto", accepted: { scheme: "exact" } })).toEqual(
      refused("invalid_upto_evm_scheme"),
    );
    expect(await verify({ method: "permit2", signed: { token: ATTACKER } })).toEqual(
      refused("permit2_token_mismatch"),
    );
  });
});

describe("C09: versions and networks", () => {
  const network = refused("invalid_network");
  it.each(["base-sepolia", "eip155:084532", "EIP155:84532", "eip155:*", "eip155:84532 ", "", "eip155:1"])(
    "C09: refuses the network %j",
    async (name) => {
      const id = name as `${string}:${string}`;
      const payment = await aPayment();
      payment.paymentRequirements.network = id;
      payment.paymentPayload.accepted.network = id;
      expect(await verdictOn(node.url, payment)).toEqual(network);
    },
  );
  it("C09: refuses an alias in the client's copy alone", async () => {
    expect(await verify({ accepted: { network: "base-sepolia" as "a:b" } })).toEqual(network);
  });
  const version = refused("invalid_x402_version");
  it.each([
    [1, 1],
    [3, 3],
    [2, 1],
    [1, 2],
    [0, 2],
    [-2, -2],
  ])("C09: refuses version %j outside with %j inside", async (outer, inner) => {
    const payment = await aPayment();
    const body = {
      ...payment,
      x402Version: outer,
      paymentPayload: { ...payment.paymentPayload, x402Version: inner },
    };
    expect(await verdictOn(node.url, body)).toEqual(version);
  });
  it("C09: a v1 body hears about its version, and one that calls itself 2 about its network", async () => {
    const { paymentPayload, paymentRequirements } = await aPayment();
    const v1 = (x402Version: number) => ({
      x402Version,
      paymentPayload: {
        x402Version,
        scheme: "exact",
        network: "base-sepolia",
        payload: paymentPayload.payload,
      },
      paymentRequirements: {
        ...paymentRequirements,
        network: "base-sepolia",
        maxAmountRequired: "10000",
        amount: undefined,
      },
    });
    expect(await verdictOn(node.url, v1(1))).toEqual(version);
    expect(await verdictOn(node.url, v1(2))).toEqual(network);
  });
  it("C09: says nothing over a node that serves another chain", async () => {
    node.behave({
      element: ({ method }) => (method === "eth_chainId" ? { result: "0x1" } : undefined),
    });
    const payment = await aPayment();
    const other = await startFaultyNode(node.url);
    expect(await verdictOn(other.url, payment)).toEqual(refused("unexpected_verify_error", 502));
    await other.stop();
  });
  it("C09: refuses unknown schemes, and an EIP-3009 payload for upto", async () => {
    const payment = await aPayment({ requirements: { scheme: "deferred" } });
    expect(await verdictOn(node.url, payment)).toEqual(refused("unsupported_scheme"));
    const upto = await aPayment({ requirements: { scheme: "upto" }, accepted: { scheme: "upto" } });
    expect(await verdictOn(node.url, upto)).toEqual(refused("unsupported_payload_type"));
  });
});

/** One letter in the other case: no checksum survives it. */
function withOtherCase(address: Hex): Hex {
  const letter = /[a-fA-F]/.exec(address.slice(2))?.[0] ?? "";
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return `0x${address.slice(2).replace(letter, other)}`;
}
