// Queries the registry for known advisories through npm, and distinguishes "none" from "not available".
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;

interface Via {
  readonly title?: string;
  readonly url?: string;
}

interface Report {
  readonly message?: string;
  readonly error?: { readonly summary?: string };
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly severity: string; readonly via: readonly (string | Via)[] }>
  >;
}

export type Advisories = { readonly advisories: readonly string[] } | { readonly skipped: string };

/** npm exits with 1 both for findings and for errors: only its report distinguishes them. */
async function runNpm(folder: string): Promise<string> {
  const options = { cwd: folder, timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES };
  try {
    return (await promisify(execFile)('npm', ['audit', '--omit=dev', '--json'], options)).stdout;
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
  }
}

export async function findAdvisories(folder: string): Promise<Advisories> {
  const output = await runNpm(folder);
  let report: Report;
  try {
    report = JSON.parse(output);
  } catch {
    return { skipped: 'npm returned no report' };
  }
  if (report.vulnerabilities === undefined) {
    return {
      skipped: `the registry is not available (${report.message ?? report.error?.summary ?? 'no reason given'})`,
    };
  }
  return {
    advisories: Object.entries(report.vulnerabilities).map(([name, { severity, via }]) => {
      const reasons = via.map((cause) =>
        typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`,
      );
      return `${name} (${severity}): ${reasons.join('; ')}`;
    }),
  };
}
