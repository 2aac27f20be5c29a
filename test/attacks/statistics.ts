// The statistics by which attacks by time are evaluated, and a seeded random generator.

const sorted = (values: readonly number[]): number[] => values.toSorted((one, other) => one - other);

/** @param share 0.5: the median, 0.95: what all but the slowest 5 % stay below */
export function quantile(values: readonly number[], share: number): number {
  const ordered = sorted(values);
  const position = (ordered.length - 1) * share;
  const [low = Number.NaN, high = low] = [ordered[Math.floor(position)], ordered[Math.ceil(position)]];
  return low + (high - low) * (position - Math.floor(position));
}

/**
 * The area under the ROC curve of a distinguisher that looks at the time alone (Mann–Whitney): 0.5 tells nothing, 1 tells
 * all. Values below 0.5 are turned round, because an attacker would do so, too.
 */
export function areaUnderCurve(one: readonly number[], other: readonly number[]): number {
  const ordered = sorted(other);
  let wins = 0;
  for (const value of one) {
    let [low, high] = [0, ordered.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ordered[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    let ties = 0;
    while (ordered[low + ties] === value) ties += 1;
    wins += low + ties / 2;
  }
  const area = wins / (one.length * other.length);
  return Math.max(area, 1 - area);
}

/** Mulberry32: small, fast, the same everywhere for one seed. @returns numbers in [0, 1) */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Fisher–Yates, by the given randomness. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [left, right] = [result[last], result[other]];
    if (left !== undefined && right !== undefined) [result[last], result[other]] = [right, left];
  }
  return result;
}
