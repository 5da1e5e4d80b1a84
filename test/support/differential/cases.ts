// The payments of the differential test: every fault alone, every kind of payer, and several at once. Signed here and
// decoded by the real decoder, so that both sides are given one and the same payment.

import { decodePayment } from "../../../src/payments/decode-payment.ts";
import type { Payment } from "../../../src/payments/payment.ts";
import {
  aPayment,
  CHAIN_ID,
  type Hex,
  NETWORK,
  type PaymentMethod,
  type PaymentOptions,
  type TestPayment,
} from "../chain.ts";
import {
  type Draft,
  EIP3009_FAULTS,
  type Fault,
  PERMIT2_FAULTS,
  type Setting,
  UPTO_FAULTS,
} from "./faults.ts";
import type { Ground, PayerKind } from "./ground.ts";
import { chanceFrom } from "./random.ts";

export interface Case {
  /** What is special about it, in words. */
  label: string;
  payment: Payment;
}

export interface Cases {
  cases: Case[];
  /** Bodies that the decoder turned away: the reference never sees those here. */
  refusedByDecoder: number;
}

/** How often each family of cases is made at scale 1; together somewhat over 5,000. */
const TIMES = {
  valid: 400,
  perFault: 25,
  perPayer: 30,
  payerWithFault: 700,
  pairs: 700,
  triples: 350,
  spent: 150,
};
/** Permit2 and upto are judged by the mechanism itself: what is compared there is the terms and the reader. */
const PERMIT2_SHARE = 0.35;

export async function makeCases(ground: Ground, seed: number, scale: number): Promise<Cases> {
  const setting: Setting = { ground, chance: chanceFrom(seed) };
  const made: Cases = { cases: [], refusedByDecoder: 0 };
  const take = (label: string, body: TestPayment) => {
    const decoding = decodePayment(body, new Map([[NETWORK, { chainId: CHAIN_ID }]]));
    if (decoding.ok) made.cases.push({ label, payment: decoding.payment });
    else made.refusedByDecoder++;
  };
  for (const method of ["eip3009", "permit2", "upto"] as const) {
    const share = method === "eip3009" ? scale : scale * PERMIT2_SHARE;
    for (const { label, payerKind, faults } of recipes(method, setting, share)) {
      take(`${method}: ${label}`, await bake(method, payerKind, faults, setting));
    }
  }
  for (let time = 0; time < TIMES.spent * scale; time++) {
    take("spent", changed(setting.chance.pick(ground.spent), setting));
  }
  return made;
}

interface Recipe {
  label: string;
  payerKind: PayerKind | null;
  faults: Fault[];
}

function* recipes(method: PaymentMethod, { chance, ground }: Setting, share: number): Generator<Recipe> {
  const table = FAULTS[method];
  const names = Object.keys(table);
  const payerKinds = Object.keys(ground.payers) as PayerKind[];
  const recipe = (payerKind: PayerKind | null, faultNames: readonly string[]): Recipe => ({
    label: [payerKind ?? "plain account", ...faultNames].join(", "),
    payerKind,
    faults: faultNames.flatMap((name) => table[name] ?? []),
  });
  const several = (count: number) => Array.from({ length: count }, () => chance.pick(names));
  const times = (count: number) => Array.from({ length: Math.ceil(count * share) });
  for (const _ of times(TIMES.valid)) yield recipe(null, []);
  for (const name of names) for (const _ of times(TIMES.perFault)) yield recipe(null, [name]);
  for (const kind of payerKinds) for (const _ of times(TIMES.perPayer)) yield recipe(kind, []);
  for (const _ of times(TIMES.payerWithFault)) yield recipe(chance.pick(payerKinds), several(1));
  for (const _ of times(TIMES.pairs)) yield recipe(chance.pick([null, ...payerKinds]), several(2));
  for (const _ of times(TIMES.triples)) yield recipe(chance.pick([null, ...payerKinds]), several(3));
}

const FAULTS: Record<PaymentMethod, Record<string, Fault>> = {
  eip3009: EIP3009_FAULTS,
  permit2: PERMIT2_FAULTS,
  upto: UPTO_FAULTS,
};

async function bake(
  method: PaymentMethod,
  payerKind: PayerKind | null,
  faults: readonly Fault[],
  setting: Setting,
): Promise<TestPayment> {
  const { chance, ground } = setting;
  const payer = payerKind === null ? chance.pick(ground.rich) : ground.payers[payerKind];
  const isUndeployed = payerKind?.includes("not deployed") ?? false;
  // Of a Permit2 payment the reference refuses the wrapper of a wallet that stands, and we take it off (C06).
  const keepsWrapper = method === "eip3009" && chance.int(3) === 0;
  const draft: Draft = {
    options: {
      method,
      payer,
      amount: 1_000n + chance.bits(16),
      nowSeconds: ground.nowSeconds,
      withDeployment: isUndeployed || keepsWrapper,
      bareOwnerSignature: chance.int(2) === 0,
      signed: { nonce: chance.bits(256) },
      sent: {},
      accepted: {},
    },
    reforge: (signature) => signature,
  };
  for (const fault of faults) fault(draft, setting);
  return reforged(await aPayment(draft.options satisfies PaymentOptions), draft.reforge);
}

/** A spent payment as it was, or with one more thing wrong. */
function changed(payment: TestPayment, { chance }: Setting): TestPayment {
  if (chance.int(3) > 0) return payment;
  const garbage: Hex = `0x${chance.bits(512).toString(16).padStart(128, "0")}1b`;
  return reforged(payment, () => garbage);
}

function reforged(payment: TestPayment, reforge: (signature: Hex) => Hex): TestPayment {
  const { paymentPayload } = payment;
  const { signature, ...rest } = paymentPayload.payload as { signature: Hex };
  return {
    ...payment,
    paymentPayload: { ...paymentPayload, payload: { ...rest, signature: reforge(signature) } },
  };
}
