// What is measured, and how it is told: on the terminal, and as JSON.
export interface Spread {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

export interface Figure {
  /** Of docs/performance.md: `P1`. */
  readonly goal: string;
  readonly name: string;
  /** In words: `of the floor`, `ms`, `MiB`. */
  readonly unit: string;
  readonly value: number;
  readonly quartiles?: Spread;
  readonly limit?: number;
  /** Whether more or less than the limit is wanted. */
  readonly wanted: 'more' | 'less';
  /** What else the run showed, by name: `cpu_micros`, `per_second`. */
  readonly more?: Readonly<Record<string, number | string>>;
}

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
};

/** @returns median and quartiles */
export const spreadOf = (values: readonly number[]): Spread => ({
  low: quantile(values, 0.25),
  middle: quantile(values, 0.5),
  high: quantile(values, 0.75),
});

const rounded = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);

/** @returns undefined where no goal is set */
export function isMet({ value, limit, wanted }: Figure): boolean | undefined {
  if (limit === undefined || Number.isNaN(value)) return undefined;
  return wanted === 'more' ? value >= limit : value <= limit;
}

/** One line of the table. */
export function lineOf(figure: Figure): string {
  const { goal, name, unit, value, quartiles, limit, wanted, more = {} } = figure;
  const spread = quartiles === undefined ? '' : ` (${rounded(quartiles.low)}–${rounded(quartiles.high)})`;
  const met = isMet(figure);
  const verdict =
    limit === undefined
      ? ''
      : `, goal ${wanted === 'more' ? '≥' : '≤'} ${rounded(limit)} ${met === true ? 'met' : 'NOT met'}`;
  const details = Object.entries(more)
    .map(([key, one]) => `${key} ${typeof one === 'number' ? rounded(one) : one}`)
    .join(', ');
  return `${goal.padEnd(4)} ${name.padEnd(44)} ${rounded(value)}${spread} ${unit}${verdict}${details && `; ${details}`}`;
}
