// The usual transfer is encoded by hand; it must be byte for byte what the published mechanism would send.

import { eip3009ABI } from "@x402/evm";
import fc from "fast-check";
import { type Abi, encodeFunctionData, getAddress, type Hex, serializeErc6492Signature, toHex } from "viem";
import { expect, it } from "vitest";
import { predictTransfer } from "../../src/payments/evm/predict-reads.ts";
import { USDC } from "../support/chain.ts";
import { decodedPayment } from "../support/decoded-payment.ts";

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((value): Hex => toHex(value));
const address = hex(20).map((value) => getAddress(value));
const uint256 = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });

it("encodes the transfer of a plain account as the published ABI says", () => {
  fc.assert(
    fc.property(
      fc.tuple(address, address, uint256, uint256, uint256, hex(32), hex(64), fc.constantFrom(27, 28)),
      fc.boolean(),
      ([payer, payTo, signedAtomic, validAfterSeconds, validBeforeSeconds, nonce, rs, v], isWrapped) => {
        const inner: Hex = `${rs}${v.toString(16)}`;
        const wrapper = { address: payTo, data: "0x1234", signature: inner } as const;
        const signature = isWrapped ? serializeErc6492Signature(wrapper) : inner;
        const payment = decodedPayment({
          payer,
          payTo,
          signedAtomic,
          validAfterSeconds,
          validBeforeSeconds,
          nonce,
          signature,
        });
        const data = encodeFunctionData({
          abi: eip3009ABI as Abi,
          functionName: "transferWithAuthorization",
          args: [
            payer,
            payTo,
            signedAtomic,
            validAfterSeconds,
            validBeforeSeconds,
            nonce,
            v,
            rs.slice(0, 66),
            `0x${rs.slice(66)}`,
          ],
        });
        expect(predictTransfer(payment)).toEqual({ to: USDC, data });
      },
    ),
  );
});
