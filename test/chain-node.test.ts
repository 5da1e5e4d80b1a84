// The node under the tests: it starts fast on the saved chain, its clock is now, it leaves no process behind, and
// time and history can be moved.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Anvil, startAnvil } from "../scripts/chain/anvil.ts";
import {
  ACCOUNTS,
  aPayment,
  BUYER,
  blockNumber,
  dropTransaction,
  type Hex,
  latestBlockSeconds,
  mine,
  RELAYER,
  type Receipt,
  receiptOf,
  revertTo,
  rpc,
  send,
  setBlockTime,
  setEtherBalance,
  setNextBlockSeconds,
  settleCall,
  snapshot,
  stopMining,
  usdcBalance,
} from "./support/chain.ts";

let anvil: Anvil;
let rpcUrl: string;
beforeAll(async () => {
  anvil = await startAnvil();
  rpcUrl = anvil.rpcUrl;
});
afterAll(() => anvil.stop());

const receipt = (hash: Hex) => rpc<Receipt | null>(rpcUrl, "eth_getTransactionReceipt", [hash]);

it("starts with a block of the present on top of the saved chain", async () => {
  expect(Math.abs((await latestBlockSeconds(rpcUrl)) - Date.now() / 1000)).toBeLessThan(10);
});

it("names the port when it is taken", async () => {
  await expect(startAnvil({ port: anvil.port })).rejects.toThrow(`port ${anvil.port} is already in use`);
});

it("says why when the state file cannot be loaded", async () => {
  await expect(startAnvil({ statePath: "/nowhere/state.json" })).rejects.toThrow("anvil ended");
});

it("is gone after stop, which may be called twice", async () => {
  const other = await startAnvil();
  expect(await answers(other.rpcUrl)).toBe(true);
  await other.stop();
  await other.stop();
  expect(await answers(other.rpcUrl)).toBe(false);
});

it.each(["SIGTERM", "SIGINT", "exit"] as const)("does not outlive its starter: %s", async (ending) => {
  const module = new URL("../scripts/chain/anvil.ts", import.meta.url).href;
  const script = `
    const { startAnvil } = await import(${JSON.stringify(module)});
    const { rpcUrl } = await startAnvil();
    process.stdout.write(rpcUrl);
    if (${JSON.stringify(ending)} === "exit") process.exit(3);
  `;
  const starter = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(starter, "close");
  const [printed] = (await once(starter.stdout, "data")) as [Buffer];
  const orphanUrl = printed.toString();
  if (ending !== "exit") starter.kill(ending);
  const [code, signal] = await ended;
  expect(ending === "exit" ? code : signal).toBe(ending === "exit" ? 3 : ending);
  await expect.poll(() => answers(orphanUrl), { timeout: 5_000 }).toBe(false);
});

it("a snapshot taken back is a reorg: the transaction and its effect are gone, the same bytes can come again", async () => {
  const before = await usdcBalance(rpcUrl, BUYER.address);
  const call = { from: RELAYER.address, ...settleCall(await aPayment({ amount: 5n })) };
  const id = await snapshot(rpcUrl);
  const hash = await send(rpcUrl, call);
  await receiptOf(rpcUrl, hash);
  await revertTo(rpcUrl, id);
  expect(await receipt(hash)).toBeNull();
  expect(await usdcBalance(rpcUrl, BUYER.address)).toBe(before);
  await receiptOf(rpcUrl, await send(rpcUrl, call));
  expect(await usdcBalance(rpcUrl, BUYER.address)).toBe(before - 5n);
});

it("mines only when told to, and at once again afterwards", async () => {
  await stopMining(rpcUrl);
  const hash = await send(rpcUrl, { from: RELAYER.address, ...settleCall(await aPayment()) });
  expect(await receipt(hash)).toBeNull();
  const before = await blockNumber(rpcUrl);
  await mine(rpcUrl, 3);
  expect(await blockNumber(rpcUrl)).toBe(before + 3n);
  expect(await receipt(hash)).toMatchObject({ status: "0x1" });
  await setBlockTime(rpcUrl, 0);
  await receiptOf(rpcUrl, await send(rpcUrl, { from: RELAYER.address, ...settleCall(await aPayment()) }));
});

it("forgets a waiting transaction, and takes the same one again", async () => {
  await stopMining(rpcUrl);
  const call = { from: RELAYER.address, ...settleCall(await aPayment()) };
  const hash = await send(rpcUrl, call);
  await dropTransaction(rpcUrl, hash);
  expect(await rpc(rpcUrl, "eth_getTransactionByHash", [hash])).toBeNull();
  await send(rpcUrl, call);
  await setBlockTime(rpcUrl, 0);
  await mine(rpcUrl);
  expect(await receipt(hash)).toMatchObject({ status: "0x1" });
});

it("an account can be left without gas money", async () => {
  const poor = ACCOUNTS[7].address;
  await setEtherBalance(rpcUrl, poor, 1n);
  await expect(send(rpcUrl, { from: poor, ...settleCall(await aPayment()) })).rejects.toThrow("gas");
});

it("the next block's time can be set, and a block time makes blocks by itself", async () => {
  const future = (await latestBlockSeconds(rpcUrl)) + 3_600;
  await setNextBlockSeconds(rpcUrl, future);
  await mine(rpcUrl);
  expect(await latestBlockSeconds(rpcUrl)).toBe(future);
  const timed = await startAnvil({ blockTimeSeconds: 1 });
  try {
    const first = await blockNumber(timed.rpcUrl);
    await expect.poll(() => blockNumber(timed.rpcUrl), { timeout: 5_000 }).toBeGreaterThan(first);
  } finally {
    await timed.stop();
  }
});

function answers(url: string): Promise<boolean> {
  return blockNumber(url).then(
    () => true,
    () => false,
  );
}
