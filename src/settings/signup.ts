// Owns the settings of signing up: whether people may, what they are asked, and whose addresses are taken.
import { choice, domains, flag, type SettingDefinition } from './definitions.ts';

const group = 'Signing up';

type Asked = 'hidden' | 'optional' | 'required';

const field = (name: string, byDefault: Asked, more = ''): SettingDefinition<Asked> =>
  choice({
    group,
    default: byDefault,
    choices: ['hidden', 'optional', 'required'],
    description: `Whether people who sign up are asked for ${name}.${more}`,
  });

export const signupDefinitions = {
  allow_self_signup: flag({
    group,
    default: false,
    description:
      'Whether people may make an account for themselves; an application can have its own answer. Invitations work in any case.',
  }),
  signup_require_verified_email: flag({
    group,
    default: true,
    description:
      'Whether a new account needs an e-mail address that was confirmed by a code. If not, an address may be left out ' +
      'as signup_email says; one that is given is kept only when it is confirmed.',
  }),
  signup_username: field('a username', 'required', ' Without one the e-mail address is the username.'),
  signup_email: field(
    'an e-mail address',
    'required',
    ' It is required where it is the username or must be confirmed.',
  ),
  signup_given_name: field('their first name', 'optional'),
  signup_family_name: field('their last name', 'optional'),
  signup_nickname: field('a nickname', 'hidden'),
  signup_phone_number: field('a telephone number', 'hidden'),
  signup_allowed_email_domains: domains({
    group,
    default: '',
    description:
      'Only addresses of these domains may sign up: example.com is that domain alone, *.example.com every domain below ' +
      'it. Empty: all. Invitations are not held against it.',
  }),
  signup_blocked_email_domains: domains({
    group,
    default: '',
    description:
      'Addresses of these domains may not sign up: example.com with every domain below it, *.example.com those below ' +
      'it only. It wins over the allowed ones. Invitations are not held against it.',
  }),
} as const;
