// The small charts of the overview: time series as stacked bars or as a line, and shares as horizontal bars, all inline
// SVG. They use no script, no library, and only the colours of the design tokens.
export interface Bucket {
  readonly label: string;
  /** The lower part of the bar. */
  readonly first: number;
  readonly second: number;
}

const WIDTH = 600;
const HEIGHT = 120;
const GAP = 0.28;

const round = (value: number): number => Math.round(value * 10) / 10;

/** @returns what templates/admin/charts.njk draws; all numbers are in units of the viewBox */
export function barsOf(buckets: readonly Bucket[]) {
  const top = Math.max(1, ...buckets.map(({ first, second }) => first + second));
  const step = WIDTH / Math.max(1, buckets.length);
  const scale = (value: number): number => round((value / top) * HEIGHT);
  const bars = buckets.map(({ label, first, second }, index) => {
    const [firstHeight, secondHeight] = [scale(first), scale(second)];
    return {
      label,
      first,
      second,
      x: round((index + GAP / 2) * step),
      width: round(step * (1 - GAP)),
      firstY: HEIGHT - firstHeight,
      firstHeight,
      secondY: round(HEIGHT - firstHeight - secondHeight),
      secondHeight,
    };
  });
  const sum = (name: 'first' | 'second'): number =>
    buckets.reduce((total, bucket) => total + bucket[name], 0);
  return { width: WIDTH, height: HEIGHT, bars, first: sum('first'), second: sum('second'), top };
}

export interface Point {
  readonly label: string;
  /** null: not measured. */
  readonly value: number | null;
}

/** A line through the known values, interrupted where values are missing. */
export function lineOf(points: readonly Point[]) {
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
  const top = Math.max(1, ...values);
  const step = WIDTH / Math.max(1, points.length);
  const marks = points.map(({ label, value }, index) => ({
    label,
    value,
    left: round(index * step),
    width: round(step),
    x: round((index + 0.5) * step),
    y: value === null ? HEIGHT : round(HEIGHT - (value / top) * (HEIGHT - 6)),
  }));
  const runs: (typeof marks)[] = [];
  let run: typeof marks = [];
  for (const mark of marks) {
    if (mark.value !== null) run.push(mark);
    else if (run.length > 0) {
      runs.push(run);
      run = [];
    }
  }
  if (run.length > 0) runs.push(run);
  // A single known value still needs a visible line.
  const reach = (of: typeof marks): typeof marks => {
    const [only] = of;
    return only === undefined || of.length > 1
      ? of
      : [
          { ...only, x: only.left },
          { ...only, x: only.left + only.width },
        ];
  };
  const lines = runs.map(reach).map((of) => of.map(({ x, y }) => `${x},${y}`).join(' '));
  const areas = runs.map(reach).map((of) => {
    const [first, last] = [of[0], of.at(-1)];
    return `${first?.x ?? 0},${HEIGHT} ${of.map(({ x, y }) => `${x},${y}`).join(' ')} ${last?.x ?? 0},${HEIGHT}`;
  });
  return { width: WIDTH, height: HEIGHT, marks, lines, areas, top, known: values.length };
}

/** @returns the share of a total, for a horizontal bar */
export function shareOf(part: number, whole: number) {
  const percent = whole === 0 ? 0 : Math.round((part / whole) * 100);
  return { part, whole, percent: Math.min(100, percent) };
}
