// What is said of each setting. Its name is that of the API, and it is stored under it.
import type { Kind } from '../kind.ts';
import type { Row } from '../row.ts';

/** The sections of the Admin UI, in its order: the most used come first. */
export const settingGroups = [
  'Branding',
  'Sign-in',
  'Second factor',
  'Links by mail',
  'Mail',
  'Sessions',
  'Tokens',
  'Limits',
  'Operation',
  'Own account',
  'Signing up',
  'Agents',
  'Legacy',
] as const;

/** Each is sensitive, so the acts are (src/model/acts.ts). */
export interface SettingRow<T> extends Omit<Row<T>, 'stored' | 'absent' | 'sensitivity'> {
  /** The default. */
  readonly absent: T;
  readonly isExported: boolean;
  readonly group: (typeof settingGroups)[number];
  /** Whether a wrong value can keep administrators, or everybody, from signing in. */
  readonly mayShutOut: boolean;
  /** Of a number, where its label does not say it. */
  readonly unit?: 'seconds' | 'days' | 'characters';
  /** What a page warns of where it is on, or is about to be, and there is no mail server. */
  readonly withoutMail?: {
    readonly says: string;
    readonly isSaidBefore?: true;
    /** The value, instead of on. */
    readonly at?: string;
    /** One of them has to have this value as well. */
    readonly onlyWith?: Readonly<Record<string, string>>;
  };
  /** The default before a model of the store (decision 0041); installations from then keep it. */
  readonly former?: { readonly since: number; readonly was: T };
}

/** What holds for all settings that do not say otherwise. */
const usual = {
  // Pages say its description.
  hint: null,
  setBy: 'administrator',
  shownTo: 'administrator',
  isExported: true,
  reported: 'value',
} as const;

/** Write-only: responses never contain its value, and the store has it sealed. */
export const neverShown = { shownTo: 'nobody', isExported: false, reported: 'name' } as const;

export const setting = <T>(
  kind: Kind<T>,
  about: Omit<SettingRow<NoInfer<T>>, 'kind' | keyof typeof usual> &
    Partial<typeof usual | typeof neverShown>,
): SettingRow<T> => ({ ...usual, ...about, kind });
