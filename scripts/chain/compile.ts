// Compiles the project's own test contracts (contracts/*.sol) with npm's solc. Part of `npm run chain:build`.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import solc from "solc";
import type { Abi } from "viem";
import type { Hex } from "./addresses.ts";

export const CONTRACTS_FOLDER = fileURLToPath(new URL("../../contracts/", import.meta.url));
/** ABIs and creation code of every contract, for tests that deploy one. */
export const SAVED_ARTIFACTS_PATH = `${CONTRACTS_FOLDER}artifacts.json`;

export interface Artifact {
  abi: Abi;
  /** Creation code, without constructor arguments. */
  bytecode: Hex;
}

interface CompilerOutput {
  errors?: { severity: "error" | "warning" | "info"; formattedMessage: string }[];
  contracts?: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
}

/** Every deployable contract by name. @throws Error with the compiler's messages. */
export function compileContracts(): Record<string, Artifact> {
  const names = readdirSync(CONTRACTS_FOLDER).filter((name) => name.endsWith(".sol"));
  const sources = Object.fromEntries(
    names.map((name) => [name, { content: readFileSync(CONTRACTS_FOLDER + name, "utf8") }]),
  );
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: "cancun",
    // Without the metadata hash the bytecode depends on the code alone, not on comments.
    metadata: { bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  };
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const output = JSON.parse(solc.compile(input)) as CompilerOutput;
  if (output.errors?.length) throw new Error(output.errors.map((e) => e.formattedMessage).join("\n"));
  const artifacts: Record<string, Artifact> = {};
  for (const contracts of Object.values(output.contracts ?? {})) {
    for (const [name, { abi, evm }] of Object.entries(contracts)) {
      if (evm.bytecode.object) artifacts[name] = { abi, bytecode: `0x${evm.bytecode.object}` };
    }
  }
  return artifacts;
}
