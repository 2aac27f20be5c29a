import { minPasswordLength } from '../accounts/index.ts';
import { arePasswordsOff, type SettingValues } from '../settings/index.ts';

export const signupFields = [
  'username',
  'email',
  'given_name',
  'family_name',
  'nickname',
  'phone_number',
] as const;
export type SignupField = (typeof signupFields)[number];
type Asked = 'hidden' | 'optional' | 'required';

/** The questions for a new user. */
export interface SignupQuestions {
  readonly fields: Readonly<Record<SignupField, Asked>>;
  readonly isPasswordAsked: boolean;
  readonly minLength: number;
  /** The terms to accept; undefined: none. */
  readonly terms?: { readonly termsUrl: string; readonly privacyUrl: string } | undefined;
}

export type SignupValues = { readonly [Name in SignupField]?: string };

export interface SignupAnswers {
  readonly values: SignupValues;
  readonly password: string | undefined;
}

export function signupQuestions(settings: SettingValues): SignupQuestions {
  const isEmailNeeded = settings.signup_require_verified_email || settings.signup_username === 'hidden';
  const { terms_url: termsUrl, privacy_url: privacyUrl } = settings;
  return {
    fields: {
      username: settings.signup_username,
      email: isEmailNeeded ? 'required' : settings.signup_email,
      given_name: settings.signup_given_name,
      family_name: settings.signup_family_name,
      nickname: settings.signup_nickname,
      phone_number: settings.signup_phone_number,
    },
    isPasswordAsked: !arePasswordsOff(settings),
    minLength: minPasswordLength(settings),
    ...((termsUrl !== '' || privacyUrl !== '') && { terms: { termsUrl, privacyUrl } }),
  };
}
