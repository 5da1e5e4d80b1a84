// Runs another bench of this folder as it is run by hand, shows what it prints, and answers its last line of JSON.

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { eachLine } from "../scripts/worker/worker.ts";

export async function runScript<Figures>(name: string, args: readonly string[]): Promise<Figures> {
  const file = fileURLToPath(new URL(name, import.meta.url));
  const child = spawn(process.execPath, [file, ...args, "--json"], { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill("SIGKILL"));
  const lines: string[] = [];
  eachLine(child.stdout, (line) => lines.push(line));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  console.log(lines.slice(0, -1).join("\n"));
  return JSON.parse(lines.at(-1) ?? "null") as Figures;
}
