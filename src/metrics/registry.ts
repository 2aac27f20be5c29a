// Counters, gauges and histograms of one process in the Prometheus text format 0.0.4. No library: the format is these few
// lines, and prom-client would add code to the path of every request. Label values come from our fixed lists.

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  /** @param values in the order of the label names */
  add(...values: readonly string[]): void;
}

export interface Histogram {
  /** @param values in the order of the label names */
  observe(seconds: number, ...values: readonly string[]): void;
}

/** One line of a metric that is read at a scrape. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

interface Metric {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

interface Series {
  readonly counts: number[];
  sum: number;
  total: number;
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const SEPARATOR = '\n';

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');

/** @param constant labels on every line */
export function createRegistry(constant: Labels) {
  const writers: (() => string[] | Promise<string[]>)[] = [];

  const line = (name: string, labels: Labels, value: number): string => {
    const pairs = Object.entries({ ...labels, ...constant }).map(
      ([key, text]) => `${key}="${escaped(text)}"`,
    );
    return `${name}{${pairs.join(',')}} ${value}`;
  };
  const head = ({ name, type, help }: Metric): string[] => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
  ];
  const labelled = (names: readonly string[], key: string): Labels => {
    const values = key.split(SEPARATOR);
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
  };

  return {
    counter(name: string, help: string, names: readonly string[]): Counter {
      const series = new Map<string, number>();
      writers.push(() => [
        ...head({ name, type: 'counter', help }),
        ...[...series].map(([key, value]) => line(name, labelled(names, key), value)),
      ]);
      return {
        add(...values) {
          const key = values.join(SEPARATOR);
          series.set(key, (series.get(key) ?? 0) + 1);
        },
      };
    },

    histogram(name: string, help: string, names: readonly string[]): Histogram {
      const series = new Map<string, Series>();
      const linesOf = ([key, { counts, sum, total }]: [string, Series]): string[] => {
        const labels = labelled(names, key);
        let below = 0;
        const buckets = BUCKETS.map((bound, index) => {
          below += counts[index] ?? 0;
          return line(`${name}_bucket`, { ...labels, le: String(bound) }, below);
        });
        const all = line(`${name}_bucket`, { ...labels, le: '+Inf' }, total);
        return [...buckets, all, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, total)];
      };
      writers.push(() => [...head({ name, type: 'histogram', help }), ...[...series].flatMap(linesOf)]);
      return {
        observe(seconds, ...values) {
          const key = values.join(SEPARATOR);
          let one = series.get(key);
          if (one === undefined) {
            one = { counts: BUCKETS.map(() => 0), sum: 0, total: 0 };
            series.set(key, one);
          }
          const index = BUCKETS.findIndex((bound) => seconds <= bound);
          if (index >= 0) one.counts[index] = (one.counts[index] ?? 0) + 1;
          one.sum += seconds;
          one.total += 1;
        },
      };
    },

    /** Read at every scrape. @param read no samples: unknown */
    read(metric: Metric, read: () => readonly Sample[] | Promise<readonly Sample[]>): void {
      writers.push(async () => {
        const samples = await read();
        if (samples.length === 0) return [];
        return [
          ...head(metric),
          ...samples.map(({ labels = {}, value }) => line(metric.name, labels, value)),
        ];
      });
    },

    async text(): Promise<string> {
      const parts = await Promise.all(writers.map((write) => write()));
      return `${parts.flat().join('\n')}\n`;
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;
