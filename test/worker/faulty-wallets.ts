// The way from paid calls to wallets, made unreliable: requests that never arrive, arrive twice or long after they were
// given up, and answers that are slow or never come back. Sits at the binding, so nothing of ours is replaced.

import { env } from "cloudflare:workers";
import type { WalletObject } from "../../src/gateway/wallet-object.ts";
import type { WalletPort } from "../../src/gateway/wallet-port.ts";

export type WalletStep = keyof WalletPort;
/**
 * `before`: it never arrives. `after`: it is done, and the answer is lost. `twice`: it arrives twice. `late`: it is
 * given up at once and arrives after a while. `slow`: it is done, and the answer takes a while.
 */
export type Fault = "none" | "before" | "after" | "twice" | "late" | "slow";

/** Long enough for many other operations to overtake. */
const A_WHILE_MS = 1_000;
/** Decides what happens to a step that is asked for a paid call. */
export type ChooseFault = (step: WalletStep, transactionId: string) => Fault;

const STEPS: readonly string[] = ["hold", "capture", "release", "cancel", "credit"] satisfies WalletStep[];

type Wallets = DurableObjectNamespace<WalletObject>;

/** The namespace, with every step of every wallet going through `choose`. */
export function faultyWallets(wallets: Wallets, choose: ChooseFault): Wallets {
  const getByName = (name: string) =>
    new Proxy(wallets.getByName(name), {
      get: (stub, method) => {
        if (!STEPS.includes(String(method))) return Reflect.get(stub, method, stub);
        const step = method as WalletStep;
        return async (...args: unknown[]) => {
          const [first] = args;
          const transactionId =
            typeof first === "string" ? first : (first as { transactionId?: string }).transactionId;
          const send = () => (stub[step] as (...args: unknown[]) => Promise<unknown>)(...args);
          const fault = choose(step, transactionId ?? "");
          if (fault === "late")
            void aWhile()
              .then(send)
              .catch(() => undefined);
          if (fault === "before" || fault === "late") throw new Error("connection lost");
          const answer = await send();
          if (fault === "slow") await aWhile();
          if (fault === "after") throw new Error("connection lost");
          return fault === "twice" ? send() : answer;
        };
      },
    });
  return new Proxy(wallets, {
    get: (real, property) => {
      if (property === "getByName") return getByName;
      const value: unknown = Reflect.get(real, property, real);
      // The test pool's own helpers look at the constructor and call the rest.
      return typeof value === "function" && property !== "constructor" ? value.bind(real) : value;
    },
  });
}

const aWhile = () => new Promise((resolve) => setTimeout(resolve, A_WHILE_MS));

/** Makes the binding that a test shares with the Worker and its objects faulty; returns how to repair it. */
export function breakWallets(choose: ChooseFault): () => void {
  const { WALLETS } = env as unknown as { WALLETS: Wallets };
  Object.assign(env, { WALLETS: faultyWallets(WALLETS, choose) });
  return () => void Object.assign(env, { WALLETS });
}
