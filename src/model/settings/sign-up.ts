import { choice, flag } from '../kinds.ts';
import { domains } from '../word-kinds.ts';
import { type SettingRow, setting } from './setting.ts';

const group = 'Signing up';

type Asked = 'hidden' | 'optional' | 'required';

const isAsked = choice({
  hidden: 'Not asked for',
  optional: 'Asked for, may stay empty',
  required: 'Required',
});

const asked = (
  label: string,
  what: string,
  absent: Asked,
  more = '',
  others: Pick<SettingRow<Asked>, 'withoutMail'> = {},
): SettingRow<Asked> =>
  setting(isAsked, {
    ...others,
    group,
    label,
    description: `Whether the sign-up form asks for ${what}.${more}`,
    absent,
    mayShutOut: false,
  });

export const signUpSettings = {
  allow_self_signup: setting(flag, {
    group,
    label: 'Anyone may create an account',
    description:
      'Whether users may create their own account; an application can override it. Invitations work in any case.',
    absent: false,
    mayShutOut: false,
    withoutMail: {
      says: 'There is no mail server, so the code that verifies an address can’t be sent: nobody can sign up until one is connected.',
      isSaidBefore: true,
      onlyWith: { signup_require_verified_email: 'on', signup_username: 'hidden', signup_email: 'required' },
    },
  }),
  signup_require_verified_email: setting(flag, {
    group,
    label: 'New accounts need a confirmed e-mail address',
    description:
      'Whether a new account needs an e-mail address that was verified by a code. If not, the address may be omitted ' +
      'as signup_email says; an address is stored only after verification.',
    absent: true,
    mayShutOut: false,
  }),
  signup_username: asked(
    'Sign-up form: username',
    'a username',
    'required',
    ' Otherwise the e-mail address is the username.',
  ),
  signup_email: asked(
    'Sign-up form: e-mail',
    'an e-mail address',
    'required',
    ' Required if it is the username or must be verified.',
    {
      withoutMail: {
        says: 'There is no mail server, so no address can be confirmed, and the form asks for none.',
        at: 'optional',
      },
    },
  ),
  signup_given_name: asked('Sign-up form: first name', 'the first name', 'optional'),
  signup_family_name: asked('Sign-up form: last name', 'the last name', 'optional'),
  signup_nickname: asked('Sign-up form: nickname', 'a nickname', 'hidden'),
  signup_phone_number: asked('Sign-up form: telephone number', 'a telephone number', 'hidden'),
  signup_allowed_email_domains: setting(domains, {
    group,
    label: 'Only these e-mail domains may sign up',
    description:
      'Only addresses of these domains may sign up, or be added by people to their accounts: example.com is that ' +
      'domain alone, *.example.com all its subdomains. Empty: all. Does not apply to invitations.',
    absent: '',
    mayShutOut: false,
  }),
  signup_blocked_email_domains: setting(domains, {
    group,
    label: 'These e-mail domains may not sign up',
    description:
      'Addresses of these domains may not sign up, nor be added by people to their accounts: example.com with all its ' +
      'subdomains, *.example.com its subdomains only. Takes precedence over the allowed domains. Does not apply to ' +
      'invitations.',
    absent: '',
    mayShutOut: false,
  }),
};
