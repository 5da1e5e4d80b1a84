// The claims of payments: each payment id is signed for once, also when the program was restarted in between. A claim is
// made before the signature, so that one that was lost half-way counts as used.

import { sha256Hex } from "../platform/bytes.ts";

/** What an id was claimed for: enough to look the payment up on the chain, nothing that could be used to pay. */
export interface Claimed {
  resource: string;
  network: string;
  asset: string;
  /** Atomic units. */
  amount: string;
  payTo: string;
  claimedAtMs: number;
}

export interface ClaimStore {
  /**
   * True for the first who claims this id, false for everybody after, for ever. Resolves once that is on disk.
   *
   * @throws when it cannot be written: then nothing is signed.
   */
  claim(paymentId: string, claimed: Claimed): Promise<boolean>;
}

/** What is needed of `node:fs/promises`. */
export interface FileSystem {
  mkdir(path: string, options: { recursive: true }): Promise<unknown>;
  open(
    path: string,
    flags: "wx" | "r",
  ): Promise<{ writeFile(text: string): Promise<unknown>; sync(): Promise<void>; close(): Promise<void> }>;
}

/**
 * One file per payment id in a folder, named by the id's hash; in it, as JSON, the id and what it was claimed for.
 *
 * @example
 * import * as fs from "node:fs/promises";
 * const claims = fileClaims("./claims", fs);
 */
export function fileClaims(folder: string, fs: FileSystem): ClaimStore {
  const onDisk = async (path: string, flags: "wx" | "r", text?: string) => {
    const file = await fs.open(path, flags);
    try {
      if (text !== undefined) await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  };
  return {
    async claim(paymentId, claimed) {
      await fs.mkdir(folder, { recursive: true });
      try {
        // Created by one caller alone, whatever runs at the same time.
        const path = `${folder}/${await sha256Hex(paymentId)}`;
        await onDisk(path, "wx", `${JSON.stringify({ paymentId, ...claimed })}\n`);
      } catch (error) {
        if ((error as { code?: unknown }).code === "EEXIST") return false;
        throw error;
      }
      // The folder's entry as well: a file that is not found again after a power cut is no claim.
      await onDisk(folder, "r");
      return true;
    },
  };
}
