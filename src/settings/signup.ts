import { choice, domains, flag, type SettingDefinition } from './definitions.ts';

const group = 'Signing up';

type Asked = 'hidden' | 'optional' | 'required';

const field = (name: string, byDefault: Asked, more = ''): SettingDefinition<Asked> =>
  choice({
    group,
    default: byDefault,
    choices: ['hidden', 'optional', 'required'],
    description: `Whether the sign-up form asks for ${name}.${more}`,
  });

export const signupDefinitions = {
  allow_self_signup: flag({
    group,
    default: false,
    description:
      'Whether users may create their own account; an application can override it. Invitations work in any case.',
  }),
  signup_require_verified_email: flag({
    group,
    default: true,
    description:
      'Whether a new account needs an e-mail address that was verified by a code. If not, the address may be omitted ' +
      'as signup_email says; an address is stored only after verification.',
  }),
  signup_username: field('a username', 'required', ' Otherwise the e-mail address is the username.'),
  signup_email: field(
    'an e-mail address',
    'required',
    ' Required if it is the username or must be verified.',
  ),
  signup_given_name: field('the first name', 'optional'),
  signup_family_name: field('the last name', 'optional'),
  signup_nickname: field('a nickname', 'hidden'),
  signup_phone_number: field('a telephone number', 'hidden'),
  signup_allowed_email_domains: domains({
    group,
    default: '',
    description:
      'Only addresses of these domains may sign up, or be added by people to their accounts: example.com is that ' +
      'domain alone, *.example.com all its subdomains. Empty: all. Does not apply to invitations.',
  }),
  signup_blocked_email_domains: domains({
    group,
    default: '',
    description:
      'Addresses of these domains may not sign up, nor be added by people to their accounts: example.com with all its ' +
      'subdomains, *.example.com its subdomains only. Takes precedence over the allowed domains. Does not apply to ' +
      'invitations.',
  }),
} as const;
