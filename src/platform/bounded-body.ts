// Reads a body of at most so many bytes, from whoever sends it.

/**
 * The whole body; null when it is longer than `maxBytes`. Of a longer one up to `maxDiscardedBytes` are read away first:
 * by default nothing, and the sender learns that its body is not wanted.
 * @throws what the stream throws when the sender goes away.
 */
export async function readBounded(
  message: Request | Response,
  maxBytes: number,
  maxDiscardedBytes = 0,
): Promise<ArrayBuffer | null> {
  const stated = statedLength(message.headers);
  // HTTP holds a sender to the length that it states, and reading at once is cheaper than chunk by chunk.
  if (stated !== null && stated <= maxBytes) {
    const bytes = await message.arrayBuffer();
    return bytes.byteLength > maxBytes ? null : bytes;
  }
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let total = 0;
  for await (const chunk of message.body ?? []) {
    total += chunk.byteLength;
    if (total <= maxBytes) chunks.push(new Uint8Array(chunk));
    else if (total > maxDiscardedBytes) return null;
  }
  return total > maxBytes ? null : new Blob(chunks).arrayBuffer();
}

/** Null where none is stated, or where it is that of a compressed body: it says nothing about what that becomes. */
function statedLength(headers: Headers): number | null {
  const stated = headers.get("content-length");
  return stated === null || headers.has("content-encoding") ? null : Number(stated);
}
