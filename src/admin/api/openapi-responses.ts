// The responses in the OpenAPI document: which statuses a route can return, with which headers and which body.
import { Null, Record as RecordSchema, type TSchema } from 'typebox';
import { memberOf } from '../../json.ts';
import { type ErrorCode, errorCodes, errorRows } from '../../model/errors/errors.ts';
import { exampleOf } from './examples.ts';
import { isConditional, isCreating, type Route } from './route.ts';
import { documented, integer, object, oneOf, optional, orNull, string } from './schema-parts.ts';

const codes = errorCodes.filter((code) => errorRows[code].outsideAdminApi !== true);

/** @returns the error reasons of responses with this status, and what they mean */
const reasonsOf = (status: number): { readonly reason: ErrorCode; readonly message: string }[] =>
  codes
    .filter((code) => errorRows[code].status === status)
    .map((reason) => ({ reason, message: errorRows[reason].message }));

export const errorSchema = object(
  {
    data: Null({ description: 'Always null in a refusal.' }),
    error: object(
      {
        code: integer('The HTTP status.'),
        message: string('A sentence for people.'),
        reason: oneOf(codes, 'A stable code for programs.'),
        fields: optional(
          RecordSchema(string(), string(), {
            description: 'The invalid fields, parameters and headers by name, each with its problem.',
          }),
        ),
        request_id: string('The same as in the program log and the audit log.'),
      },
      'Why the request was refused.',
    ),
  },
  'A refusal.',
);

/** What each error status means; the reasons come from their rows. */
const meanings = {
  400: 'A field, a parameter or the whole request is not valid: `fields` names each invalid one.',
  401: 'The bearer token is missing or not valid.',
  403: 'The token is valid but does not allow this.',
  404: 'Not found.',
  405: 'The address does not support this method: `Allow` lists those it does.',
  409: 'It conflicts with existing data.',
  412: 'It was changed since it was read: `If-Match` does not match.',
  413: 'The body is larger than allowed.',
  414: 'The address is longer than allowed. The response is plain text, because the request was not read.',
  415: 'The body has the wrong content type, or is compressed.',
  422: 'The `Idempotency-Key` was used for another request.',
  429: 'Too many requests: `Retry-After` says when to try again.',
  431: 'The request headers are larger than allowed. The response is plain text, because the request was not read.',
  503: 'The service is temporarily unavailable: `Retry-After` says when to try again.',
} as const;
export type Refusal = keyof typeof meanings;

export const headers = {
  ETag: {
    description: 'The version of the item; send it as `If-Match` with a change.',
    required: true,
    schema: { type: 'string', pattern: '^"\\d+"$' },
  },
  Location: { description: 'The address of the new item.', schema: { type: 'string', format: 'uri' } },
  'Idempotency-Replayed': {
    description: 'The request with this key was processed before; this is the same response.',
    schema: { type: 'string', const: 'true' },
  },
  'WWW-Authenticate': {
    description: 'RFC 6750 §3: what the bearer lacks.',
    schema: { type: 'string', pattern: '^(?:Bearer|DPoP)' },
  },
  'Retry-After': { description: 'Seconds.', schema: { type: 'string', pattern: '^\\d+$' } },
  'X-Request-Id': {
    description: 'Identifies this request in the logs.',
    required: true,
    schema: { type: 'string' },
  },
} as const;
type HeaderName = keyof typeof headers;

const refer = (...names: HeaderName[]) => ({
  headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
});

const headersOfRefusal = (status: Refusal): HeaderName[] => {
  if (status === 401 || status === 403) return ['WWW-Authenticate'];
  return status === 409 || status === 429 || status === 503 ? ['Retry-After'] : [];
};

const isRefusal = (name: string): name is `${Refusal}` => Object.hasOwn(meanings, name);

const refusalNamed = (status: Refusal): string => `Refused${status}`;

/** Answered by the server itself, before anything of this API (src/http/server.ts). */
const byTheServer: Readonly<Partial<Record<Refusal, string>>> = {
  414: 'The address is too long.',
  431: 'The request headers are too large.',
};

const plainText = (description: string, example: string): object => ({
  description,
  content: {
    'text/plain': { schema: { type: 'string' }, example },
  },
});

/** Component responses that routes reference for their errors, alongside `headers`. */
export const refusals: Readonly<Record<string, object>> = Object.fromEntries(
  Object.keys(meanings)
    .filter(isRefusal)
    .map((name) => {
      const status = Number(name) as Refusal;
      const text = byTheServer[status];
      if (text !== undefined) return [refusalNamed(status), plainText(meanings[status], text)];
      const [first] = reasonsOf(status);
      const error = {
        code: status,
        message: first?.message ?? '',
        reason: first?.reason,
        ...(status === 400 && { fields: { limit: 'Must be a whole number from 1 to 1000.' } }),
        request_id: '5f0c6a3e-8f0e-4a53-9f0a-8a7f0c1f5b1e',
      };
      const list = reasonsOf(status).map(({ reason }) => `\`${reason}\``);
      return [
        refusalNamed(status),
        {
          description: `${meanings[status]} \`reason\`: ${list.join(', ')}.`,
          ...refer(...headersOfRefusal(status), 'X-Request-Id'),
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Error' },
              example: { data: null, error },
            },
          },
        },
      ];
    }),
);

/** All of them described in words, for the reference page. */
export const refusalMeanings = () =>
  Object.entries(meanings).map(([status, meaning]) => ({
    status,
    meaning,
    reasons: reasonsOf(Number(status)),
  }));

/** @returns the error statuses that a route can return */
export function refusalsOf(route: Route): Refusal[] {
  const takesBody = route.body !== undefined || route.lines !== undefined;
  const isChanging = route.method !== 'GET';
  const has: readonly (readonly [Refusal, boolean])[] = [
    [400, true],
    [401, true],
    [403, true],
    [404, route.params !== undefined || route.body !== undefined],
    [409, isChanging],
    [412, isConditional(route) || route.isUnversioned === true],
    [413, takesBody],
    [414, true],
    [415, takesBody],
    [422, isCreating(route)],
    [429, true],
    [431, true],
    [503, true],
  ];
  return has.filter(([, isSo]) => isSo).map(([status]) => status);
}

/** The schema describes one line. */
export const linesOf = (lines: NonNullable<Route['lines']>, which: 'row' | 'result') =>
  Object.fromEntries(
    lines.types.map((type) => [
      type,
      { schema: documented(lines[which]), example: `${JSON.stringify(exampleOf(lines[which]))}\n` },
    ]),
  );

const mailSchema = orNull(
  object({
    id: string('The ID of the mail, as in `GET /mails`.'),
    state: oneOf(
      ['queued', 'kept'],
      '`queued`: it waits until the mail server accepts it; `kept`: no mail server is configured, so nobody gets it. ' +
        'Administrators can read it and pass it on.',
    ),
  }),
  'What became of the mail so far; null: none was asked for.',
);

const enveloped = ({ isBare, success }: Route, inner: TSchema): TSchema =>
  isBare === true ? inner : object({ data: inner, ...(success.hasMail === true && { mail: mailSchema }) });

function meaningOf({ success: { status, schema }, lines }: Route): string {
  if (status === 201) return 'Created.';
  if (lines) return 'One line for each line of the request, in the same order.';
  if (schema === undefined) return 'Success; the response has no body.';
  const described = memberOf(schema, 'description');
  return typeof described === 'string' ? described : 'Success.';
}

const successOf = (route: Route): object => {
  const { schema, hasVersion } = route.success;
  const names: HeaderName[] = [
    ...(hasVersion === true ? ['ETag' as const] : []),
    ...(isCreating(route) ? ['Location' as const, 'Idempotency-Replayed' as const] : []),
    'X-Request-Id',
  ];
  const body = schema && enveloped(route, schema);
  return {
    description: meaningOf(route),
    ...refer(...names),
    ...(body && { content: { 'application/json': { schema: documented(body), example: exampleOf(body) } } }),
    ...(route.lines && {
      content: linesOf({ ...route.lines, types: route.lines.types.slice(0, 1) }, 'result'),
    }),
  };
};

export const responsesOf = (route: Route): object => ({
  [route.success.status]: successOf(route),
  ...Object.fromEntries(
    refusalsOf(route).map((status) => [status, { $ref: `#/components/responses/${refusalNamed(status)}` }]),
  ),
});
