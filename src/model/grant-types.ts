// The grant types of the token endpoint and of the legacy profile: one row each.

interface Row {
  /** Where a form offers it. */
  readonly label?: string;
  /** What events, metrics and the library (`gty`) call it, where that is no URN; default: its name. */
  readonly word?: string;
  /** `administrator`: RFC 9700 §2.4 advises against it, so only one may allow it. `legacy`: comes with the profile alone. */
  readonly allowedBy: 'registrant' | 'administrator' | 'legacy';
  /** Where its users sign in; a `program` is given their password. Of an application itself: nowhere. */
  readonly users: 'browser' | 'device' | 'program' | 'before' | 'none';
  /** Agents may have it, and a registration that names none gets it (RFC 7591 §2). */
  readonly isDefault: boolean;
}

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

const rows = {
  authorization_code: {
    label: 'Sign users in (authorization code)',
    allowedBy: 'registrant',
    users: 'browser',
    isDefault: true,
  },
  refresh_token: {
    label: 'Stay signed in (refresh token)',
    allowedBy: 'registrant',
    users: 'before',
    isDefault: true,
  },
  client_credentials: {
    label: 'Act for itself (client credentials)',
    allowedBy: 'registrant',
    users: 'none',
    isDefault: false,
  },
  [DEVICE_GRANT]: {
    label: 'Devices without a keyboard (device code)',
    word: 'device_code',
    allowedBy: 'registrant',
    users: 'device',
    isDefault: false,
  },
  password: { allowedBy: 'administrator', users: 'program', isDefault: false },
  implicit: { allowedBy: 'legacy', users: 'browser', isDefault: false },
} as const satisfies Readonly<Record<string, Row>>;

const all = Object.entries<Row>(rows).map(([id, row]) => ({ ...row, id, word: row.word ?? id }));

const namesOf = (isMeant: (row: (typeof all)[number]) => boolean): readonly string[] =>
  all.filter(isMeant).map(({ id }) => id);

export const openGrantTypes = namesOf(({ allowedBy }) => allowedBy === 'registrant');
export const adminGrantTypes = namesOf(({ allowedBy }) => allowedBy === 'administrator');
export const legacyGrantTypes = namesOf(({ allowedBy }) => allowedBy === 'legacy');
export const defaultGrantTypes = namesOf(({ isDefault }) => isDefault);
/** By which users come to an application. */
export const signInGrantTypes = namesOf(({ users }) => users === 'browser' || users === 'device');

export const grantWords: readonly string[] = all.map(({ word }) => word);

/** In which users did not see our pages in their own browser: a password given to a program, a device code. */
export const isPagelessWord = (gty: string): boolean =>
  all.some(({ word, users }) => word === gty && (users === 'device' || users === 'program'));

/** @returns undefined for a grant type that the token endpoint does not have */
export const wordOfGrant = (type: string): string | undefined =>
  all.find(({ id, allowedBy }) => id === type && allowedBy !== 'legacy')?.word;

export const grantOfWord = (gty: string): string => all.find(({ word }) => word === gty)?.id ?? gty;

/** Those that a form offers, those of users first; others are for the API. */
export const grantLabels: Readonly<Record<string, string>> = Object.fromEntries(
  all
    .toSorted((one, other) => Number(one.users === 'none') - Number(other.users === 'none'))
    .flatMap(({ id, label }) => (label === undefined ? [] : [[id, label]])),
);
