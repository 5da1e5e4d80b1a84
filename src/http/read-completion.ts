// Reads the body of POST /v1/x402/complete: up to 16 MiB, hashed while it is decoded, never stored and never in memory
// as a whole.

import { toHex } from "../platform/bytes.ts";
import { CompletionScanner, type ScanProblem, STREAMED_MEMBER } from "./completion-scanner.ts";
import type { BodyReading } from "./read-request.ts";

/** About 12 MB of response; larger ones are for another way of delivery than one signed receipt. */
export const MAX_COMPLETION_BYTES = 16 * 1024 * 1024;

export type CompletionReading =
  /** `value`: the body with the empty string in place of the base64. `responseHash`: lower-case hex SHA-256. */
  { ok: true; value: unknown; responseHash: string } | Exclude<BodyReading, { ok: true }>;

export async function readCompletion(request: Request): Promise<CompletionReading> {
  const stated = Number(request.headers.get("content-length") ?? "0");
  if (stated > MAX_COMPLETION_BYTES) return { ok: false, reason: "too_large" };
  const scanner = new CompletionScanner();
  const digest = new crypto.DigestStream("SHA-256");
  const writer = digest.getWriter();
  let total = 0;
  for await (const chunk of request.body ?? []) {
    total += chunk.byteLength;
    if (total > MAX_COMPLETION_BYTES) return { ok: false, reason: "too_large" };
    const decoded = scanner.feed(chunk);
    if (typeof decoded === "string") return refusalOf(decoded);
    if (decoded.length > 0) await writer.write(decoded);
  }
  const end = scanner.end();
  if (!end.ok) return refusalOf(end.problem);
  await writer.close();
  return { ok: true, value: end.value, responseHash: toHex(new Uint8Array(await digest.digest)) };
}

function refusalOf(problem: ScanProblem): Exclude<CompletionReading, { ok: true }> {
  switch (problem) {
    case "rest_too_large":
      return { ok: false, reason: "too_large" };
    case "not_base64":
      return {
        ok: false,
        reason: "invalid",
        field: STREAMED_MEMBER,
        message: "is not standard padded base64",
      };
    case "not_json":
      return { ok: false, reason: "invalid", field: "body", message: "is not JSON" };
  }
}
