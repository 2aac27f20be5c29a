// Owns the small charts of the overview: numbers over time as bars of an inline SVG. No script, no library, no colour but
// the tokens'.
export interface Bucket {
  readonly label: string;
  readonly good: number;
  readonly bad: number;
}

const WIDTH = 600;
const HEIGHT = 120;
const GAP = 0.28;

/** @returns what templates/admin/chart.njk draws; all numbers are in units of the viewBox */
export function chartOf(buckets: readonly Bucket[]) {
  const top = Math.max(1, ...buckets.map(({ good, bad }) => good + bad));
  const step = WIDTH / Math.max(1, buckets.length);
  const scale = (value: number): number => Math.round((value / top) * HEIGHT * 10) / 10;
  const bars = buckets.map(({ label, good, bad }, index) => {
    const [goodHeight, badHeight] = [scale(good), scale(bad)];
    return {
      label,
      good,
      bad,
      x: Math.round((index + GAP / 2) * step * 10) / 10,
      width: Math.round(step * (1 - GAP) * 10) / 10,
      goodY: HEIGHT - goodHeight,
      goodHeight,
      badY: HEIGHT - goodHeight - badHeight,
      badHeight,
    };
  });
  const sum = (name: 'good' | 'bad'): number => buckets.reduce((total, bucket) => total + bucket[name], 0);
  return { width: WIDTH, height: HEIGHT, bars, good: sum('good'), bad: sum('bad'), top };
}

export type Chart = ReturnType<typeof chartOf>;
