// Palettes that look random and are the same in every run (mulberry32), for tests.
import type { Picked } from '../../src/views/palette.ts';

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomPalettes(count: number): Picked[] {
  const random = createRandom(20_261_124);
  const color = (): string =>
    `#${Math.floor(random() * 0x1000000)
      .toString(16)
      .padStart(6, '0')}`;
  const maybe = (): string | undefined => (random() < 0.5 ? color() : undefined);
  return Array.from({ length: count }, () => ({
    accent: color(),
    accentDark: maybe(),
    background: maybe(),
    backgroundDark: maybe(),
    isGradient: random() < 0.5,
  }));
}
