// The OpenAPI 3.1 document of the admin API, generated from the same declarations that validate the requests.
import { Record as RecordSchema, type TSchema, Unknown } from 'typebox';
import { memberOf } from '../../json.ts';
import { exampleOf } from './examples.ts';
import { errorSchema, headers, linesOf, refusals, responsesOf } from './openapi-responses.ts';
import { defineRoute, isConditional, isCreating, type Route } from './route.ts';
import { documented, string } from './schema-parts.ts';

interface About {
  readonly title: string;
  readonly version: string;
  readonly publicUrl: string;
  /** Address of the reference page for people. */
  readonly referenceUrl: string;
}

/** RFC 9110 §8.8.3 and §13.1.1: `*`, or one entity tag; tags that this server never gives are valid, but match nothing. */
const entityTagPattern = '^(\\*|(W/)?"[!#-~]*")$';

/** RFC 9110 §13.1.1 for existing items, `Idempotency-Key` for new ones. */
const headersOf = (route: Route): object[] => {
  const header = (name: string, description: string, schema: object): object => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string', ...schema },
  });
  if (isCreating(route)) {
    return [
      header('Idempotency-Key', 'The same request with the same key is processed once within a day.', {
        pattern: '^[!-~]{1,255}$',
      }),
    ];
  }
  if (!isConditional(route)) return [];
  const what =
    'The `ETag` that was read: if the item has been changed since, the response is 412 and nothing is done. `*` matches any.';
  return [header('If-Match', what, { pattern: entityTagPattern })];
};

const parametersOf = (route: Route): object[] => {
  const { params, query } = route;
  const of = (schema: Route['query'], where: 'path' | 'query') => {
    const required = new Set<string>(schema?.required);
    return Object.entries(schema?.properties ?? {}).map(([name, value]) => ({
      name,
      in: where,
      required: where === 'path' || required.has(name),
      description: memberOf(value, 'description'),
      schema: documented(value),
    }));
  };
  return [...of(params, 'path'), ...of(query, 'query'), ...headersOf(route)];
};

const operationId = ({ method, path }: Route): string =>
  [method.toLowerCase(), ...path.split(/[^a-z]+/i).filter((part) => part !== '')].join('_');

/** The scope that the route requires (decision 0002). */
export const accessTo = ({ method, needs }: Pick<Route, 'method' | 'needs'>): string =>
  method === 'GET' && needs === undefined
    ? 'Requires the scope `admin:read` or `admin`.'
    : 'Requires the scope `admin`.';

const bodyOf = (schema: TSchema) => ({
  'application/json': { schema: documented(schema), example: exampleOf(schema, 'short') },
});

/** Source of the table of all acts and their sensitivity (src/model/acts.ts). */
function sensitivityOf({ sensitivity }: Route): string {
  if (sensitivity === 'plain') return '';
  const when = sensitivity === 'sensitive' ? '' : `, ${sensitivity.when}`;
  return ` Sensitive${when}: a user must have signed in within the last five minutes, as strongly as the account allows; otherwise 403 \`auth.stale\`.`;
}

const operationOf = (route: Route): object => ({
  operationId: operationId(route),
  summary: route.summary,
  description: `${accessTo(route)}${sensitivityOf(route)}`,
  tags: [route.tag],
  parameters: parametersOf(route),
  ...(route.lines && { requestBody: { required: true, content: linesOf(route.lines, 'row') } }),
  ...(route.body && {
    requestBody: { required: route.isBodyOptional !== true, content: bodyOf(route.body) },
  }),
  responses: responsesOf(route),
});

/** Rules that apply to all routes, one paragraph each. */
export const description: readonly string[] = [
  'Bodies are JSON in UTF-8, up to 100 kB. Unknown fields and parameters are refused and named, never ignored. Times are as in RFC 3339.',
  'A success is `{ "data": … }`. A refusal is `{ "data": null, "error": { "code", "message", "reason", "fields", "request_id" } }`; ' +
    '`reason` is a stable code for programs.',
  'Lists take `limit` with `offset`, or continue with `cursor`: the `next` of the previous page. With a cursor no item is repeated ' +
    'or omitted while others are added and removed.',
  'Items with an `ETag` can be changed with `If-Match`: if the item was changed in the meantime, the change is refused (412), and nothing is lost.',
  'Requests that create an item accept an `Idempotency-Key`: the same request with the same key, sent again within a day, is processed once and gets the same response.',
];

/** @returns the document as plain JSON */
export function toOpenApi(
  routes: readonly Route[],
  { title, version, publicUrl, referenceUrl }: About,
): Record<string, unknown> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version, description: description.join('\n\n') },
    externalDocs: { url: referenceUrl, description: 'For people, with examples.' },
    servers: [{ url: publicUrl }],
    security: [{ bearer: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token or API key with the scope `admin` or `admin:read`, or ADMIN_TOKEN.',
        },
      },
      schemas: { Error: errorSchema },
      responses: refusals,
      headers,
    },
  };
}

/** @returns the route that serves the document of the given routes, including itself */
export function openApiRoute(routes: readonly Route[], about: About): Route {
  let document: Record<string, unknown> | undefined;
  const route: Route = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    tag: 'About',
    summary: 'This document',
    success: { status: 200, schema: RecordSchema(string(), Unknown()) },
    isBare: true,
    handle: async () => {
      document ??= toOpenApi([...routes, route], about);
      return { data: document };
    },
  });
  return route;
}
