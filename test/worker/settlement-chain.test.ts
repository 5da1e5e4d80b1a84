// What the chain does to settlements: wallets that are deployed first, charges up to a ceiling, state that changes
// between check and block, other senders, deadlines, reorgs.

import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it } from "vitest";
import {
  ACCOUNTS,
  aPayment,
  approvePermit2,
  BUYER,
  cancelAuthorization,
  DEFAULT_AMOUNT,
  deployContract,
  type Hex,
  mine,
  RELAYER,
  revertTo,
  rpc,
  SELLER,
  setBlockTime,
  setNextBlockSeconds,
  snapshot,
  stopMining,
  type TestAccount,
  type TestPayment,
  transact,
  transferUsdc,
  usdcBalance,
  WALLET_FACTORY,
  walletOf,
} from "../support/chain.ts";
import { settleCall } from "../support/direct-settle.ts";
import {
  idOf,
  keyOf,
  moveTime,
  recordOf,
  relayerStub,
  ringAlarm,
  type SettleResult,
  sentBy,
  settle,
  startSettling,
  tablesOf,
  until,
} from "./settling.ts";

const SECOND_RELAYER = ACCOUNTS[8] as TestAccount;
const STRANGER = ACCOUNTS[6] as TestAccount;
const FINALITY_BLOCKS = 3;

const chain = await startSettling({
  variables: { SETTLE_WAIT_SECONDS: "4", RELAYER_KEYS_84532: `${RELAYER.key},${SECOND_RELAYER.key}` },
  network: { finalityBlocks: FINALITY_BLOCKS, allowedFactories: [WALLET_FACTORY] },
});
const shop = await keyOf("shop");
await approvePermit2(chain.rpcUrl, BUYER.address);
// Deployed by the account that is the relayer's later, so before it is.
const costlyWallet = await deployContract(chain.rpcUrl, "CostlyWallet", [STRANGER.address, 5_000_000n]);
const costlyToken = await deployContract(chain.rpcUrl, "CostlyToken", ["Costly", 25_000_000n]);

beforeEach(async () => {
  await chain.proxy.clearRules();
  await setBlockTime(chain.rpcUrl, 0);
});

const recordFor = async (payment: TestPayment) => recordOf(await idOf(payment), shop);
const sentByBoth = async () => (await sentBy(chain)) + (await sentBy(chain, SECOND_RELAYER.address));

/** Settles while the transfer is kept from the node until `meanwhile` is done. */
async function settleWhile(payment: TestPayment, meanwhile: () => Promise<unknown>): Promise<SettleResult> {
  await chain.proxy.addRule({ method: "eth_sendRawTransaction", times: 1, action: { do: "hold" } });
  const settling = settle(payment, shop);
  await until(async () => (await chain.proxy.held()) > 0, "the transfer is about to be sent");
  await meanwhile();
  await chain.proxy.clearRules();
  return settling;
}

describe("upto", () => {
  const upto = (charge: bigint, options: Parameters<typeof aPayment>[0] = {}) =>
    aPayment({
      method: "upto",
      amount: 50_000n,
      ...options,
      requirements: { amount: charge.toString(), ...options.requirements },
    });

  it("charges the amount, not the ceiling, once, by the relayer that the payer named", async () => {
    const payment = await upto(12_000n, { signed: { facilitator: SECOND_RELAYER.address } });
    const before = await usdcBalance(chain.rpcUrl, SELLER.address);
    const sent = await sentBy(chain, SECOND_RELAYER.address);
    const { body } = await settle(payment, shop);
    expect(body).toMatchObject({ success: true, amount: "12000" });
    expect((await usdcBalance(chain.rpcUrl, SELLER.address)) - before).toBe(12_000n);
    expect((await sentBy(chain, SECOND_RELAYER.address)) - sent).toBe(1);
    const second = { ...payment, paymentRequirements: { ...payment.paymentRequirements, amount: "3000" } };
    expect((await settle(second, shop)).body).toMatchObject({
      success: false,
      errorReason: "duplicate_settlement",
      transaction: body.transaction,
    });
  });

  it("settles a charge of 0 without a transaction, and refuses another charge of it", async () => {
    const payment = await upto(0n);
    const sent = await sentByBoth();
    const headers = { "idempotency-key": "nothing" };
    const { body } = await settle(payment, shop, headers);
    expect(body).toMatchObject({ success: true, transaction: "", amount: "0" });
    expect(await recordFor(payment)).toMatchObject({ state: "settled", transaction: "" });
    expect((await settle(payment, shop, headers)).body).toMatchObject({
      success: true,
      extra: { replayed: true },
    });
    const charge = { ...payment, paymentRequirements: { ...payment.paymentRequirements, amount: "3000" } };
    expect((await settle(charge, shop)).body.errorReason).toBe("duplicate_settlement");
    expect(await sentByBoth()).toBe(sent);
  });

  it("refuses a charge above the ceiling, and a facilitator that is not ours", async () => {
    const above = await settle(await upto(50_001n), shop);
    expect(above.body.errorReason).toBe("invalid_upto_evm_payload_settlement_exceeds_amount");
    const foreign = await settle(await upto(1n, { signed: { facilitator: STRANGER.address } }), shop);
    expect(foreign.body.errorReason).toBe("upto_facilitator_mismatch");
  });
});

describe("a wallet that is not deployed yet (ERC-6492)", () => {
  let salts = 0;
  async function richWallet() {
    const salt: Hex = `0x${(++salts).toString(16).padStart(64, "0")}`;
    const wallet = walletOf(STRANGER, salt);
    await transferUsdc(chain.rpcUrl, BUYER.address, wallet.address, DEFAULT_AMOUNT);
    return wallet;
  }

  it("is deployed, then pays: two transactions, one success that names the transfer", async () => {
    const payer = await richWallet();
    const payment = await aPayment({ payer, withDeployment: true });
    const sent = await sentByBoth();
    const { body } = await settle(payment, shop);
    expect(body.success).toBe(true);
    expect((await sentByBoth()) - sent).toBe(2);
    expect(await usdcBalance(chain.rpcUrl, payer.address)).toBe(0n);
    const receipt = await rpc<{ to: Hex }>(chain.rpcUrl, "eth_getTransactionReceipt", [body.transaction]);
    expect(receipt.to).toBe(payment.paymentRequirements.asset.toLowerCase());
    expect((await settle(payment, shop)).body.errorReason).toBe("duplicate_settlement");
  });

  it("pays again with the wrapper still around its signature: one transaction, no second deployment", async () => {
    const payer = await richWallet();
    expect((await settle(await aPayment({ payer, withDeployment: true }), shop)).body.success).toBe(true);
    await transferUsdc(chain.rpcUrl, BUYER.address, payer.address, DEFAULT_AMOUNT);
    const sent = await sentByBoth();
    expect((await settle(await aPayment({ payer, withDeployment: true }), shop)).body.success).toBe(true);
    expect((await sentByBoth()) - sent).toBe(1);
  });

  it("whose deployment is late is pending without a hash; the repeat goes on with the transfer", async () => {
    await stopMining(chain.rpcUrl);
    const payment = await aPayment({ payer: await minedWallet(), withDeployment: true });
    const sent = await sentByBoth();
    const first = await settle(payment, shop);
    expect(first.body).toMatchObject({ errorReason: "settlement_pending", transaction: "" });
    expect(await recordFor(payment)).toMatchObject({ state: "claimed", transaction: "" });
    await setBlockTime(chain.rpcUrl, 0);
    await mine(chain.rpcUrl);
    expect((await settle(payment, shop)).body.success).toBe(true);
    expect((await sentByBoth()) - sent).toBe(2);
  });

  it("that spends its money after the deployment is refused, and the claim is gone", async () => {
    await stopMining(chain.rpcUrl);
    const payer = await minedWallet();
    const payment = await aPayment({ payer, withDeployment: true, amount: DEFAULT_AMOUNT });
    expect((await settle(payment, shop)).body.errorReason).toBe("settlement_pending");
    await setBlockTime(chain.rpcUrl, 0);
    await mine(chain.rpcUrl);
    // A payment of the same wallet to somebody else empties it.
    const elsewhere = await aPayment({ payer, withDeployment: true, payTo: STRANGER.address });
    await transact(chain.rpcUrl, { from: STRANGER.address, ...settleCall(elsewhere) });
    const { body } = await settle(payment, shop);
    expect(body).toMatchObject({ errorReason: "invalid_exact_evm_insufficient_balance", transaction: "" });
    expect(await tablesOf(await idOf(payment))).toEqual([]);
  });

  /** Made while blocks are mined by hand. */
  async function minedWallet() {
    await setBlockTime(chain.rpcUrl, 0);
    const wallet = await richWallet();
    await stopMining(chain.rpcUrl);
    return wallet;
  }
});

describe("C20: the state changed since verify", () => {
  it("C20: a cancelled authorization and a spent balance are refused before anything is sent", async () => {
    const sent = await sentByBoth();
    const cancelled = await aPayment();
    const { authorization } = cancelled.paymentPayload.payload as { authorization: { nonce: Hex } };
    await cancelAuthorization(chain.rpcUrl, BUYER, authorization.nonce);
    expect((await settle(cancelled, shop)).body.errorReason).toBe("invalid_exact_evm_nonce_already_used");
    const payer = ACCOUNTS[7] as TestAccount;
    const balance = await usdcBalance(chain.rpcUrl, payer.address);
    const payment = await aPayment({ payer });
    await transferUsdc(chain.rpcUrl, payer.address, STRANGER.address, balance);
    expect((await settle(payment, shop)).body.errorReason).toBe("invalid_exact_evm_insufficient_balance");
    await transferUsdc(chain.rpcUrl, STRANGER.address, payer.address, balance);
    expect(await sentByBoth()).toBe(sent);
    expect(await tablesOf(await idOf(payment))).toEqual([]);
  });

  it("C20: a wallet whose signature burns millions of gas is refused before anything is sent", async () => {
    await transferUsdc(chain.rpcUrl, BUYER.address, costlyWallet, DEFAULT_AMOUNT);
    const sent = await sentByBoth();
    const payment = await aPayment({ payer: { address: costlyWallet, owner: STRANGER } });
    const { body } = await settle(payment, shop);
    expect(body).toMatchObject({
      errorReason: "invalid_exact_evm_transaction_simulation_failed",
      transaction: "",
    });
    expect(await sentByBoth()).toBe(sent);
    expect(await tablesOf(await idOf(payment))).toEqual([]);
  });

  it("C20: an asset that is not on the list is refused before anything is asked of the chain", async () => {
    await chain.proxy.resetCounts();
    const { body } = await settle(await aPayment({ asset: costlyToken }), shop);
    expect(body.errorReason).toBe("invalid_payment_requirements");
    expect((await chain.proxy.counts()).requests).toBe(0);
  });

  it("C20: money gone between check and block: failed by proof, the same for everybody who asks", async () => {
    const payer = ACCOUNTS[5] as TestAccount;
    const balance = await usdcBalance(chain.rpcUrl, payer.address);
    const payment = await aPayment({ payer });
    const { body } = await settleWhile(payment, () =>
      transferUsdc(chain.rpcUrl, payer.address, STRANGER.address, balance),
    );
    await transferUsdc(chain.rpcUrl, STRANGER.address, payer.address, balance);
    expect(body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_transaction_failed" });
    expect(body.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await settle(payment, shop)).body).toMatchObject({
      errorReason: body.errorReason,
      transaction: body.transaction,
    });
    expect(await recordFor(payment)).toMatchObject({ state: "failed", errorReason: body.errorReason });
  });

  it("C20: after three reverted settlements in an hour the payer is refused for an hour, nobody else", async () => {
    const payer = ACCOUNTS[4] as TestAccount;
    for (let round = 0; round < 3; round++) {
      const payment = await aPayment({ payer });
      const { authorization } = payment.paymentPayload.payload as { authorization: { nonce: Hex } };
      const { body } = await settleWhile(payment, () =>
        cancelAuthorization(chain.rpcUrl, payer, authorization.nonce),
      );
      expect(body.errorReason).toBe("invalid_exact_evm_nonce_already_used");
    }
    const sent = await sentByBoth();
    for (let round = 0; round < 4; round++) {
      const refused = await settle(await aPayment({ payer }), shop);
      expect(refused.status).toBe(429);
      expect(refused.body).toMatchObject({ errorReason: "rate_limited", extra: { retryable: true } });
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3_500);
    }
    expect(await sentByBoth()).toBe(sent);
    expect((await settle(await aPayment(), shop)).body.success).toBe(true);
  });
});

describe("somebody else sends the payment first", () => {
  it("EIP-3009: the success names the stranger's transaction", async () => {
    const payment = await aPayment();
    let theirs = "";
    const { body } = await settleWhile(payment, async () => {
      const receipt = await transact(chain.rpcUrl, { from: STRANGER.address, ...settleCall(payment) });
      theirs = receipt.transactionHash;
    });
    expect(body).toMatchObject({ success: true, transaction: theirs });
    expect(await recordFor(payment)).toMatchObject({ state: "settled", transaction: theirs });
  });

  it("exact Permit2: the success names the stranger's transaction, found by its call of the proxy", async () => {
    const payment = await aPayment({ method: "permit2" });
    let theirs = "";
    const { body } = await settleWhile(payment, async () => {
      const receipt = await transact(chain.rpcUrl, { from: STRANGER.address, ...settleCall(payment) });
      theirs = receipt.transactionHash;
    });
    expect(body).toMatchObject({ success: true, transaction: theirs });
  });

  it("a bare transfer of the same price is no payment: cancelled, then paid by hand, is a failure", async () => {
    const payer = ACCOUNTS[9] as TestAccount;
    const payment = await aPayment({ payer });
    const { authorization } = payment.paymentPayload.payload as { authorization: { nonce: Hex } };
    const { body } = await settleWhile(payment, async () => {
      await cancelAuthorization(chain.rpcUrl, payer, authorization.nonce);
      await transferUsdc(chain.rpcUrl, payer.address, SELLER.address, DEFAULT_AMOUNT);
    });
    expect(body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_nonce_already_used" });
  });

  it("a payment of one of the two before is no proof for the other", async () => {
    const before = await aPayment({ method: "permit2" });
    expect((await settle(before, shop)).body.success).toBe(true);
    const payment = await aPayment({ method: "permit2" });
    const { body } = await settleWhile(payment, () =>
      approvePermit2(chain.rpcUrl, BUYER.address, { value: 0n }),
    );
    await approvePermit2(chain.rpcUrl, BUYER.address);
    expect(body).toMatchObject({ success: false, errorReason: "invalid_exact_evm_transaction_failed" });
  });
});

describe("a reorg", () => {
  it("after the answer marks the record, and the outcome stands", async () => {
    const before = await snapshot(chain.rpcUrl);
    const payment = await aPayment({ maxTimeoutSeconds: 3_600 });
    const id = await idOf(payment);
    const headers = { "idempotency-key": "reorg" };
    const { body } = await settle(payment, shop, headers);
    expect(body.success).toBe(true);
    expect(await recordFor(payment)).not.toHaveProperty("reorged");
    await stopMining(chain.rpcUrl);
    await revertTo(chain.rpcUrl, before);
    // Other blocks in the place of the old ones: a head that is merely lower could be a node that lags.
    await mine(chain.rpcUrl, 2);
    await until(async () => {
      await Promise.all(
        [RELAYER, SECOND_RELAYER].map(({ address }) => runDurableObjectAlarm(relayerStub(address))),
      );
      await ringAlarm(id);
      return (await recordFor(payment))?.reorged === true;
    }, "the watch sees it");
    expect(await recordFor(payment)).toMatchObject({ state: "settled", transaction: body.transaction });
    expect((await settle(payment, shop, headers)).body).toMatchObject({
      success: true,
      extra: { replayed: true },
    });
  });
});

// Last: it leaves a nonce behind that the node never heard of.
describe("time", () => {
  it("a transfer that no node keeps fails by the deadline's proof, and not before the block is final", async () => {
    await chain.proxy.addRule({ method: "eth_sendRawTransaction", action: { do: "swallow" } });
    const payment = await aPayment({ maxTimeoutSeconds: 20 });
    const id = await idOf(payment);
    const { body } = await settle(payment, shop);
    expect(body.errorReason).toBe("settlement_pending");
    const at = snapshotTime(payment);
    await moveTime(id, 60_000);
    await setNextBlockSeconds(chain.rpcUrl, at + 1);
    await mine(chain.rpcUrl, FINALITY_BLOCKS);
    await ringAlarm(id);
    expect((await recordFor(payment))?.state).toBe("broadcast");
    await mine(chain.rpcUrl, 1);
    await ringAlarm(id);
    expect(await recordFor(payment)).toMatchObject({
      state: "failed",
      errorReason: "invalid_transaction_state",
      transaction: body.transaction,
    });
    expect((await settle(payment, shop)).body.errorReason).toBe("invalid_transaction_state");
  });

  const snapshotTime = (payment: TestPayment) =>
    Number(
      (payment.paymentPayload.payload as { authorization: { validBefore: string } }).authorization
        .validBefore,
    );
});
