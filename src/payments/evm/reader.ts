// The reading half of the signer that the published mechanisms want: predicts what a mechanism will read of one
// payment, asks for all of it in one JSON-RPC batch before the mechanism starts, and answers each read once. One
// reader per request. The mechanisms swallow transport errors, so the reader remembers them: once a read that was
// used ended without an answer of the chain, whatever the mechanism concluded is void.

import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Abi, Address, Hex } from "viem";
import { decodeFunctionResult, encodeFunctionData, numberToHex } from "viem/utils";
import type { Payment } from "../payment.ts";
import { codeOfKnownToken, isKnownContract, rememberContract, rememberToken } from "./code-memory.ts";
import { MULTICALL3_ABI, MULTICALL3_ADDRESS } from "./contracts.ts";
import { isRevert, type JsonRpc, type RpcAnswer, type RpcCall, UNANSWERED } from "./json-rpc.ts";
import { type ContractRead, predictDiagnosis, predictReads } from "./predict-reads.ts";

export interface ReaderOptions {
  payment: Payment;
  rpc: JsonRpc;
  /** All accounts that settle on this network. */
  relayers: readonly Address[];
  /** Who will send the transfer: every simulation runs as this account. */
  from: Address;
  allowedFactories: readonly Address[];
  nowSeconds: number;
  /** More calls for the same round trip; their answers are in `extraAnswers`, in this order. */
  extraCalls?: readonly RpcCall[];
}

type ReadArgs = Parameters<FacilitatorEvmSigner["readContract"]>[0];

export class PaymentReader implements FacilitatorEvmSigner {
  readonly extraAnswers: Promise<RpcAnswer[]>;
  readonly #options: ReaderOptions;
  readonly #transfer: ContractRead;
  /** Not asked for where this isolate knows it. */
  readonly #tokenCode: Hex | undefined;
  readonly #transferKeys: ReadonlySet<string>;
  /** Every read of this request by `readKey`, answered once. */
  readonly #answers = new Map<string, Promise<RpcAnswer>>();
  #isVoid = false;
  #runsAheadOfHead = false;

  /** Sends the batch at once: the CPU work of the check runs while it is under way. */
  constructor(options: ReaderOptions) {
    this.#options = options;
    const { payment, rpc, from, allowedFactories, extraCalls = [] } = options;
    const payerMayHaveCode = isKnownContract(payment);
    const { code, transfer, deployingTransfer, wallet } = predictReads(payment, {
      payerMayHaveCode,
      allowedFactories,
    });
    const transfers = deployingTransfer ? [transfer, deployingTransfer] : [transfer];
    this.#transfer = transfer;
    this.#transferKeys = new Set(transfers.map(readKey));
    const reads = new Map<string, RpcCall>();
    this.#tokenCode = codeOfKnownToken(payment, options.nowSeconds);
    for (const address of code) {
      if (address === payment.asset && this.#tokenCode) continue;
      reads.set(codeKey(address), codeCall(address));
    }
    for (const read of transfers) reads.set(readKey(read), ethCall(read, from));
    if (wallet) reads.set(readKey(wallet), ethCall(wallet, from));
    const sent = rpc.batch([...reads.values(), ...extraCalls]);
    for (const [index, key] of [...reads.keys()].entries()) {
      this.#answers.set(
        key,
        sent.then((answers) => answers[index] ?? UNANSWERED),
      );
    }
    this.extraAnswers = sent.then((answers) => answers.slice(reads.size));
  }

  /** A read that the mechanism used had no answer from the chain: its conclusion says nothing about the payment. */
  isVoid(): boolean {
    return this.#isVoid;
  }

  /**
   * The transfer works at this clock's time and not yet at the time of the node's last block: the chain is idle and
   * the authorization young. An estimate at `latest` fails for the same reason; give it `clockOverride(nowSeconds)`.
   */
  runsAheadOfHead(): boolean {
    return this.#runsAheadOfHead;
  }

  getAddresses(): readonly Address[] {
    return this.#options.relayers;
  }

  /** Never rejects: the mechanism may drop this promise, and without an answer the verdict is void anyway. */
  async getCode({ address }: { address: Address }): Promise<Hex | undefined> {
    const { payment, nowSeconds } = this.#options;
    if (address === payment.asset && this.#tokenCode) return this.#tokenCode;
    const answer = await this.#read(codeKey(address), codeCall(address));
    const code = hexOf(answer);
    if (code === undefined) this.#isVoid = true;
    else if (code !== "0x" && address === payment.asset) rememberToken(payment, code, nowSeconds);
    else if (code !== "0x" && address === payment.payer) rememberContract(payment);
    return code;
  }

  async payerHasCode(): Promise<boolean> {
    return isContract(await this.getCode({ address: this.#options.payment.payer }));
  }

  async assetHasCode(): Promise<boolean> {
    return isContract(await this.getCode({ address: this.#options.payment.asset }));
  }

  /** Whether the chain carries out the predicted transfer, at its last block's time or at our clock's. */
  async transferRuns(): Promise<boolean> {
    const answer = await this.#readTransferAtClock(this.#transfer);
    if (hexOf(answer) !== undefined) return true;
    if (!isRevert(answer)) this.#isVoid = true;
    return false;
  }

  async readContract({ address, abi, functionName, args = [] }: ReadArgs): Promise<unknown> {
    const read = { to: address, data: encodeFunctionData({ abi: abi as Abi, functionName, args }) };
    const answer = await this.#readTransferAtClock(read);
    const data = hexOf(answer);
    if (data !== undefined) return decodeFunctionResult({ abi: abi as Abi, functionName, args, data });
    if (!isRevert(answer)) this.#isVoid = true;
    throw new Error(isRevert(answer) ? "execution reverted" : "no answer from the chain");
  }

  verifyTypedData(): Promise<boolean> {
    throw new Error("assertion failed: mechanisms check signatures themselves");
  }

  writeContract(_args: Parameters<FacilitatorEvmSigner["writeContract"]>[0]): Promise<Hex> {
    throw new Error("assertion failed: a reader sends nothing");
  }

  sendTransaction(_args: Parameters<FacilitatorEvmSigner["sendTransaction"]>[0]): Promise<Hex> {
    throw new Error("assertion failed: a reader sends nothing");
  }

  waitForTransactionReceipt(
    _args: Parameters<FacilitatorEvmSigner["waitForTransactionReceipt"]>[0],
  ): ReturnType<FacilitatorEvmSigner["waitForTransactionReceipt"]> {
    throw new Error("assertion failed: a reader waits for nothing");
  }

  /** After a read was lost nothing more is asked: the verdict is void already, and the caller waits. */
  async #read(key: string, call: RpcCall): Promise<RpcAnswer> {
    const known = this.#answers.get(key);
    if (known) return known;
    if (this.#isVoid) return UNANSWERED;
    const asked = this.#options.rpc.call(call.method, call.params);
    this.#answers.set(key, asked);
    return asked;
  }

  /**
   * A node runs calls at its last block's time, which on an idle chain is long ago, and windows are decided by our
   * clock. So a transfer that fails is run once more at the time it can reach a block, the next second, unless the
   * last block is later than that. The mechanism's question why it failed travels in the same batch.
   */
  #readTransferAtClock(read: ContractRead): Promise<RpcAnswer> {
    const key = `${readKey(read)} at clock`;
    const answer = this.#answers.get(key) ?? this.#askTransferAtClock(read);
    this.#answers.set(key, answer);
    return answer;
  }

  async #askTransferAtClock(read: ContractRead): Promise<RpcAnswer> {
    const { payment, rpc, from, nowSeconds } = this.#options;
    const first = await this.#read(readKey(read), ethCall(read, from));
    if (!this.#transferKeys.has(readKey(read)) || !wasRefused(read, first) || this.#isVoid) return first;

    const diagnosis = predictDiagnosis(payment);
    const override = clockOverride(nowSeconds);
    const second = rpc.batch([
      { method: "eth_call", params: [callObject(read, from), "latest", {}, override] },
      { method: "eth_getBlockByNumber", params: ["latest", false] },
      ethCall(diagnosis, from),
    ]);
    this.#answers.set(
      readKey(diagnosis),
      second.then(([, , answer]) => answer ?? UNANSWERED),
    );
    const [atClock, head] = await second;
    const headSeconds = head?.ok ? blockSeconds(head.result) : undefined;
    const isHeadOlder = headSeconds !== undefined && headSeconds < Number(override.time);
    if (!isHeadOlder || !atClock?.ok || wasRefused(read, atClock)) return first;
    this.#runsAheadOfHead = true;
    return atClock;
  }
}

/**
 * Block overrides that run a call or an estimate at the next second: the fourth parameter, after `"latest"` and
 * `{}`. Tokens want a block's time after `validAfter`, not equal to it.
 */
export function clockOverride(nowSeconds: number): { time: Hex } {
  return { time: numberToHex(nowSeconds + 1) };
}

function codeCall(address: Address): RpcCall {
  return { method: "eth_getCode", params: [address, "latest"] };
}

function ethCall(read: ContractRead, from: Address): RpcCall {
  return { method: "eth_call", params: [callObject(read, from), "latest"] };
}

function callObject({ to, data }: ContractRead, from: Address): Record<string, string> {
  return { from, to, data };
}

function codeKey(address: Address): string {
  return `code ${address.toLowerCase()}`;
}

function readKey({ to, data }: ContractRead): string {
  return `call ${to.toLowerCase()} ${data}`;
}

/** The answer as bytes; undefined for a revert, for silence, and for a result that is no bytes. */
function hexOf(answer: RpcAnswer): Hex | undefined {
  if (!answer.ok || typeof answer.result !== "string" || answer.result.length % 2 !== 0) return undefined;
  return /^0x[0-9a-fA-F]*$/.test(answer.result) ? (answer.result as Hex) : undefined;
}

function isContract(code: Hex | undefined): boolean {
  return code !== undefined && code !== "0x";
}

/** Whether the chain ran a simulated transfer and it failed; inside an aggregate the last call is the transfer. */
function wasRefused(read: ContractRead, answer: RpcAnswer): boolean {
  if (!answer.ok) return isRevert(answer);
  const data = hexOf(answer);
  if (read.to !== MULTICALL3_ADDRESS || data === undefined) return false;
  try {
    const results = decodeFunctionResult({ abi: MULTICALL3_ABI, functionName: "tryAggregate", data });
    return results.at(-1)?.success !== true;
  } catch {
    return false;
  }
}

function blockSeconds(block: unknown): number | undefined {
  const time =
    typeof block === "object" && block !== null && "timestamp" in block ? block.timestamp : undefined;
  return typeof time === "string" && /^0x[0-9a-fA-F]{1,12}$/.test(time) ? Number(time) : undefined;
}
