// Verify by the real use case against a real chain: every way to pay, the field cases of verify, one round trip, and
// what a failing node does to a verdict.

import { getAddress, maxUint256, serializeErc6492Signature, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../scripts/chain/anvil.ts";
import {
  ACCOUNTS,
  aPayment,
  approvalSponsoring,
  approvePermit2,
  approvePermit2Data,
  BUYER,
  cancelAuthorization,
  deployWallet,
  eip2612Sponsoring,
  executeFromWallet,
  type FactoryWallet,
  type Hex,
  latestBlockSeconds,
  mine,
  type PaymentOptions,
  RELAYER,
  SELLER,
  setNextBlockSeconds,
  settleCall,
  type TestPayment,
  transact,
  transferUsdc,
  USDC,
  WALLET_FACTORY,
  walletOf,
} from "./support/chain.ts";
import { type FaultyNode, startFaultyNode } from "./support/faulty-node.ts";
import { type TestVerdict, type VerifySetting, verdictOn } from "./support/verify.ts";

/** A provider's key, as it stands in an operator's URL: it must never come back. */
const PROVIDER_KEY = "s3cr3t-provider-key";
const ATTACKER = ACCOUNTS[5]?.address as Hex;
/** Holds USDC, but Permit2 may not move it. */
const STRANGER = ACCOUNTS[3];

let anvil: Anvil;
let node: FaultyNode;
/** Deployed, funded, and Permit2 may move its USDC. */
let wallet: FactoryWallet;

beforeAll(async () => {
  anvil = await startAnvil();
  const { rpcUrl } = anvil;
  node = await startFaultyNode(rpcUrl, `/v2/${PROVIDER_KEY}`);
  await approvePermit2(rpcUrl, BUYER.address);
  wallet = walletOf(BUYER, `0x${"01".repeat(32)}`);
  await deployWallet(rpcUrl, wallet);
  await transferUsdc(rpcUrl, BUYER.address, wallet.address, 1_000_000n);
  await executeFromWallet(rpcUrl, wallet, USDC, approvePermit2Data());
});
afterAll(async () => {
  await node?.stop();
  await anvil?.stop();
});
beforeEach(() => {
  node.behave({});
  node.requests.length = 0;
});

async function verify(options: PaymentOptions = {}, setting: VerifySetting = {}): Promise<TestVerdict> {
  return verdictOn(node.url, await aPayment(options), setting);
}

const VALID: TestVerdict = { isValid: true, reason: "", status: 200, told: "" };
const refused = (reason: string, status = 200) =>
  expect.objectContaining({ isValid: false, reason, status }) as unknown as TestVerdict;

const trustsFactory: VerifySetting = { change: { allowedFactories: [WALLET_FACTORY] } };

describe("every way to pay is verified in one round trip", () => {
  const untouched = () => walletOf(STRANGER ?? BUYER, `0x${"07".repeat(32)}`);
  const ways: [string, () => PaymentOptions, VerifySetting?][] = [
    ["EIP-3009 from a plain account", () => ({})],
    ["Permit2 from a plain account", () => ({ method: "permit2" })],
    ["upto from a plain account", () => ({ method: "upto", amount: 50_000n })],
    ["EIP-3009 from a wallet contract (ERC-1271)", () => ({ payer: wallet })],
    ["Permit2 from a wallet contract", () => ({ method: "permit2", payer: wallet })],
    ["upto from a wallet contract", () => ({ method: "upto", payer: wallet })],
    [
      "EIP-3009 from a wallet that is deployed by now, still wrapped (ERC-6492)",
      () => ({ payer: wallet, withDeployment: true }),
    ],
    [
      "Permit2 from a wallet that is deployed by now, still wrapped",
      () => ({ method: "permit2", payer: wallet, withDeployment: true }),
    ],
  ];
  it.each(ways)("%s", async (_, options, setting) => {
    expect(await verify(options(), setting)).toEqual(VALID);
    expect(node.requests).toHaveLength(1);
  });

  it("a wallet contract with a signature of 65 bytes, from its second payment on", async () => {
    const bare = { payer: wallet, bareOwnerSignature: true };
    expect(await verify(bare)).toEqual(VALID);
    node.requests.length = 0;
    expect(await verify(bare)).toEqual(VALID);
    expect(node.requests).toHaveLength(1);
  });

  it("EIP-3009 from a wallet that is not deployed yet, behind a trusted factory", async () => {
    const payer = untouched();
    await transferUsdc(anvil.rpcUrl, BUYER.address, payer.address, 20_000n);
    node.requests.length = 0;
    expect(await verify({ payer, withDeployment: true }, trustsFactory)).toEqual(VALID);
    expect(node.requests).toHaveLength(1);
  });

  it("runs every simulated call as the account that will send it", async () => {
    await verify({ method: "upto" });
    const calls = node.requests.flat().filter(({ method }) => method === "eth_call");
    expect(calls.length).toBeGreaterThan(0);
    for (const { params } of calls) expect(params[0]).toMatchObject({ from: RELAYER.address });
  });

  it.each<[string, PaymentOptions]>([
    ["an asset outside the allowlist", { asset: ATTACKER }],
    ["dust", { amount: 999n }],
    ["no EIP-712 domain", { extra: {} }],
    ["another network in the client's copy", { accepted: { network: "eip155:8453" } }],
    ["a permit for another price", { method: "permit2", signed: { value: 1n } }],
  ])("asks nothing of the chain about %s", async (_, options) => {
    expect(await verify(options)).toMatchObject({ isValid: false });
    expect(node.requests).toHaveLength(0);
  });

  it("asks for the payer's code always, and for the token's once in a quarter of an hour", async () => {
    const askedFor = () =>
      node.requests
        .splice(0)
        .flat()
        .flatMap(({ method, params }) => (method === "eth_getCode" ? [params[0]] : []));
    await verify();
    askedFor();
    await verify();
    expect(askedFor()).toEqual([BUYER.address]);
    const nowMs = Date.now() + 901_000;
    const signed = { validBefore: BigInt(Math.ceil(nowMs / 1_000) + 100) };
    expect(await verify({ signed }, { nowMs })).toEqual(VALID);
    expect(askedFor()).toEqual([BUYER.address, USDC]);
  });

  it("needs the one round trip for what is judged after the signature", async () => {
    await verify({ signed: { value: 1n } });
    expect(node.requests).toHaveLength(1);
  });

  it("needs a second round trip and no third to say why the token refuses", async () => {
    expect(await verify({ amount: 2_000_000_000_000n })).toEqual(
      refused("invalid_exact_evm_insufficient_balance"),
    );
    expect(node.requests).toHaveLength(2);
  });
});

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

describe("C03: signature encodings", () => {
  async function withRecoveryId(change: (v: number) => number): Promise<TestPayment> {
    const payment = await aPayment();
    const payload = payment.paymentPayload.payload as { signature: Hex };
    const v = Number.parseInt(payload.signature.slice(-2), 16);
    payload.signature = `${payload.signature.slice(0, -2) as Hex}${toHex(change(v), { size: 1 }).slice(2)}`;
    return payment;
  }
  it("C03: takes v as 0 or 1 and as 27 or 28", async () => {
    expect(await verdictOn(node.url, await withRecoveryId((v) => v - 27))).toEqual(VALID);
    expect(await verdictOn(node.url, await withRecoveryId((v) => v))).toEqual(VALID);
  });
  it("C03: simulates with v as it will be broadcast", async () => {
    await verdictOn(node.url, await withRecoveryId((v) => v - 27));
    const transfer = node.requests.flat().find(({ method }) => method === "eth_call");
    const { data } = (transfer?.params[0] ?? { data: "0x" }) as { data: Hex };
    const v = BigInt(`0x${data.slice(10 + 6 * 64, 10 + 7 * 64)}`);
    expect([27n, 28n]).toContain(v);
  });
  const invalid = refused("invalid_exact_evm_signature");
  it.each<[string, () => Promise<TestPayment>]>([
    ["another v", () => withRecoveryId((v) => v + 4)],
    ["the other v", () => withRecoveryId((v) => 55 - v)],
    ["62 zero bytes", () => aPayment({ signature: `0x${"00".repeat(62)}` })],
    ["bad hex", () => aPayment({ signature: "0x12zz" })],
    ["an odd number of digits", () => aPayment({ signature: "0x123" })],
    ["no byte at all", () => aPayment({ signature: "0x" })],
    ["no prefix", () => aPayment({ signature: "12" as Hex })],
    ["a wrapper that cannot be read", () => aPayment({ signature: `0x1234${"6492".repeat(16)}` })],
    ["300 bytes from a payer without code", () => aPayment({ signature: `0x${"11".repeat(300)}` })],
    [
      "300 bytes that the wallet refuses",
      () => aPayment({ payer: wallet, signature: `0x${"11".repeat(300)}` }),
    ],
    ["40,000 bytes", () => aPayment({ payer: wallet, signature: `0x${"11".repeat(40_000)}` })],
  ])("C03: answers %s as an invalid signature", async (_, make) => {
    expect(await verdictOn(node.url, await make())).toEqual(invalid);
  });
  it("C03: the same for Permit2, by its own reason", async () => {
    for (const signature of ["0x12zz", `0x${"00".repeat(62)}`, `0x${"11".repeat(65)}`] as Hex[]) {
      expect(await verify({ method: "permit2", signature })).toEqual(refused("invalid_permit2_signature"));
    }
  });
  it("C03: refuses another account's signature", async () => {
    expect(await verify({ sent: { from: SELLER.address } })).toEqual(invalid);
  });
});

describe("C04: the token's EIP-712 domain", () => {
  it("C04: names a wrong name and a wrong version, and never patches them", async () => {
    expect(await verify({ extra: { name: "USD Coin", version: "2" } })).toEqual(
      refused("invalid_exact_evm_token_name_mismatch"),
    );
    expect(await verify({ extra: { name: "USDC", version: "1" } })).toEqual(
      refused("invalid_exact_evm_token_version_mismatch"),
    );
  });
  it.each<[string, Record<string, unknown>]>([
    ["neither", {}],
    ["no version", { name: "USDC" }],
    ["no name", { version: "2" }],
    ["a version that is a number", { name: "USDC", version: 2 }],
    ["an empty name", { name: "", version: "2" }],
  ])("C04: says that the domain is missing with %s", async (_, extra) => {
    expect(await verify({ requirements: { extra } })).toEqual(
      refused("invalid_exact_evm_missing_eip712_domain"),
    );
  });
  it("C04: the same when `extra` is missing entirely or null", async () => {
    const missing = refused("invalid_exact_evm_missing_eip712_domain");
    for (const extra of [undefined, null]) {
      const payment = await aPayment();
      const requirements = { ...payment.paymentRequirements, extra };
      expect(await verdictOn(node.url, { ...payment, paymentRequirements: requirements })).toEqual(missing);
    }
  });
  it("C04: Permit2 needs no domain of the token", async () => {
    expect(await verify({ method: "permit2", extra: {} })).toEqual(VALID);
  });
});

describe("C06: ERC-6492 wrappers", () => {
  const notAllowed = refused("eip6492_factory_not_allowed");
  const fresh = walletOf(SELLER, `0x${"66".repeat(32)}`);
  it("C06: refuses a call that is no factory's, whatever it says", async () => {
    const approve = `0x095ea7b3${ATTACKER.slice(2).padStart(64, "0")}${"f".repeat(64)}`;
    const signature = serializeErc6492Signature({
      address: USDC,
      data: approve as Hex,
      signature: `0x${"5a".repeat(65)}`,
    });
    expect(await verify({ payer: fresh, signature })).toEqual(notAllowed);
    expect(await verify({ payer: fresh, signature }, trustsFactory)).toEqual(notAllowed);
    // Nothing of the payer's choosing was even simulated.
    expect(JSON.stringify(node.requests)).not.toContain("095ea7b3");
  });
  it("C06: refuses a good wrapper while no factory is trusted", async () => {
    await transferUsdc(anvil.rpcUrl, BUYER.address, fresh.address, 50_000n);
    expect(await verify({ payer: fresh, withDeployment: true })).toEqual(notAllowed);
    expect(await verify({ payer: fresh, withDeployment: true }, trustsFactory)).toEqual(VALID);
  });
  it("C06: the call in a deployed wallet's wrapper takes no part, so it cannot lend the money for a simulation", async () => {
    const poor = walletOf(BUYER, `0x${"99".repeat(32)}`);
    await deployWallet(anvil.rpcUrl, poor);
    const loan = settleCall(await aPayment({ payTo: poor.address, amount: 10_000n }));
    const borrowing = { ...poor, factory: loan.to, factoryCalldata: loan.data };
    const trustsEveryone = { change: { allowedFactories: [WALLET_FACTORY, USDC] } };
    expect(await verify({ payer: borrowing, withDeployment: true }, trustsEveryone)).toEqual(
      refused("invalid_exact_evm_insufficient_balance"),
    );
  });
  it("C06: judges the inner signature of a wallet that is not deployed", async () => {
    const signature = serializeErc6492Signature({
      address: fresh.factory,
      data: fresh.factoryCalldata,
      signature: `0x${"5a".repeat(65)}`,
    });
    expect(await verify({ payer: fresh, signature }, trustsFactory)).toEqual(
      refused("invalid_exact_evm_transaction_simulation_failed"),
    );
  });
  it("C06: judges the inner signature of a wallet that is deployed, and needs no factory for it", async () => {
    expect(await verify({ payer: wallet, withDeployment: true })).toEqual(VALID);
    const signature = serializeErc6492Signature({
      address: wallet.factory,
      data: wallet.factoryCalldata,
      signature: `0x${"5a".repeat(66)}`,
    });
    expect(await verify({ payer: wallet, signature })).toEqual(refused("invalid_exact_evm_signature"));
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

describe("C23: Permit2 allowance, spender and sponsoring blocks", () => {
  const short = refused("permit2_allowance_required");
  it("C23: refuses a payer who has not approved Permit2", async () => {
    for (const method of ["permit2", "upto"] as const) {
      expect(await verify({ method, payer: STRANGER ?? BUYER })).toEqual(short);
    }
  });
  it("C23: a permit or a signed approval in the payment changes nothing", async () => {
    const payer = STRANGER ?? BUYER;
    const permit = await eip2612Sponsoring(payer, { amount: 10_000n });
    const otherAmount = await eip2612Sponsoring(payer, { amount: 1n });
    const approval = await approvalSponsoring(payer, { data: approvePermit2Data() });
    for (const extensions of [permit, otherAmount, approval, { eip2612GasSponsoring: { info: 7 } }]) {
      expect(await verify({ method: "permit2", payer, extensions })).toEqual(short);
      expect(await verify({ method: "permit2", extensions })).toEqual(VALID);
    }
    expect(node.requests.flat().map(({ method }) => method)).not.toContain("eth_sendRawTransaction");
  });
  it("C23: refuses another spender", async () => {
    const signed = { spender: ATTACKER };
    expect(await verify({ method: "permit2", signed })).toEqual(refused("invalid_permit2_spender"));
    expect(await verify({ method: "upto", signed })).toEqual(refused("invalid_permit2_spender"));
  });
  it("C23: refuses a permit for more than the price", async () => {
    expect(await verify({ method: "permit2", signed: { value: 10_001n } })).toEqual(
      refused("permit2_amount_mismatch"),
    );
  });
  it("C23: refuses a permit that somebody else has settled", async () => {
    const payment = await aPayment({ method: "permit2" });
    expect(await verdictOn(node.url, payment)).toEqual(VALID);
    await transact(anvil.rpcUrl, { from: ATTACKER, ...settleCall(payment) });
    expect(await verdictOn(node.url, payment)).toEqual(refused("permit2_simulation_failed"));
  });
  it("C23: refuses an upto payment that names another facilitator", async () => {
    expect(await verify({ method: "upto", signed: { facilitator: ATTACKER } })).toEqual(
      refused("upto_facilitator_mismatch"),
    );
  });
});

describe("what the chain says", () => {
  it("refuses a spent and a cancelled authorization", async () => {
    const spent = await aPayment();
    await transact(anvil.rpcUrl, { from: RELAYER.address, ...settleCall(spent) });
    expect(await verdictOn(node.url, spent)).toEqual(refused("invalid_exact_evm_nonce_already_used"));
    const cancelled = await aPayment();
    const { authorization } = cancelled.paymentPayload.payload as { authorization: { nonce: Hex } };
    await cancelAuthorization(anvil.rpcUrl, BUYER, authorization.nonce);
    expect(await verdictOn(node.url, cancelled)).toEqual(refused("invalid_exact_evm_nonce_already_used"));
  });
  it("never refuses a payment for its resource, its extensions or what it does not know", async () => {
    const payment = await aPayment({ resource: null });
    expect(await verdictOn(node.url, payment)).toEqual(VALID);
    for (const odd of [null, 7, "x", [], { url: 7, tags: ["a", "b", "c", "d", "e", "f"] }]) {
      const body = {
        ...payment,
        note: odd,
        paymentPayload: { ...payment.paymentPayload, resource: odd, extensions: odd, other: odd },
      };
      expect(await verdictOn(node.url, body)).toEqual(VALID);
    }
  });
});

describe("C21: a node that fails says nothing about the payment", () => {
  const lost = refused("unexpected_verify_error", 502);
  const failingReads = (error: Record<string, unknown> | null) => ({
    element: ({ method }: { method: string }) => (method === "eth_chainId" ? undefined : error),
  });
  const failures: [string, Parameters<FaultyNode["behave"]>[0]][] = [
    ["answers HTTP 500", { status: 500, text: "upstream error" }],
    ["answers HTTP 401", { status: 401, text: '{"error":"bad key"}' }],
    ["rate limits for ever", { status: 429, text: "" }],
    ["answers no JSON", { text: "<html>maintenance</html>" }],
    ["hangs up", { hangUp: true }],
    ["never answers", { silent: true }],
    ["drops every element", failingReads(null)],
    ["rate limits every element", failingReads({ error: { code: -32005, message: "limit exceeded" } })],
    ["has no such block", failingReads({ error: { code: -32000, message: "header not found" } })],
    ["has an internal error", failingReads({ error: { code: -32603, message: "internal error" } })],
    ["answers nonsense", failingReads({ result: 7 })],
  ];
  it.each(failures)("C21: when it %s", async (_, misbehaviour) => {
    node.behave(misbehaviour);
    const verdicts = await Promise.all(
      (["eip3009", "permit2", "upto"] as const).map((method) => verify({ method })),
    );
    for (const verdict of verdicts) {
      expect(verdict).toEqual(lost);
      expect(verdict.told).not.toContain(PROVIDER_KEY);
      expect(verdict.told).not.toMatch(/https?:|127\.0\.0\.1|viem|revert/);
    }
  });
  it.each(["eth_getCode", "eth_call"])("C21: when only %s is lost", async (lostMethod) => {
    node.behave({ element: ({ method }) => (method === lostMethod ? null : undefined) });
    expect(await verify()).toEqual(lost);
    expect(await verify({ payer: wallet })).toEqual(lost);
    expect(await verify({ method: "permit2" })).toEqual(lost);
  });
  it("C21: when the question why the token refuses is lost", async () => {
    const payment = await aPayment({ amount: 2_000_000_000_000n });
    node.behave({
      element: ({ params }) =>
        JSON.stringify(params[0] ?? "").includes("0xcA11bde05977b3631167028862bE2a173976CA11")
          ? null
          : undefined,
    });
    expect(await verdictOn(node.url, payment)).toEqual(lost);
  });
  it("C21: a revert is an answer, by whichever code the node words it", async () => {
    for (const error of [
      { code: 3, message: "execution reverted", data: "0x" },
      { code: -32000, message: "execution reverted" },
    ]) {
      node.behave({
        element: ({ method, params }) =>
          method === "eth_call" && params.length === 2 && isTransfer(params[0]) ? { error } : undefined,
      });
      const payment = await aPayment({ amount: 2_000_000_000_000n });
      expect(await verdictOn(node.url, payment)).toEqual(refused("invalid_exact_evm_insufficient_balance"));
    }
  });
});

/** One letter in the other case: no checksum survives it. */
function withOtherCase(address: Hex): Hex {
  const letter = /[a-fA-F]/.exec(address.slice(2))?.[0] ?? "";
  const other = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return `0x${address.slice(2).replace(letter, other)}`;
}

function isTransfer(call: unknown): boolean {
  return (call as { to?: string }).to === USDC;
}
