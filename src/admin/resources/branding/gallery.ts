// What the gallery has: every page in its states, and every mail, by what people do with them.
import { mailNames, mailRows } from '../../../model/mails.ts';
import type { PageName } from '../../../views/index.ts';
import { samples } from './samples/samples.ts';

/** The pages of each group, in the order in which people meet them. */
const groups: readonly (readonly [group: string, pages: Readonly<Partial<Record<PageName, string>>>])[] = [
  [
    'Sign-in',
    {
      login: 'Sign-in',
      consent: 'Consent',
      continue: 'Going on',
      leaving: 'Leaving',
      expired: 'Sign-in expired',
      'cookies-off': 'Cookies are off',
      'logout-confirm': 'Sign out?',
      'signed-out': 'Signed out',
    },
  ],
  [
    'Second step and passkeys',
    {
      mfa: 'Second step',
      'mfa-enrol': 'Setting up a second step',
      recover: 'Recovery code',
      'recovery-codes': 'Recovery codes',
      'passkey-enrol': 'Creating a passkey',
      'passkey-offer': 'Passkey offer',
    },
  ],
  [
    'New accounts',
    {
      signup: 'Sign-up',
      'signup-verify': 'Sign-up code',
      'signup-done': 'Signed up',
      enrolment: 'Setting up an account',
      onboard: 'First administrator',
    },
  ],
  [
    'Mailed links',
    {
      'forgot-password': 'Forgotten password',
      'forgot-password-sent': 'Link sent',
      'reset-password': 'New password',
      'reset-done': 'Password changed',
      'magic-link': 'Sign-in link',
      'verify-email': 'Confirming an address',
      'verify-email-done': 'Address confirmed',
      'link-expired': 'Link expired',
    },
  ],
  [
    'Account',
    {
      account: 'Account',
      'account-profile': 'Profile',
      'account-picture': 'Picture',
      'account-email': 'E-mail addresses',
      'account-email-confirm': 'Confirming a new address',
      'account-email-done': 'Address changed',
      'account-email-stop': 'Stopping a change of address',
      'account-password': 'Password',
      'account-second-factor': 'Two-step sign-in',
      'account-app': 'Authenticator app',
      'account-recovery-codes': 'Recovery codes',
      'account-passkeys': 'Passkeys',
      'account-applications': 'Applications',
      'account-not-me': 'This wasn’t me',
      'account-data': 'Data',
      'account-export': 'Downloaded data',
      'account-delete': 'Deleting the account',
      'account-delete-done': 'Account being deleted',
    },
  ],
  [
    'Devices and errors',
    {
      device: 'Device code',
      'device-confirm': 'Connecting a device',
      'device-done': 'Device connected',
      error: 'Error',
    },
  ],
];

export interface Shown {
  /** Of a sample, or `mail-` and the name of a mail. */
  readonly name: string;
  readonly title: string;
  /** Of a page that has several. */
  readonly state?: string;
}

/** What the names of samples say after that of their page. */
const states: Readonly<Record<string, string>> = {
  choose: 'Choosing an account',
  plain: 'Plain',
  failed: 'Failed',
  limited: 'Too many attempts',
  known: 'Known browser',
  'known-passkey': 'Known browser, with a passkey',
  'confirm-act': 'Confirming an act',
  people: 'People on this device',
  'passkey-first': 'Passkey first',
  'link-first': 'Mailed link first',
  full: 'With everything',
  'passkey-only': 'Passkeys only',
  agent: 'For an agent',
  all: 'All methods',
  'no-way': 'No way on',
  passkey: 'Passkey',
  email: 'Code by e-mail',
  'email-again': 'Code sent again',
  'email-unsent': 'Code not sent',
  recovery: 'Recovery code',
  'recovery-failed': 'Wrong recovery code',
  also: 'One more method',
  reset: 'After a reset',
  errors: 'With errors',
  invited: 'Invited',
  again: 'Asked again',
  link: 'Mailed link',
  elsewhere: 'In another browser',
  new: 'New password',
  address: 'Confirming an address',
  invitation: 'Invitation',
  'set-up': 'Setting up an account',
  confirm: 'Asking first',
  username: 'With a username',
  later: 'Later',
  refused: 'Refused',
  unverified: 'Not verified',
  wrong: 'Wrong code',
  stopped: 'Stopped',
  first: 'First time',
  'account-email-dropped': 'New address removed',
  'account-email-changed': 'Address changed',
  'account-email-undone': 'Change undone',
  'account-email-ended': 'Link no longer valid',
  'account-email-drop': 'Removing a new address',
  reported: 'Reported',
  none: 'Empty',
  required: 'Required',
  last: 'Last one',
  now: 'At once',
  'account-delete-gone': 'Account deleted',
  redirect: 'Wrong redirect URI',
  server: 'Server error',
  missing: 'Page not found',
};

const spaced = (name: string): string => name.replace(/[-_]/g, ' ').trim();

/** The state that the sample of a page is in. */
function stateOf(name: string, template: string): Pick<Shown, 'state'> {
  const state = (name.startsWith(template) ? name.slice(template.length) : name).replace(/^-/, '');
  return state === '' ? {} : { state: states[state] ?? sentence(state) };
}

const sentence = (name: string): string => {
  const text = spaced(name);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
};

/** Every sample and every mail in one of its groups. */
export const gallery: readonly { readonly title: string; readonly items: readonly Shown[] }[] = [
  ...groups.map(([group, pages]) => ({
    title: group,
    items: Object.entries(pages).flatMap(([template, title]) =>
      Object.entries(samples)
        .filter(([, sample]) => sample.template === template)
        .map(([name]) => ({ name, title, ...stateOf(name, template) })),
    ),
  })),
  {
    title: 'E-mails',
    items: mailNames.map((name) => ({ name: `mail-${name}`, title: mailRows[name].title })),
  },
];
