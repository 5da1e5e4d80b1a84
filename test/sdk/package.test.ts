// The SDK as others get it: built on its own, without the Worker, and imported by the package's name.

import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";

const run = (script: string, ...args: string[]) =>
  execFileSync(process.execPath, [script, ...args], { encoding: "utf8", timeout: 120_000 });

it("builds without the Worker's code and is imported by name", () => {
  run("node_modules/typescript/bin/tsc", "-p", "tsconfig.sdk.json");
  const names = (entry: string) => {
    const script = `console.log(Object.keys(await import("souk/sdk/${entry}")).sort().join(" "))`;
    return run("--input-type=module", "--eval", script).trim();
  };
  expect(names("buyer")).toBe("buy buyOverHttp buyTools fileClaims");
  expect(names("seller")).toBe("GatewayClient GatewayError forExpress sellOverHttp sellTool");
  const files = readdirSync("dist-sdk", { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => /object|store|config|http[\\/]router/.test(file))).toEqual([]);
});
