// Variables that nobody reads and that were meant for us: misspelt ones, and what other programs call the same. Blank ones are unset,
// and where the one that was meant is set, a platform gave both.
import { type VariableName, variables } from './schema.ts';

export interface Resembling {
  readonly name: string;
  readonly meant: string;
  /** Without it the embedded store would start empty. */
  readonly isStore: boolean;
}

/** What others call it. */
const OTHERS: Readonly<Record<string, VariableName>> = {
  MONGO_URI: 'MONGODB_URI',
  MONGO_URL: 'MONGODB_URI',
  MONGODB_URL: 'MONGODB_URI',
  DATABASE_URL: 'MONGODB_URI',
  DATABASE_URI: 'MONGODB_URI',
  REDIS_URI: 'REDIS_URL',
  REDIS_TLS_URL: 'REDIS_URL',
  SMTP_HOST: 'SMTP_URL',
  SMTP_SERVER: 'SMTP_URL',
  TRUST_PROXIES: 'TRUST_PROXY',
  TRUSTED_PROXIES: 'TRUST_PROXY',
  ADMIN_USER: 'ADMIN_USERNAME',
  PUBLIC_URL: 'BASE_URL',
};

const MONGODB = /^mongodb(?:\+srv)?:/i;

const names = Object.entries(variables).flatMap(([name, definition]) =>
  'isSecret' in definition ? [name, `${name}_FILE`] : [name],
);
const ours: ReadonlySet<string> = new Set(names);

/** Insertions, deletions, replacements and swapped neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const changed = cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const all = [
        changed,
        cell(i - 1, j) + 1,
        cell(i, j - 1) + 1,
        isSwapped ? cell(i - 2, j - 2) + 1 : changed,
      ];
      rows[i]?.push(Math.min(...all));
    }
  }
  return cell(a.length, b.length);
}

/** Short names are near to much else. */
const isNear = (name: string, own: string): boolean =>
  own.length > 5 &&
  Math.abs(name.length - own.length) <= 2 &&
  distance(name, own) <= (own.length < 10 ? 1 : 2);

function meantBy(name: string, value: string): string | undefined {
  const other = OTHERS[name.replace(/_FILE$/, '')];
  if (other === undefined)
    return names
      .filter((own) => isNear(name, own))
      .toSorted((one, another) => distance(name, one) - distance(name, another))[0];
  // Platforms give it to every program, for databases that we don't use.
  if (name.startsWith('DATABASE_') && !MONGODB.test(value)) return undefined;
  return name.endsWith('_FILE') && ours.has(`${other}_FILE`) ? `${other}_FILE` : other;
}

export function resembling(env: Readonly<Record<string, string | undefined>>): readonly Resembling[] {
  const isSet = (name: string): boolean => (env[name] ?? '').trim() !== '';
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (ours.has(name) || !isSet(name) || !/^[A-Z][A-Z\d_]{4,40}$/.test(name)) return [];
    const meant = meantBy(name, value.trim());
    if (meant === undefined) return [];
    const base = meant.replace(/_FILE$/, '');
    if (isSet(base) || isSet(`${base}_FILE`)) return [];
    // What only looks like it may be another program's: refused where it is the address of a database.
    const isNamed = name.replace(/_FILE$/, '') in OTHERS || MONGODB.test(value.trim());
    return [{ name, meant, isStore: base === 'MONGODB_URI' && isNamed }];
  });
}
