// One settlement's side of the conversation with its relayer: the port's messages with this settlement's names filled
// in. Every call may reject, when the relayer's object restarts or its reply is lost; the caller then asks again.

import type { Address } from "viem";
import type { Payment } from "../../payment.ts";
import type {
  CancelAnswer,
  MinedReceipt,
  RelayerCall,
  RelayerPort,
  Step,
  StepProgress,
  SubmitAnswer,
} from "./relayer-port.ts";

/** The name of the relayer's object. */
export function relayerName(chainId: number, address: Address): string {
  return `${chainId}:${address.toLowerCase()}`;
}

/** Which relayer sends this payment: the one that an upto payer named, else by the payment's id, always the same. */
export function relayerOf(payment: Payment, settlementId: string, relayers: readonly Address[]): Address {
  const chosen =
    payment.facilitator ?? relayers[Number.parseInt(settlementId.slice(0, 8), 16) % relayers.length];
  if (chosen === undefined) throw new Error("assertion failed: a configured network has a relayer");
  return chosen;
}

export class RelayerClient {
  readonly #stub: () => RelayerPort;
  readonly #settlementId: string;
  readonly #attempt: string;
  readonly #payment: Payment;

  /** @param stub - a new one for every call: after an error the old one is dead. */
  constructor(stub: () => RelayerPort, settlementId: string, attempt: string, payment: Payment) {
    this.#stub = stub;
    this.#settlementId = settlementId;
    this.#attempt = attempt;
    this.#payment = payment;
  }

  submit(step: Step, call: RelayerCall): Promise<SubmitAnswer> {
    const { payer, validBeforeSeconds } = this.#payment;
    return this.#stub().submit({
      settlementId: this.#settlementId,
      attempt: this.#attempt,
      step,
      payer,
      call,
      // Storage and clocks count seconds in numbers; a deadline beyond them is never.
      validBeforeSeconds: Number(
        validBeforeSeconds < BigInt(Number.MAX_SAFE_INTEGER) ? validBeforeSeconds : Number.MAX_SAFE_INTEGER,
      ),
    });
  }

  /** Nothing of this attempt's transfer is or will be sent, or the hashes that may be out. */
  cancel(): Promise<CancelAnswer> {
    return this.#stub().cancel(this.#settlementId, this.#attempt);
  }

  /** The transfer once it is `depth` deep or given up, or as it stands after `timeoutMs`; undefined without one. */
  async transfer(depth: number, timeoutMs: number): Promise<StepProgress | undefined> {
    return this.#step("transfer", depth, timeoutMs);
  }

  /** The deployment's receipt, or null when it is not mined within `timeoutMs`. */
  async deployment(timeoutMs: number): Promise<MinedReceipt | null> {
    return (await this.#step("deploy", 1, timeoutMs))?.receipt ?? null;
  }

  async #step(step: Step, depth: number, timeoutMs: number): Promise<StepProgress | undefined> {
    const steps = await this.#stub().waitFor(this.#settlementId, this.#attempt, depth, timeoutMs);
    return steps.find((progress) => progress.step === step);
  }
}
