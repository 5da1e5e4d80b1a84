// Signing is a pure function of what is stored: the same fields give the same bytes, and the bytes say what was meant.

import fc from "fast-check";
import {
  bytesToHex,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializedEIP1559,
} from "viem";
import { privateKeyToAddress, signTransaction as signByLibrary } from "viem/accounts";
import { expect, it } from "vitest";
import { signTransaction, type TransactionFields } from "../../src/payments/evm/relayer/transaction.ts";
import { isPrivateKey } from "../../src/payments/evm/relayer-keys.ts";

const key = `0x${"42".repeat(32)}` as const;
const fields: TransactionFields = {
  chainId: 84532,
  nonce: 7,
  to: `0x${"11".repeat(20)}`,
  data: "0xdeadbeef",
  gas: 90_000n,
  fees: { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000n },
};

it("signs the same fields to the same bytes and hash, whoever signs and however often", () => {
  expect(signTransaction({ ...fields }, key)).toEqual(signTransaction(fields, key));
});

it("signs as the library does", async () => {
  const hex = (length: number) =>
    fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => bytesToHex(bytes));
  const gwei = fc.bigInt({ min: 0n, max: 1n << 60n });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ chainId: fc.integer({ min: 1 }), nonce: fc.nat(), to: hex(20), data: hex(100), gas: gwei }),
      fc.record({ maxFeePerGas: gwei, maxPriorityFeePerGas: fc.constant(0n) }),
      hex(32).filter((text) => isPrivateKey(text)),
      async (some, fees, privateKey) => {
        const transaction = { type: "eip1559", value: 0n, ...some, ...fees } as const;
        const { raw } = signTransaction({ ...some, fees }, privateKey);
        expect(raw).toBe(await signByLibrary({ privateKey, transaction }));
      },
    ),
    { numRuns: 50 },
  );
});

it("signs to another hash when any field differs", () => {
  const changes: Partial<TransactionFields>[] = [
    { chainId: 8453 },
    { nonce: 8 },
    { to: `0x${"12".repeat(20)}` },
    { data: "0x" },
    { gas: 90_001n },
    { fees: { ...fields.fees, maxFeePerGas: 3_000_000_001n } },
    { fees: { ...fields.fees, maxPriorityFeePerGas: 1_000_001n } },
  ];
  const signed = [{}, ...changes].map((change) => signTransaction({ ...fields, ...change }, key));
  expect(new Set(signed.map(({ hash }) => hash)).size).toBe(changes.length + 1);
});

it("signs what was stored, moves no value, and is the relayer's own", async () => {
  const { raw } = signTransaction(fields, key);
  const { value, ...parsed } = parseTransaction(raw as TransactionSerializedEIP1559);
  expect(value ?? 0n).toBe(0n);
  expect(parsed).toMatchObject({
    chainId: 84532,
    nonce: 7,
    to: fields.to,
    data: "0xdeadbeef",
    gas: 90_000n,
    ...fields.fees,
  });
  const signer = await recoverTransactionAddress({
    serializedTransaction: raw as TransactionSerializedEIP1559,
  });
  expect(signer).toBe(privateKeyToAddress(key));
});
