// The OpenAPI document: valid by the meta-schema of OpenAPI 3.1, with examples that match their schemas; and the response
// check of all other tests (test/support/api-check.ts) can fail.
import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { isConditional, isCreating } from '../../src/admin/api/route.ts';
import { problemIn, problemOfAnswer, type SeenAnswer, watchAdminApi } from '../support/api-check.ts';
import { apiDocument, declaredRoutes } from '../support/api-document.ts';
import { membersOf } from './answers.ts';

const validate = async (document: unknown) => new Validator().validate(structuredClone(membersOf(document)));

test('OpenAPI: the document is valid 3.1; the validator rejects an invalid one', async () => {
  const result = await validate(apiDocument());
  deepEqual([result.valid, result.errors], [true, undefined]);
  const broken = membersOf(apiDocument());
  const { valid } = await validate({
    ...broken,
    paths: { ...membersOf(broken.paths), '/x': { get: { responses: 1 } } },
  });
  equal(valid, false);
});

test('OpenAPI: every example of a body matches its schema', () => {
  const root = apiDocument();
  let seen = 0;
  const look = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { schema, example } = Array.isArray(value) ? {} : membersOf(value);
    if (schema !== undefined && example !== undefined) {
      const isLine = /\/(?:x-ndjson|jsonl)$/.test(where);
      const problem = problemIn(schema, isLine ? JSON.parse(String(example)) : example, root);
      equal(problem, undefined, `${where}: ${JSON.stringify(example)}`);
      seen += 1;
      return;
    }
    for (const [name, inner] of Object.entries(value)) look(inner, `${where}/${name}`);
  };
  look(root, '');
  ok(seen > 80, String(seen));
});

test('OpenAPI: every route is listed with its permissions and request headers', async () => {
  const { paths } = membersOf(apiDocument());
  for (const route of declaredRoutes()) {
    const operation = membersOf(membersOf(membersOf(paths)[route.path])[route.method.toLowerCase()]);
    const parameters = JSON.stringify(operation.parameters);
    const responses = membersOf(operation.responses);
    const name = `${route.method} ${route.path}`;
    match(String(operation.description), /`admin`/, name);
    equal(parameters.includes('"If-Match"'), isConditional(route), name);
    equal(parameters.includes('"Idempotency-Key"'), isCreating(route), name);
    equal(isCreating(route), Object.hasOwn(responses, '422'), name);
    for (const status of ['400', '401', '403', '429', '503']) ok(Object.hasOwn(responses, status), name);
    equal(route.body !== undefined || route.lines !== undefined, Object.hasOwn(responses, '415'), name);
  }
});

test('OpenAPI: every operation, parameter and member of a schema is described', () => {
  const bare: string[] = [];
  const isText = (value: unknown): boolean => typeof value === 'string' && /^\S.*\S$/s.test(value);
  const look = (value: unknown, where: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      const here = `${where}/${name}`;
      // Examples hold values, and no schemas.
      if (name === 'example' || name === 'examples') continue;
      if (/^x-/.test(name)) bare.push(`${here} is private`);
      const schemas = name === 'properties' ? membersOf(inner) : {};
      for (const [member, schema] of Object.entries(schemas)) {
        if (!isText(membersOf(schema).description)) bare.push(`${here}/${member}`);
      }
      if (/\/parameters\/\d+$/.test(here) && !isText(membersOf(inner).description)) bare.push(here);
      if (/^\/paths\/[^ ]*\/(?:get|post|put|patch|delete)$/.test(here)) {
        const { summary, description, responses } = membersOf(inner);
        if (!isText(summary) || !isText(description)) bare.push(here);
        for (const [status, one] of Object.entries(membersOf(responses))) {
          if (!('$ref' in membersOf(one)) && !isText(membersOf(one).description))
            bare.push(`${here} ${status}`);
        }
      }
      look(inner, here);
    }
  };
  look(apiDocument(), '');
  deepEqual(bare, []);
});

test('OpenAPI: every error response names its reasons', () => {
  const { components } = membersOf(apiDocument());
  const { responses } = membersOf(components);
  for (const [name, response] of Object.entries(membersOf(responses))) {
    const { description, content } = membersOf(response);
    // Of the server itself, which answers in plain text before anything is read.
    const isCoded = Object.hasOwn(membersOf(content), 'application/json');
    match(String(description), isCoded ? /`reason`: `[a-z_]+\.[a-z_]+`/ : /plain text/, name);
  }
});

const answerOf = (changes: Partial<Omit<SeenAnswer, 'header'>> & { headers?: Record<string, string> }) => {
  const { headers = {}, ...rest } = changes;
  const all: Record<string, string> = { 'content-type': 'application/json', 'x-request-id': 'x', ...headers };
  return problemOfAnswer({
    method: 'GET',
    path: '/keys',
    status: 200,
    text: '{"data":{"items":[]}}',
    header: (name) => all[name.toLowerCase()] || undefined,
    ...rest,
  });
};

test('OpenAPI: a deviating status, type, body, header or address is detected', () => {
  equal(answerOf({}), undefined);
  const error = {
    code: 404,
    message: 'No.',
    reason: 'request.not_found',
    request_id: 'x',
  };
  const refused = (more: object = {}) => JSON.stringify({ data: null, error: { ...error, ...more } });
  equal(answerOf({ path: '/nothing', status: 404, text: refused() }), undefined);
  equal(answerOf({ path: '/users/x', status: 404, text: refused() }), undefined);
  const wrong: Parameters<typeof answerOf>[0][] = [
    { status: 202 },
    { status: 500, text: refused() },
    { status: 404, text: refused() },
    { headers: { 'content-type': 'text/html' } },
    { text: '{"data":{"items":[],"more":1}}' },
    { text: '{"data":{"items":[]},"more":1}' },
    { text: '{"data":{"items":[{}]}}' },
    { text: '' },
    { headers: { etag: '"1"' } },
    { path: '/nothing' },
    { path: '/users/x', status: 404, text: refused({ stack: 'at x.ts:1' }) },
    { path: '/users/x', status: 404, text: refused({ reason: 'made.up' }) },
    { path: '/users/x', status: 401, text: refused(), headers: { 'www-authenticate': 'Basic' } },
    { path: '/users/x', status: 404, text: refused(), headers: { 'x-request-id': '' } },
    { method: 'DELETE', path: '/users/x', status: 204, text: 'x' },
    { method: 'HEAD', text: 'x' },
    { method: 'POST', path: '/keys', status: 200 },
  ];
  for (const one of wrong) ok(answerOf(one), JSON.stringify(one));
});

test('OpenAPI: an undeclared admin API answer fails the test that started the server', async () => {
  const watched = watchAdminApi((_request, response) => void response.end('{"data":{"secret":1}}'), '/base');
  const server = createServer(watched.handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  ok(typeof address === 'object' && address !== null);
  const url = `http://127.0.0.1:${address.port}/base`;
  await (await fetch(`${url}/account`)).text();
  watched.assertRight();
  await (await fetch(`${url}/admin/api/keys`)).text();
  throws(() => watched.assertRight(), /GET \/admin\/api\/keys: 200/);
  watched.assertRight();
  await new Promise((resolve) => server.close(resolve));
});
