// Owns the OpenAPI 3.1 document of the admin API, made from the same declarations that check the requests.
import {
  Integer,
  Object as ObjectSchema,
  Optional,
  Record as RecordSchema,
  String as StringSchema,
  type TSchema,
  Unknown,
} from 'typebox';
import { defineRoute, isConditional, isCreating, type Route } from './route.ts';

interface About {
  readonly title: string;
  readonly version: string;
  readonly publicUrl: string;
}

const errorSchema = ObjectSchema({
  data: Unknown({ description: 'Always null.' }),
  error: ObjectSchema({
    code: Integer({ description: 'The HTTP status.' }),
    message: StringSchema(),
    reason: StringSchema({ description: 'Stable code, such as account.username_taken.' }),
    fields: Optional(
      RecordSchema(StringSchema(), StringSchema(), { description: 'Field -> what is wrong.' }),
    ),
    request_id: StringSchema(),
  }),
});

const json = (schema: unknown) => ({ 'application/json': { schema } });
/** The schema is that of one line. */
const linesOf = (lines: NonNullable<Route['lines']>, which: 'row' | 'result') =>
  Object.fromEntries(lines.types.map((type) => [type, { schema: lines[which] }]));
const failed = (description: string) => ({
  description,
  content: json({ $ref: '#/components/schemas/Error' }),
});

/** RFC 9110 §13.1.1 on what exists, `Idempotency-Key` on what is to exist. */
const headersOf = (route: Route): object[] => {
  const header = (name: string, description: string): object => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  });
  if (isCreating(route)) {
    return [header('Idempotency-Key', 'The same request with the same key is done once, within a day.')];
  }
  if (!isConditional(route)) return [];
  return [header('If-Match', 'The ETag of what was read: where it was changed since, the answer is 412.')];
};

const parametersOf = (route: Route): object[] => {
  const { params, query } = route;
  const of = (schema: Route['query'], where: 'path' | 'query') => {
    const required = new Set<string>(schema?.required);
    return Object.entries(schema?.properties ?? {}).map(([name, value]) => ({
      name,
      in: where,
      required: where === 'path' || required.has(name),
      schema: value,
    }));
  };
  return [...of(params, 'path'), ...of(query, 'query'), ...headersOf(route)];
};

function responsesOf(route: Route): object {
  const { status, schema } = route.success;
  const enveloped = (inner: TSchema) => (route.isBare === true ? inner : ObjectSchema({ data: inner }));
  const isSingle = route.params !== undefined;
  const hasInput = route.body !== undefined || route.query !== undefined;
  return {
    [status]: {
      description: route.summary,
      ...(schema && { content: json(enveloped(schema)) }),
      ...(route.lines && { content: linesOf(route.lines, 'result') }),
    },
    ...(hasInput && {
      400: failed('A field, parameter or the whole request is not right; `fields` says which.'),
    }),
    401: failed('No bearer token, or one that is not valid.'),
    403: failed('The token does not belong to an administrator.'),
    ...(isSingle && { 404: failed('There is no such thing.') }),
    ...(route.method !== 'GET' && { 409: failed('It clashes with what is there.') }),
    ...(isConditional(route) && { 412: failed('It was changed: If-Match does not fit.') }),
    ...(isCreating(route) && { 422: failed('The Idempotency-Key was used for another request.') }),
    ...(route.lines && { 413: failed('Too much for one request.'), 415: failed('Not lines of JSON.') }),
    ...(route.body && { 413: failed('Over 100 kB.'), 415: failed('Not JSON.') }),
  };
}

const operationId = ({ method, path }: Route): string =>
  [method.toLowerCase(), ...path.split(/[^a-z]+/i).filter((part) => part !== '')].join('_');

const operationOf = (route: Route): object => ({
  operationId: operationId(route),
  summary: route.summary,
  tags: [route.tag],
  parameters: parametersOf(route),
  ...(route.lines && { requestBody: { required: true, content: linesOf(route.lines, 'row') } }),
  ...(route.body && { requestBody: { required: route.isBodyOptional !== true, content: json(route.body) } }),
  responses: responsesOf(route),
});

/** @returns the document as plain JSON */
export function toOpenApi(
  routes: readonly Route[],
  { title, version, publicUrl }: About,
): Record<string, unknown> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version },
    servers: [{ url: publicUrl }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
  };
}

/** @returns the route that serves the document of the given routes and of itself */
export function openApiRoute(routes: readonly Route[], about: About): Route {
  let document: Record<string, unknown> | undefined;
  const route: Route = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    tag: 'About',
    summary: 'This document',
    success: { status: 200, schema: RecordSchema(StringSchema(), Unknown()) },
    isBare: true,
    handle: async () => {
      document ??= toOpenApi([...routes, route], about);
      return { data: document };
    },
  });
  return route;
}
