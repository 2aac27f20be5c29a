// The OpenAPI document of /account/api. Its list of operations is the one that api.ts declares its routes by, so that
// neither has one that the other has not.
import type { RouteMethod } from '../http/index.ts';
import { ACCOUNT_API_ACTS, type ActSensitivity } from '../model/acts.ts';
import { ownNames } from '../model/users/rows.ts';

const METHODS: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

interface Operation {
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

export const operations = {
  'GET /profile': { summary: 'Read your profile and how your account is protected', answer: 'object' },
  'PATCH /profile': {
    summary: 'Change your names, language, time zone, or username where that is allowed',
    body: ownNames,
    isChange: true,
  },
  'PUT /avatar': {
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
  'DELETE /avatar': { summary: 'Remove your picture' },
  'POST /profile/send-email-verification': { summary: 'Have a link sent that confirms your address' },
  'GET /export': { summary: 'Read everything that is held about you', answer: 'object' },
  'POST /deletion': {
    summary:
      'Delete your account: ends every session and token, this one too. `due_at` is the day until which a sign-in ' +
      'undoes it; null: it is gone',
    body: ['username'],
    answer: 'object',
  },
  'GET /email': { summary: 'Read your addresses and what is not decided about them', answer: 'object' },
  'POST /email': {
    summary: 'Have a link sent to a further address, which is yours when you opened it signed in',
    body: ['email'],
  },
  'POST /email/make-primary': {
    summary: 'Make one of your other addresses the primary one: ends every session and token, this one too',
    body: ['email'],
  },
  'POST /email/remove': {
    summary: 'Remove one of your other addresses, or one that waits for its link',
    body: ['email'],
  },
  'POST /email/settle': {
    summary: 'Decide on a change of address that was stopped: `keep` or `undo`',
    body: ['choice'],
  },
  'PUT /password': {
    summary: 'Set a new password; where there is one, the current one is asked for as well',
    body: ['password', 'current_password?'],
  },
  'POST /totp': { summary: 'Begin to set up an authenticator app', answer: 'object' },
  'DELETE /totp': { summary: 'Remove the authenticator app' },
  'POST /totp/confirm': {
    summary: 'Confirm the authenticator app by a code of it',
    body: ['pending', 'code'],
    answer: 'object',
  },
  'POST /email-codes': { summary: 'Turn on codes by e-mail', answer: 'object' },
  'DELETE /email-codes': { summary: 'Turn off codes by e-mail' },
  'POST /recovery-codes': { summary: 'Replace the recovery codes', answer: 'object' },
  'GET /passkeys': {
    summary: 'List your passkeys, with what the signal methods of the browser take (WebAuthn §5.1.10)',
    answer: '[]',
  },
  'POST /passkeys/register/begin': {
    summary:
      'Begin to add a passkey: the answer is PublicKeyCredentialCreationOptionsJSON, for ' +
      '`PublicKeyCredential.parseCreationOptionsFromJSON()`, and counts for five minutes, once, in this session. The ' +
      'origin of the application must be one of `passkey_extra_origins`',
    answer: 'object',
  },
  'POST /passkeys/register/finish': {
    summary:
      'Add the passkey that was made with those options: ends every other session, and tells you by mail. Whoever has a ' +
      'passkey then needs a sign-in with it for further changes',
    object: {
      name: 'response',
      description: 'RegistrationResponseJSON, as the credential’s `toJSON()` gives it',
    },
    answer: 'object',
  },
  'PATCH /passkeys/:id': { summary: 'Rename a passkey', body: ['label'] },
  'DELETE /passkeys/:id': { summary: 'Remove a passkey' },
  'GET /sessions': { summary: 'List where you are signed in', answer: '[]' },
  'DELETE /sessions': { summary: 'Sign out everywhere else' },
  'DELETE /sessions/:id': { summary: 'End a session' },
  'GET /activity': { summary: 'List your recent activity', answer: '[]' },
  'POST /report-compromise': {
    summary: 'Report foreign activity: ends every other session, all access and all trusted devices',
  },
  'GET /trusted-devices': { summary: 'List your trusted devices', answer: '[]' },
  'DELETE /trusted-devices': { summary: 'Trust no device any more' },
  'DELETE /trusted-devices/:id': { summary: 'Trust a device no more' },
  'GET /launcher': {
    summary: 'List the applications that you may sign in to, with the address to open each',
    answer: '[]',
  },
  'GET /applications': { summary: 'List applications with access to your account', answer: '[]' },
  'DELETE /applications/:id': { summary: 'Remove the access of an application' },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;

const isOperationName = (name: string): name is OperationName => Object.hasOwn(operations, name);

export const operationNames: readonly OperationName[] = Object.keys(operations).filter(isOperationName);

const operationOf = (name: OperationName): Operation => operations[name];

const acts: Readonly<Record<OperationName, ActSensitivity>> = ACCOUNT_API_ACTS;

/** Whether it is refused with auth.stale where the sign-in is too old or too weak (decision 0011). */
export const isSensitive = (name: OperationName): boolean => acts[name] === 'sensitive';

/** @returns the method, and the path below /account/api as the router writes it */
export function placeOf(name: OperationName): { readonly method: RouteMethod; readonly path: string } {
  const [verb, path = ''] = name.split(' ');
  const method = METHODS.find((one) => one === verb);
  if (method === undefined) throw new TypeError(`${name} has no method`);
  return { method, path };
}

const json = (schema: object): object => ({ 'application/json': { schema } });

function bodyOf({ body = [], isChange }: Operation): object {
  const type = isChange === true ? ['string', 'null'] : 'string';
  const required = body.filter((member) => isChange !== true && !member.endsWith('?'));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(body.map((member) => [member.replace('?', ''), { type }])),
    ...(required.length > 0 && { required }),
  };
}

const queryOf = (query: NonNullable<Operation['query']>): object[] =>
  Object.entries(query).map(([name, { from, description }]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'integer', minimum: from, maximum: 99_999 },
  }));

const objectOf = ({ name, description }: NonNullable<Operation['object']>): object => ({
  type: 'object',
  additionalProperties: false,
  properties: { [name]: { type: 'object', description } },
  required: [name],
});

const listSchema = {
  type: 'object',
  required: ['items', 'total'],
  properties: { items: { type: 'array', items: { type: 'object' } }, total: { type: 'integer' } },
};

function answersOf({ answer }: Operation, needsFresh: boolean): object {
  const data = answer === '[]' ? listSchema : { type: 'object' };
  const success =
    answer === undefined
      ? { 204: { description: 'Done.' } }
      : {
          200: {
            description: 'Under `data`.',
            content: json({ type: 'object', required: ['data'], properties: { data } }),
          },
        };
  const stale = { 403: { description: 'auth.stale: sign in again first.', content: json(errorRef) } };
  return {
    ...success,
    ...(needsFresh && stale),
    default: { description: 'An error; docs/errors.md lists the reasons.', content: json(errorRef) },
  };
}

const errorRef = { $ref: '#/components/schemas/Error' };

function describe(name: OperationName): object {
  const operation = operationOf(name);
  const { method, path } = placeOf(name);
  const hasId = path.endsWith('/:id');
  return {
    operationId: `${method.toLowerCase()}${path.replace('/:id', '/one').replace(/[/-]([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: operation.summary,
    ...(isSensitive(name) && { description: 'Needs a fresh sign-in.' }),
    security: [{ oauth: [method === 'GET' ? 'account:read' : 'account'] }],
    ...(hasId && {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    }),
    ...(operation.query !== undefined && { parameters: queryOf(operation.query) }),
    ...(operation.file !== undefined && {
      requestBody: {
        required: true,
        content: Object.fromEntries(operation.file.map((type) => [type, {}])),
      },
    }),
    ...(operation.object !== undefined && {
      requestBody: { required: true, content: json(objectOf(operation.object)) },
    }),
    ...(operation.body !== undefined && {
      requestBody: { required: true, content: json(bodyOf(operation)) },
    }),
    responses: answersOf(operation, isSensitive(name)),
  };
}

/** @param publicUrl of the API */
export function apiDocument(publicUrl: string, issuer: string, version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const name of operationNames) {
    const { method, path } = placeOf(name);
    const shown = path.replace(':id', '{id}');
    paths[shown] = { ...paths[shown], [method.toLowerCase()]: describe(name) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Account API',
      version,
      description: 'What people read and change of their own account, for first-party applications.',
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: {
        oauth: {
          type: 'openIdConnect',
          openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
          description:
            'An access token of a first-party application with the scope `account`, or `account:read` to read. Its sign-in is fresh ' +
            'for five minutes, where the user authenticated in that very authorization (`prompt=login`).',
        },
      },
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              properties: {
                reason: { type: 'string' },
                message: { type: 'string' },
                fields: { type: 'object', additionalProperties: { type: 'string' } },
              },
            },
          },
        },
      },
    },
  };
}
