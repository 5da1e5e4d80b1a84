// The first look at a bazaar block: is it small enough to be looked at more closely? Walks without recursion and stops
// at the first limit, so that no input can make it slow. Runs before anything else touches the block.

/** The whole block as UTF-8 JSON: it travels in one queue message of at most 128 KB. */
export const MAX_BLOCK_BYTES = 64 * 1024;
/** Later steps recurse; this bounds their stack. */
export const MAX_BLOCK_DEPTH = 32;
/** Every JSON value counts as one, containers and scalars alike. Bounds the work of validating. */
export const MAX_BLOCK_NODES = 2_000;

export type Measured = { ok: true; text: string } | { ok: false; problem: string };

/** The block as JSON text, or the limit that it exceeds as a sentence's end. `value` is parsed JSON. */
export function measureBlock(value: unknown): Measured {
  const pending: { value: unknown; depth: number }[] = [{ value, depth: 1 }];
  let nodes = 0;
  let characters = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    if (++nodes > MAX_BLOCK_NODES) return TOO_MANY;
    if (next.depth > MAX_BLOCK_DEPTH) return TOO_DEEP;
    if (typeof next.value === "string") characters += next.value.length;
    if (typeof next.value === "object" && next.value !== null) {
      const children = Object.entries(next.value);
      if (children.length > MAX_BLOCK_NODES) return TOO_MANY;
      for (const [key, child] of children) {
        characters += key.length;
        pending.push({ value: child, depth: next.depth + 1 });
      }
    }
    if (characters > MAX_BLOCK_BYTES) return TOO_LARGE;
  }
  const text = JSON.stringify(value);
  return new TextEncoder().encode(text).byteLength > MAX_BLOCK_BYTES ? TOO_LARGE : { ok: true, text };
}

const TOO_MANY: Measured = { ok: false, problem: `has more than ${MAX_BLOCK_NODES} values` };
const TOO_DEEP: Measured = { ok: false, problem: `is nested deeper than ${MAX_BLOCK_DEPTH}` };
const TOO_LARGE: Measured = { ok: false, problem: `is larger than ${MAX_BLOCK_BYTES} bytes` };
