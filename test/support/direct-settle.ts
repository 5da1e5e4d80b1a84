// Settling a payment without any facilitator: the call that anybody may send who has seen the payment. For tests of
// the chain itself, and of what happens when somebody else was first.

import { type Abi, encodeFunctionData, parseErc6492Signature } from "viem";
import { EXACT_PERMIT2_PROXY, type Hex, UPTO_PERMIT2_PROXY } from "../../scripts/chain/addresses.ts";
import type { TestPayment } from "./payments.ts";
import { abiOf } from "./wallets.ts";

const TRANSFER_ABI: Abi = [
  {
    type: "function",
    name: "transferWithAuthorization",
    stateMutability: "nonpayable",
    inputs: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
      { name: "validAfter", type: "uint256" },
      { name: "validBefore", type: "uint256" },
      { name: "nonce", type: "bytes32" },
      { name: "signature", type: "bytes" },
    ],
    outputs: [],
  },
];

interface Authorization {
  from: Hex;
  to: Hex;
  value: string;
  validAfter: string;
  validBefore: string;
  nonce: Hex;
}

interface Permit2Authorization {
  from: Hex;
  permitted: { token: Hex; amount: string };
  nonce: string;
  deadline: string;
  witness: { to: Hex; facilitator?: Hex; validAfter: string };
}

interface ContractCall {
  address: Hex;
  abi: Abi;
  functionName: string;
  args: readonly unknown[];
}

/** What to call, for viem's `simulateContract`. upto charges the requirements' amount. */
export function settleContractCall({ paymentPayload, paymentRequirements }: TestPayment): ContractCall {
  const payload = paymentPayload.payload as { signature: Hex };
  const { signature } = parseErc6492Signature(payload.signature);
  if ("authorization" in payload) {
    const { from, to, value, validAfter, validBefore, nonce } = payload.authorization as Authorization;
    const args = [from, to, value, validAfter, validBefore, nonce, signature];
    const address = paymentRequirements.asset as Hex;
    return { address, abi: TRANSFER_ABI, functionName: "transferWithAuthorization", args };
  }
  const { permit2Authorization } = paymentPayload.payload as { permit2Authorization: Permit2Authorization };
  const { from, permitted, nonce, deadline, witness } = permit2Authorization;
  const permit = { permitted, nonce, deadline };
  return witness.facilitator === undefined
    ? {
        address: EXACT_PERMIT2_PROXY,
        abi: abiOf("ExactPermit2Proxy"),
        functionName: "settle",
        args: [permit, from, witness, signature],
      }
    : {
        address: UPTO_PERMIT2_PROXY,
        abi: abiOf("UptoPermit2Proxy"),
        functionName: "settle",
        args: [permit, paymentRequirements.amount, from, witness, signature],
      };
}

/** The same as a transaction's `to` and `data`: `transact(rpcUrl, { from, ...settleCall(payment) })`. */
export function settleCall(payment: TestPayment): { to: Hex; data: Hex } {
  const { address, ...call } = settleContractCall(payment);
  return { to: address, data: encodeFunctionData(call) };
}
