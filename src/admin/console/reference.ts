// The content of the reference page for each route: the declarations of the OpenAPI document, described for people.

import { IsObject, type TObject, type TSchema } from 'typebox';
import { memberOf } from '../../json.ts';
import { exampleOf } from '../api/examples.ts';
import { expected } from '../api/expected.ts';
import { accessTo } from '../api/openapi.ts';
import { refusalsOf } from '../api/openapi-responses.ts';
import { isConditional, isCreating, type Route } from '../api/route.ts';
import { curlOf, quote } from '../pages/curl.ts';

export interface ReferenceField {
  readonly name: string;
  readonly wants: string;
  readonly isRequired: boolean;
  readonly standard: string | undefined;
  readonly description: string | undefined;
}

function alternativesOf(schema: TSchema): readonly TSchema[] {
  const options = memberOf(schema, 'anyOf');
  return Array.isArray(options) ? options : [];
}

function describe(schema: TSchema): string | undefined {
  const [first] = alternativesOf(schema);
  const own = memberOf(schema, 'description') ?? (first && memberOf(first, 'description'));
  return typeof own === 'string' ? own : undefined;
}

/** Nested fields by path, as validation errors name them. */
function fieldsOf(schema: TObject, within = ''): ReferenceField[] {
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).flatMap(([name, of]) => {
    const standard = memberOf(of, 'default');
    const inner = [of, ...alternativesOf(of)].find(IsObject);
    const field = {
      name: `${within}${name}`,
      wants: expected(of),
      isRequired: required.has(name),
      standard: standard === undefined ? undefined : JSON.stringify(standard).replaceAll('"', ''),
      description: describe(of),
    };
    return [field, ...(inner ? fieldsOf(inner, `${within}${name}.`) : [])];
  });
}

const headerField = (name: string, wants: string, description: string): ReferenceField => ({
  name,
  wants,
  isRequired: false,
  standard: undefined,
  description,
});

const headersOf = (route: Route): ReferenceField[] => [
  ...(isConditional(route)
    ? [headerField('If-Match', 'the ETag that was read', 'Refused (412) if it was changed since.')]
    : []),
  ...(isCreating(route)
    ? [
        headerField(
          'Idempotency-Key',
          '1 to 255 visible characters',
          'Sent again within a day, the request is processed once.',
        ),
      ]
    : []),
];

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

function curlTo(route: Route, publicUrl: string): string {
  const params: object = Object(route.params === undefined ? {} : exampleOf(route.params));
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => String(memberOf(params, name)));
  const options = ['-H "Authorization: Bearer $ADMIN_TOKEN"'];
  if (route.method !== 'GET') options.unshift(`-X ${route.method}`);
  if (isConditional(route)) options.push(`-H ${quote('If-Match: "3"')}`);
  const { lines, body } = route;
  if (lines) options.push(`-H ${quote(`Content-Type: ${lines.types[0]}`)}`, '--data-binary @users.ndjson');
  if (body) {
    const example = route.path === '/settings' ? { lockout_threshold: 5 } : exampleOf(body, 'short');
    options.push("-H 'Content-Type: application/json'", `--data-raw ${quote(pretty(example))}`);
  }
  return curlOf(publicUrl + path, ...options);
}

function successOf(route: Route) {
  const { status, schema, hasVersion } = route.success;
  const example = schema === undefined ? undefined : exampleOf(schema);
  const shown = route.isBare === true ? '{ "openapi": "3.1.0", … }' : pretty({ data: example });
  return {
    status,
    headers: [...(hasVersion ? ['ETag'] : []), ...(isCreating(route) ? ['Location'] : [])],
    example: route.lines ? JSON.stringify(exampleOf(route.lines.result)) : schema === undefined ? '' : shown,
  };
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

function describeRoute(route: Route, publicUrl: string) {
  const body = route.lines?.row ?? route.body;
  const groups = [
    { title: 'In the path', rows: route.params ? fieldsOf(route.params) : [] },
    { title: 'In the query', rows: route.query ? fieldsOf(route.query) : [] },
    { title: 'Headers', rows: headersOf(route) },
    {
      title: route.lines ? 'In each line' : 'In the body',
      rows: body && IsObject(body) ? fieldsOf(body) : [],
    },
  ];
  return {
    anchor: slug(`${route.method} ${route.path}`),
    method: route.method,
    path: route.path,
    summary: route.summary,
    access: accessTo(route).replaceAll('`', ''),
    fields: groups.filter(({ rows }) => rows.length > 0),
    curl: curlTo(route, publicUrl),
    success: successOf(route),
    refusals: refusalsOf(route),
  };
}

/** @param publicUrl of the API, as clients see it */
export function describeRoutes(routes: readonly Route[], publicUrl: string) {
  const names = [...new Set(routes.map(({ tag }) => tag))];
  return names.map((name) => ({
    name,
    slug: slug(name),
    routes: routes.filter(({ tag }) => tag === name).map((route) => describeRoute(route, publicUrl)),
  }));
}
