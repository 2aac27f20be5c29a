// The ways in which people show who they are: one row each, by the name that sessions keep the time of and that the audit log says.
// What they are worth together is decided in src/accounts/freshness.ts, what an application may ask for in
// src/oidc/entitlements/acr.ts.

/** The values of `amr` (RFC 8176, and our own where it has none), in the order in which they are said. '': it sums others up. */
export const AMR_WORDS = {
  pwd: 'password',
  // A passkey on one device, and one that is synced.
  hwk: 'passkey on one device',
  swk: 'passkey',
  email_link: 'link by e-mail',
  enrolment_link: 'set-up link',
  recovery_code: 'recovery code',
  otp: 'code',
  user: '',
  mfa: '',
} as const;

type AmrValue = keyof typeof AMR_WORDS;

interface Row {
  /** One of these is in the `amr` of who signed in so. */
  readonly amr: readonly AmrValue[];
  /** Where it stands in a sign-in; `both`: alone, it is two factors. */
  readonly step: 'first' | 'second' | 'either' | 'both';
  /** The class (src/accounts/freshness.ts) that it reaches: first, alone; second, behind another one. */
  readonly class: 1 | 2 | 3;
  /** By it alone somebody shows no more than by others with the same word. */
  readonly shows?: 'mailbox';
  /** What forms and events of second steps call it. */
  readonly factor?: string;
  /** Its owner can set it up as a second step. */
  readonly mayBeEnrolled: boolean;
  /** In the audit log. */
  readonly label: string;
}

export const waysToSignIn = {
  password: { amr: ['pwd'], step: 'first', class: 1, mayBeEnrolled: false, label: 'password' },
  email_link: {
    amr: ['email_link'],
    step: 'first',
    class: 1,
    shows: 'mailbox',
    mayBeEnrolled: false,
    label: 'e-mail link',
  },
  totp: {
    amr: ['otp'],
    step: 'second',
    class: 3,
    factor: 'totp',
    mayBeEnrolled: true,
    label: 'authenticator code',
  },
  /** It replaces a lost factor. Where it comes first its value is `recovery_code`. */
  recovery: {
    amr: ['otp'],
    step: 'second',
    class: 3,
    factor: 'recovery',
    mayBeEnrolled: false,
    label: 'recovery code',
  },
  /** No separate factor: the same password may open the mailbox. */
  email_code: {
    amr: ['otp'],
    step: 'second',
    class: 2,
    shows: 'mailbox',
    factor: 'email',
    mayBeEnrolled: true,
    label: 'e-mail code',
  },
  /** It verified its user. */
  passkey: {
    amr: ['hwk', 'swk'],
    step: 'both',
    class: 3,
    factor: 'passkey',
    mayBeEnrolled: true,
    label: 'passkey',
  },
  /** A passkey that did not: something that its user has. */
  security_key: { amr: ['hwk', 'swk'], step: 'either', class: 3, mayBeEnrolled: true, label: 'security key' },
} as const satisfies Readonly<Record<string, Row>>;

export type WayToSignIn = keyof typeof waysToSignIn;
type Ways = typeof waysToSignIn;
type Factors = {
  [Way in WayToSignIn as Ways[Way] extends { factor: infer F extends string } ? F : never]: Way;
};

/** What can be a second step, by what forms call it. */
export type SecondFactor = keyof Factors;
export type CodeFactor = Exclude<SecondFactor, 'passkey'>;
export type EnrolledCode = {
  [F in CodeFactor]: Ways[Factors[F]] extends { mayBeEnrolled: true } ? F : never;
}[CodeFactor];

const rows: Readonly<Record<WayToSignIn, Row>> = waysToSignIn;
const isWay = (name: string): name is WayToSignIn => Object.hasOwn(rows, name);

export const WAYS: readonly (Row & { readonly id: WayToSignIn })[] = Object.keys(rows)
  .filter(isWay)
  .map((id) => ({ id, ...rows[id] }));

/** The way that is this second step. */
export const wayOf = {
  totp: 'totp',
  email: 'email_code',
  recovery: 'recovery',
} as const satisfies Pick<Factors, CodeFactor>;

export const isCodeFactor = (name: unknown): name is CodeFactor =>
  typeof name === 'string' && Object.hasOwn(wayOf, name);

export const isSecondFactor = (name: unknown): name is SecondFactor =>
  name === 'passkey' || isCodeFactor(name);

/** The value that says two factors. */
export const TWO_FACTORS: readonly AmrValue[] = ['mfa'];
/** A recovery code in place of the first factor, and an administrator's link: they only allow creating a passkey. */
export const RECOVERY_AMR: readonly AmrValue[] = ['recovery_code'];
export const ENROLMENT_LINK_AMR: readonly AmrValue[] = ['enrolment_link'];

/** What this way adds to the `amr` of a sign-in. */
export function amrOf(way: Exclude<WayToSignIn, 'passkey' | 'security_key'>): readonly AmrValue[] {
  const { amr, step, class: reached } = rows[way];
  return step === 'second' && reached === 3 ? [...amr, ...TWO_FACTORS] : amr;
}

interface UsedPasskey {
  readonly deviceType: 'singleDevice' | 'multiDevice';
  readonly isUserVerified: boolean;
}

export const amrOfPasskey = ({ deviceType, isUserVerified }: UsedPasskey): readonly AmrValue[] => [
  deviceType === 'singleDevice' ? 'hwk' : 'swk',
  ...(isUserVerified ? (['user', ...TWO_FACTORS] as const) : []),
];

export const wayOfPasskey = ({ isUserVerified }: Pick<UsedPasskey, 'isUserVerified'>): WayToSignIn =>
  isUserVerified ? 'passkey' : 'security_key';

const says =
  (values: readonly AmrValue[]) =>
  (amr: readonly unknown[]): boolean =>
    values.some((value) => amr.includes(value));

/** Whether an `amr` says so. */
export const isBy = {
  password: says(rows.password.amr),
  passkey: says(rows.passkey.amr),
  mailedLink: says(rows.email_link.amr),
  recoveryCode: says(RECOVERY_AMR),
  enrolment: says([...RECOVERY_AMR, ...ENROLMENT_LINK_AMR]),
  code: says(rows.totp.amr),
  twoFactors: says(TWO_FACTORS),
  secondStep: says([...rows.totp.amr, ...TWO_FACTORS]),
};
