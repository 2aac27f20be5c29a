import { minPasswordLength } from '../accounts/index.ts';
import { isSettingKey } from '../model/settings/settings.ts';
import { userRows } from '../model/users/rows.ts';
import { arePasswordsOff, type SettingValues } from '../settings/index.ts';

type AskedBy<Key> = Key extends `signup_${infer Name}` ? Name : never;
/** What there is a setting for. */
type SignupField = AskedBy<keyof SettingValues> & keyof typeof userRows;
type Asked = 'hidden' | 'optional' | 'required';

const isField = (name: string): name is SignupField =>
  Object.hasOwn(userRows, name) && isSettingKey(`signup_${name}`);
export const signupFields: readonly SignupField[] = Object.keys(userRows).filter(isField);

/** The questions for a new user. */
export interface SignupQuestions {
  readonly fields: Readonly<Record<string, Asked>>;
  readonly isPasswordAsked: boolean;
  readonly minLength: number;
  /** The terms to accept; undefined: none. */
  readonly terms?: { readonly termsUrl: string; readonly privacyUrl: string } | undefined;
}

export type SignupValues = Readonly<Record<string, string>>;

export interface SignupAnswers {
  readonly values: SignupValues;
  readonly password: string | undefined;
}

export function signupQuestions(settings: SettingValues): SignupQuestions {
  const isEmailNeeded = settings.signup_require_verified_email || settings.signup_username === 'hidden';
  const { terms_url: termsUrl, privacy_url: privacyUrl } = settings;
  const asked = Object.fromEntries(signupFields.map((name) => [name, settings[`signup_${name}`]] as const));
  return {
    fields: { ...asked, ...(isEmailNeeded && { email: 'required' }) },
    isPasswordAsked: !arePasswordsOff(settings),
    minLength: minPasswordLength(settings),
    ...((termsUrl !== '' || privacyUrl !== '') && { terms: { termsUrl, privacyUrl } }),
  };
}
