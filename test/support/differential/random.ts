// Repeatable chance: the same seed gives the same payments, in Node and in workerd.

export interface Chance {
  /** From 0 to `below - 1`. */
  int(below: number): number;
  pick<T>(from: readonly T[]): T;
  /** Unsigned, of so many bits. */
  bits(count: number): bigint;
}

/** mulberry32: good enough to vary test payments, no use for anything secret. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const int = (below: number) => next() % below;
  return {
    int,
    pick: (from) => {
      const picked = from[int(from.length)];
      if (picked === undefined) throw new Error("there is nothing to pick from");
      return picked;
    },
    bits: (count) => {
      let value = 0n;
      for (let have = 0; have < count; have += 32) value = (value << 32n) | BigInt(next());
      return BigInt.asUintN(count, value);
    },
  };
}
