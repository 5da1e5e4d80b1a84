// The contracts that a payment touches: canonical addresses and the functions Souk encodes or decodes itself. Pure
// data, written out so that the worker does not carry the published package's whole root; a test compares it with
// the package, because a read that is encoded differently would never be predicted.

import type { Address } from "viem";

export const PERMIT2_ADDRESS: Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
export const MULTICALL3_ADDRESS: Address = "0xcA11bde05977b3631167028862bE2a173976CA11";
/** Whose `settle` moves an exact payment through Permit2; the spender that the payer signs. */
export const EXACT_PROXY_ADDRESS: Address = "0x402085c248EeA27D92E8b30b2C58ed07f9E20001";
export const UPTO_PROXY_ADDRESS: Address = "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002";

const TRANSFER_INPUTS = [
  { name: "from", type: "address" },
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "validAfter", type: "uint256" },
  { name: "validBefore", type: "uint256" },
  { name: "nonce", type: "bytes32" },
] as const;

/** EIP-3009 and what a diagnosis reads of the token. */
export const TOKEN_ABI = [
  {
    type: "function",
    name: "transferWithAuthorization",
    inputs: [
      ...TRANSFER_INPUTS,
      { name: "v", type: "uint8" },
      { name: "r", type: "bytes32" },
      { name: "s", type: "bytes32" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "transferWithAuthorization",
    inputs: [...TRANSFER_INPUTS, { name: "signature", type: "bytes" }],
    outputs: [],
    stateMutability: "nonpayable",
  },
  {
    type: "function",
    name: "balanceOf",
    inputs: [{ name: "account", type: "address" }],
    outputs: [{ name: "", type: "uint256" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "name",
    inputs: [],
    outputs: [{ name: "", type: "string" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "version",
    inputs: [],
    outputs: [{ name: "", type: "string" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "authorizationState",
    inputs: [
      { name: "authorizer", type: "address" },
      { name: "nonce", type: "bytes32" },
    ],
    outputs: [{ name: "", type: "bool" }],
    stateMutability: "view",
  },
  {
    type: "function",
    name: "allowance",
    inputs: [
      { name: "owner", type: "address" },
      { name: "spender", type: "address" },
    ],
    outputs: [{ name: "", type: "uint256" }],
    stateMutability: "view",
  },
] as const;

const PERMIT_INPUT = {
  name: "permit",
  type: "tuple",
  components: [
    {
      name: "permitted",
      type: "tuple",
      components: [
        { name: "token", type: "address" },
        { name: "amount", type: "uint256" },
      ],
    },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

const PERMIT2_GETTER = {
  type: "function",
  name: "PERMIT2",
  inputs: [],
  outputs: [{ name: "", type: "address" }],
  stateMutability: "view",
} as const;

const EXACT_SETTLE_INPUTS = [
  PERMIT_INPUT,
  { name: "owner", type: "address" },
  {
    name: "witness",
    type: "tuple",
    components: [
      { name: "to", type: "address" },
      { name: "validAfter", type: "uint256" },
    ],
  },
  { name: "signature", type: "bytes" },
] as const;

export const EXACT_PROXY_ABI = [
  PERMIT2_GETTER,
  {
    type: "function",
    name: "settle",
    inputs: EXACT_SETTLE_INPUTS,
    outputs: [],
    stateMutability: "nonpayable",
  },
] as const;

/** The proxy's second way to settle, which sets the allowance first. Never sent by us; other facilitators use it. */
export const EXACT_PROXY_SETTLE_WITH_PERMIT = {
  type: "function",
  name: "settleWithPermit",
  inputs: [
    {
      name: "permit2612",
      type: "tuple",
      components: [
        { name: "value", type: "uint256" },
        { name: "deadline", type: "uint256" },
        { name: "r", type: "bytes32" },
        { name: "s", type: "bytes32" },
        { name: "v", type: "uint8" },
      ],
    },
    ...EXACT_SETTLE_INPUTS,
  ],
  outputs: [],
  stateMutability: "nonpayable",
} as const;

export const UPTO_PROXY_ABI = [
  PERMIT2_GETTER,
  {
    type: "function",
    name: "settle",
    inputs: [
      PERMIT_INPUT,
      { name: "amount", type: "uint256" },
      { name: "owner", type: "address" },
      {
        name: "witness",
        type: "tuple",
        components: [
          { name: "to", type: "address" },
          { name: "facilitator", type: "address" },
          { name: "validAfter", type: "uint256" },
        ],
      },
      { name: "signature", type: "bytes" },
    ],
    outputs: [],
    stateMutability: "nonpayable",
  },
] as const;

/** ERC-1271. */
export const WALLET_ABI = [
  {
    type: "function",
    name: "isValidSignature",
    inputs: [
      { name: "hash", type: "bytes32" },
      { name: "signature", type: "bytes" },
    ],
    outputs: [{ name: "", type: "bytes4" }],
    stateMutability: "view",
  },
] as const;

export const MULTICALL3_ABI = [
  {
    type: "function",
    name: "tryAggregate",
    inputs: [
      { name: "requireSuccess", type: "bool" },
      {
        name: "calls",
        type: "tuple[]",
        components: [
          { name: "target", type: "address" },
          { name: "callData", type: "bytes" },
        ],
      },
    ],
    outputs: [
      {
        name: "returnData",
        type: "tuple[]",
        components: [
          { name: "success", type: "bool" },
          { name: "returnData", type: "bytes" },
        ],
      },
    ],
    stateMutability: "payable",
  },
] as const;
