// The addresses of the relayer's keys, found by a shorter way than the library's, are the library's.

import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, it } from "vitest";
import { addressesOf } from "../../src/payments/evm/relayer-keys.ts";
import { ACCOUNTS } from "../support/chain.ts";

it("are those of anvil's accounts and of any other key, in the order of the keys", () => {
  const smallest = "0x0000000000000000000000000000000000000000000000000000000000000001" as const;
  const largest = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140" as const;
  const others = [smallest, largest, ...Array.from({ length: 20 }, generatePrivateKey)];
  expect(addressesOf(ACCOUNTS.map(({ key }) => key))).toEqual(ACCOUNTS.map(({ address }) => address));
  expect(addressesOf(others)).toEqual(others.map(privateKeyToAddress));
});
