// Gets a verified payment's transfer to the relayer. The usual payment is sent as it was verified (plain-transfer.ts).
// For every other a published mechanism's settle runs with a signer that sends nothing itself: what the mechanism wants
// to send becomes steps of the relayer. What became of them is proved elsewhere (proof.ts), so every receipt that the
// mechanism waits for is denied, except the deployment that its transfer needs first.

import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Abi, Address, Hex } from "viem";
import { concat, encodeFunctionData } from "viem/utils";
import type { Payment } from "../payment.ts";
import { type Reason, reasonOfMechanism } from "../reasons.ts";
import { type MechanismOptions, mechanismOf } from "./mechanisms.ts";
import { predictTransfer } from "./predict-reads.ts";
import type { PaymentReader } from "./reader.ts";
import type { MinedReceipt, RelayerCall, Step, SubmitAnswer } from "./relayer/relayer-port.ts";
import type { GasEstimate } from "./verify-to-settle.ts";

/**
 * Gas that one step may burn. USDC's transferWithAuthorization takes 86,000, Permit2's way 120,000; a wallet contract
 * judges its signature inside the call, passkey wallets without a precompile take several hundred thousand for it.
 */
const GAS_CAPS = { plain: 250_000n, wallet: 1_000_000n, deploy: 2_000_000n } as const;

export type Submitted =
  /** The transfer is stored at the relayer. */
  | { kind: "sent"; hash: Hex }
  /** The mechanism wants nothing sent. */
  | { kind: "refused"; reason: Reason }
  /** The relayer took nothing of this step. */
  | { kind: "declined"; answer: Extract<SubmitAnswer, { ok: false }> }
  /** A read ended without an answer of the chain, so whatever the mechanism concluded is void. */
  | { kind: "unanswered" }
  /** The wallet's deployment is sent and not mined yet. */
  | { kind: "deploying" };

export interface SubmitOptions {
  payment: Payment;
  reader: PaymentReader;
  /** Our own path has just verified it: what it predicted is what the mechanism would send. */
  isPlain: boolean;
  allowedFactories: MechanismOptions["allowedFactories"];
  /** Read with the verification; where the mechanism sends something else, the relayer estimates. */
  estimate: GasEstimate | null;
  /** Rejects when the reply was lost: then the relayer may hold the step. */
  submit(step: Step, call: RelayerCall): Promise<SubmitAnswer>;
  /** The deployment's receipt, or null when the waiting is over. */
  waitForDeployment(): Promise<MinedReceipt | null>;
}

/** @throws whatever `submit` or `waitForDeployment` rejects with. */
export async function submitTransfer(options: SubmitOptions): Promise<Submitted> {
  return options.isPlain ? submitPredicted(options) : submitByMechanism(options);
}

async function submitPredicted({ payment, estimate, submit }: SubmitOptions): Promise<Submitted> {
  const call = predictTransfer(payment);
  const estimatedGas = estimate?.gas ?? null;
  const answer = await submit("transfer", { ...call, estimatedGas, gasCap: GAS_CAPS.plain });
  return answer.ok ? { kind: "sent", hash: answer.hash } : { kind: "declined", answer };
}

async function submitByMechanism(options: SubmitOptions): Promise<Submitted> {
  const signer = new SubmittingSigner(options);
  const mechanism = await mechanismOf(options.payment.scheme, {
    signer,
    allowedFactories: options.allowedFactories,
  });
  const response = await mechanism.settle(options.payment);
  const ending = signer.ending();
  if (ending) return ending;
  if (options.reader.isVoid()) return { kind: "unanswered" };
  return { kind: "refused", reason: reasonOfMechanism(response.errorReason) };
}

type SignerArgs<Method extends keyof FacilitatorEvmSigner> = Parameters<FacilitatorEvmSigner[Method]>[0];

/** Reads through the payment's reader, submits to the relayer, and remembers how it ended. */
class SubmittingSigner implements FacilitatorEvmSigner {
  readonly #options: SubmitOptions;
  #ending: Submitted | undefined;
  #thrown: { error: unknown } | undefined;
  #deployment: Hex | undefined;
  #payerHasCode = false;

  constructor(options: SubmitOptions) {
    this.#options = options;
  }

  /** The mechanisms swallow what their signer throws; what went wrong on the way to the relayer surfaces here. */
  ending(): Submitted | undefined {
    if (this.#thrown) throw this.#thrown.error;
    return this.#ending;
  }

  getAddresses() {
    return this.#options.reader.getAddresses();
  }

  async getCode(args: SignerArgs<"getCode">) {
    const code = await this.#options.reader.getCode(args);
    if (args.address === this.#options.payment.payer && code !== undefined && code !== "0x") {
      this.#payerHasCode = true;
    }
    return code;
  }

  readContract(args: SignerArgs<"readContract">) {
    return this.#options.reader.readContract(args);
  }

  verifyTypedData() {
    return this.#options.reader.verifyTypedData();
  }

  async writeContract(args: SignerArgs<"writeContract">): Promise<Hex> {
    const { abi, functionName, args: values, dataSuffix } = args;
    const encoded = encodeFunctionData({ abi: abi as Abi, functionName, args: values });
    const data = dataSuffix === undefined ? encoded : concat([encoded, dataSuffix]);
    const isWallet = this.#payerHasCode || this.#deployment !== undefined;
    const hash = await this.#submit("transfer", {
      to: args.address,
      data,
      estimatedGas: this.#estimateOf(args.address, data),
      gasCap: isWallet ? GAS_CAPS.wallet : GAS_CAPS.plain,
    });
    this.#ending = { kind: "sent", hash };
    return hash;
  }

  async sendTransaction({ to, data }: SignerArgs<"sendTransaction">): Promise<Hex> {
    const call = { to, data, estimatedGas: null, gasCap: GAS_CAPS.deploy };
    this.#deployment = await this.#submit("deploy", call);
    return this.#deployment;
  }

  async waitForTransactionReceipt({ hash }: SignerArgs<"waitForTransactionReceipt">) {
    if (hash !== this.#deployment || this.#ending) throw new Error("receipts are waited for elsewhere");
    const receipt = await this.#remembering(() => this.#options.waitForDeployment());
    if (receipt === null) {
      this.#ending = { kind: "deploying" };
      throw new Error("the deployment is not mined yet");
    }
    return { status: receipt.status };
  }

  /** An upto charge differs from the estimated call in the amount alone, which costs the same gas. */
  #estimateOf(to: Address, data: Hex): bigint | null {
    const { estimate, payment } = this.#options;
    const isSame = estimate?.to === to && (estimate.data === data || payment.scheme === "upto");
    return isSame ? estimate.gas : null;
  }

  async #submit(step: Step, call: RelayerCall): Promise<Hex> {
    const answer = await this.#remembering(() => this.#options.submit(step, call));
    if (answer.ok) return answer.hash;
    this.#ending = { kind: "declined", answer };
    throw new Error("the relayer took nothing");
  }

  async #remembering<Result>(ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask();
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }
}
