// What the gallery has: every page in its states, and every mail, by what people do with them.
import { mailNames } from '../../../mail/index.ts';
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
}

const spaced = (name: string): string => name.replace(/[-_]/g, ' ').trim();

/** A page's title, and the state that its sample is in. */
function titleOf(name: string, template: string, title: string): string {
  const state = spaced(name.startsWith(template) ? name.slice(template.length) : name);
  return state === '' ? title : `${title}: ${state}`;
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
        .map(([name]) => ({ name, title: titleOf(name, template, title) })),
    ),
  })),
  { title: 'E-mails', items: mailNames.map((name) => ({ name: `mail-${name}`, title: sentence(name) })) },
];
