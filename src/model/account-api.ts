// What people read and change of their own account by programs: one row per operation of /account/api, by method and path. Routes and
// document (src/self-service/api.ts, api-document.ts) are made of these.
import type { ActSensitivity } from './acts.ts';
import { ownNames } from './users/rows.ts';

export interface Operation {
  /** A password that is typed into an application is no authentication, so it makes nothing fresh here. */
  readonly act: ActSensitivity;
  readonly summary: string;
  /** Of the request: its members, all texts; those with `?` may be absent. */
  readonly body?: readonly string[];
  /** Members of a change: absent ones stay, null clears. */
  readonly isChange?: boolean;
  /** Optional parameters of the address: whole numbers of at most five digits. */
  readonly query?: Readonly<Record<string, { readonly from: number; readonly description: string }>>;
  /** The body is a file of one of these types. */
  readonly file?: readonly string[];
  /** The body is an object with this member, an object that other documents define. */
  readonly object?: { readonly name: string; readonly description: string };
  /** Of the answer; `[]`: a list of items; absent: 204. */
  readonly answer?: 'object' | '[]';
}

/** What a picture may be sent as; what it is, its content says. */
export const pictureTypes: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'application/octet-stream',
];

const operations = {
  'GET /profile': {
    act: 'plain',
    summary: 'Read your profile and how your account is protected',
    answer: 'object',
  },
  'PATCH /profile': {
    act: { members: 'own_profile', of: 'existing' },
    summary: 'Change your names, language, time zone, or username where that is allowed',
    body: ownNames,
    isChange: true,
  },
  'PUT /avatar': {
    act: { members: 'own_picture', of: 'existing' },
    summary:
      'Set your picture: at most 2 MB. A square of it is kept, 256 pixels wide, as JPEG and without anything else that ' +
      'the file says: the one that the three parameters name, as far as the picture has it, else its middle',
    query: {
      crop_x: {
        from: 0,
        description: 'Left edge of the square, in pixels of the picture as it is seen; all three or none',
      },
      crop_y: { from: 0, description: 'Upper edge of the square' },
      crop_size: { from: 1, description: 'Side of the square' },
    },
    file: pictureTypes,
    answer: 'object',
  },
  'DELETE /avatar': { act: 'plain', summary: 'Remove your picture' },
  'POST /profile/send-email-verification': {
    act: 'plain',
    summary: 'Ask for a link by mail that confirms your address',
  },
  'GET /export': { act: 'sensitive', summary: 'Read everything that is held about you', answer: 'object' },
  'POST /deletion': {
    act: 'sensitive',
    summary:
      'Delete your account: ends every session and token, this one too. `due_at` is the day until which a sign-in ' +
      'undoes it; null: it is gone',
    body: ['username'],
    answer: 'object',
  },
  'GET /email': {
    act: 'plain',
    summary: 'Read your addresses and what is not decided about them',
    answer: 'object',
  },
  'POST /email': {
    act: 'sensitive',
    summary: 'Ask for a link to a further address by mail, which is yours when you opened it signed in',
    body: ['email'],
  },
  'POST /email/make-primary': {
    act: 'sensitive',
    summary: 'Make one of your other addresses the primary one: ends every session and token, this one too',
    body: ['email'],
  },
  'POST /email/remove': {
    act: 'sensitive',
    summary: 'Remove one of your other addresses, or one that waits for its link',
    body: ['email'],
  },
  'POST /email/settle': {
    act: 'sensitive',
    summary: 'Decide on a change of address that was stopped: `keep` or `undo`',
    body: ['choice'],
  },
  'PUT /password': {
    act: 'sensitive',
    summary: 'Set a new password; where there is one, the current one is asked for as well',
    body: ['password', 'current_password?'],
  },
  'POST /totp': { act: 'sensitive', summary: 'Begin to set up an authenticator app', answer: 'object' },
  'DELETE /totp': { act: 'sensitive', summary: 'Remove the authenticator app' },
  'POST /totp/confirm': {
    act: 'sensitive',
    summary: 'Confirm the authenticator app by a code of it',
    body: ['pending', 'code'],
    answer: 'object',
  },
  'POST /email-codes': { act: 'sensitive', summary: 'Turn on codes by e-mail', answer: 'object' },
  'DELETE /email-codes': { act: 'sensitive', summary: 'Turn off codes by e-mail' },
  'POST /recovery-codes': { act: 'sensitive', summary: 'Replace the recovery codes', answer: 'object' },
  'GET /passkeys': {
    act: 'plain',
    summary: 'List your passkeys, with what the signal methods of the browser take (WebAuthn §5.1.10)',
    answer: '[]',
  },
  'POST /passkeys/register/begin': {
    act: 'sensitive',
    summary:
      'Begin to add a passkey: the answer is PublicKeyCredentialCreationOptionsJSON, for ' +
      '`PublicKeyCredential.parseCreationOptionsFromJSON()`, and counts for five minutes, once, in this session. The ' +
      'origin of the application must be one of `passkey_extra_origins`',
    answer: 'object',
  },
  'POST /passkeys/register/finish': {
    act: 'sensitive',
    summary:
      'Add the passkey that was made with those options: ends every other session, and tells you by mail. Whoever has a ' +
      'passkey then needs a sign-in with it for further changes',
    object: {
      name: 'response',
      description: 'RegistrationResponseJSON, as the credential’s `toJSON()` gives it',
    },
    answer: 'object',
  },
  'PATCH /passkeys/:id': { act: 'sensitive', summary: 'Rename a passkey', body: ['label'] },
  'DELETE /passkeys/:id': { act: 'sensitive', summary: 'Remove a passkey' },
  'GET /sessions': { act: 'plain', summary: 'List where you are signed in', answer: '[]' },
  'DELETE /sessions': { act: 'sensitive', summary: 'Sign out everywhere else' },
  'DELETE /sessions/:id': { act: 'sensitive', summary: 'End a session' },
  'GET /activity': { act: 'plain', summary: 'List your recent activity', answer: '[]' },
  'POST /report-compromise': {
    act: 'sensitive',
    summary: 'Report foreign activity: ends every other session, all access and all trusted devices',
  },
  'GET /trusted-devices': { act: 'plain', summary: 'List your trusted devices', answer: '[]' },
  'DELETE /trusted-devices': { act: 'sensitive', summary: 'Trust no device any more' },
  'DELETE /trusted-devices/:id': { act: 'sensitive', summary: 'Trust a device no more' },
  'GET /launcher': {
    act: 'plain',
    summary: 'List the applications that you may sign in to, with the address to open each',
    answer: '[]',
  },
  'GET /applications': {
    act: 'plain',
    summary: 'List applications with access to your account',
    answer: '[]',
  },
  'DELETE /applications/:id': { act: 'sensitive', summary: 'Remove the access of an application' },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name);

export const operationNames: readonly OperationName[] = Object.keys(operations).filter(isOperationName);

export const operationOf = (name: OperationName): Operation => operations[name];
