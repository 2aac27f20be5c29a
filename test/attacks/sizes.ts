// How much of an attack every run performs, and how much LONG=1 does.

export const isLong = process.env.LONG === '1';

/** @returns the size of an attack in this run */
export const sized = (usual: number, long: number): number => (isLong ? long : usual);

/** The store of a race: the one that the product has; the tests' own repeats it with LONG=1. */
export const RACED: readonly ('sqlite' | 'memory')[] = isLong ? ['sqlite', 'memory'] : ['sqlite'];

/** Runs `act` that many times at once, as near to one moment as one process can. */
export const atOnce = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));

const TURNS = 3;

/**
 * For an attack with many values at many addresses: each value at every third address, the next value at the ones after those, so
 * that three values reach all.
 * @returns the whole list with LONG=1
 */
export const inTurn = <T>(list: readonly T[], turn: number): readonly T[] =>
  isLong ? list : list.filter((_, index) => index % TURNS === turn % TURNS);
