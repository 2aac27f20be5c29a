// Reports of bugs in other products, from their public trackers, tried on ours: a row each, one application per file.
// docs/tried-reports.md is the log of all of them.
import test from 'node:test';

export interface Report {
  /** `owner/repository#number`. */
  readonly report: string;
  readonly symptom: string;
  readonly tries: () => Promise<void>;
}

export function tried(reports: readonly Report[]): void {
  for (const { report, symptom, tries } of reports) test(`${report}: ${symptom}`, tries);
}
