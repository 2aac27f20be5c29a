// /account/api/openapi.json: readable by everyone, complete, and true.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { opensAccounts, startApp, type TestApp } from '../support/app.ts';
import { accessTokenOf, newPerson, STALE_MS } from './account-support.ts';

let app: TestApp;
before(async () => {
  app = await startApp();
});
after(() => app.stop());

async function read() {
  const response = await fetch(`${app.url}/account/api/openapi.json`, {
    headers: { origin: 'https://app.example' },
  });
  assert.equal(response.status, 200);
  return { response, document: JSON.parse(await response.text()) };
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
}

const operationsIn = (document: { paths: Record<string, Record<string, Described>> }) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test('account API document: readable without a bearer, by every origin', async () => {
  const { response, document } = await read();
  assert.equal(response.headers.get('access-control-allow-origin'), '*');
  assert.equal(response.headers.get('access-control-allow-credentials'), null);
  assert.equal(document.openapi, '3.1.0');
  assert.equal(document.servers[0].url, `${app.url}/account/api`);
});

test('account API document: each operation answers, has its own id, and wants a bearer', async () => {
  const { document } = await read();
  const all = operationsIn(document);
  assert.ok(all.length > 20);
  assert.equal(new Set(all.map(({ operation }) => operation.operationId)).size, all.length);
  for (const { path, method } of all) {
    const url = `${app.url}/account/api${path.replace('{id}', 'none')}`;
    assert.equal((await fetch(url, { method: method.toUpperCase() })).status, 401, `${method} ${path}`);
  }
});

test('attack: an old token at each operation that the document says is for a fresh sign-in', async () => {
  const client = await app.register(opensAccounts);
  const token = await accessTokenOf(app, client, await newPerson(app));
  app.advance(STALE_MS);
  const { document } = await read();
  const fresh = operationsIn(document).filter(({ operation }) => operation.description !== undefined);
  assert.ok(fresh.length > 10);
  for (const { path, method } of fresh) {
    const url = `${app.url}/account/api${path.replace('{id}', 'none')}`;
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: method.toUpperCase(), headers });
    const { error } = JSON.parse(await response.text());
    assert.deepEqual([response.status, error.reason], [403, 'auth.stale'], `${method} ${path}`);
  }
});
