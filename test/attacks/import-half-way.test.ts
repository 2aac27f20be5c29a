// An import of APIs that the store stops: the secrets of what it created are told once, so they have to be told then.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { createGuardedStore } from '../support/guarded-store.ts';

/** "collection.method" → how many of its calls still succeed. */
const left = new Map<string, number>();
const store = createGuardedStore(createMemoryStore({ clock: Date.now }), (name, method) => {
  const call = `${name}.${method}`;
  const calls = left.get(call);
  if (calls === 0) throw new StoreUnavailable(`${call} is away`);
  if (calls !== undefined) left.set(call, calls - 1);
});
const app = await startApp({ shared: store });
after(() => app.stop());

async function importApis(...identifiers: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const rows = identifiers.map((identifier) => ({ identifier, name: 'Orders', scopes: [] }));
  const response = await fetch(`${app.url}/admin/api/resources/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, 'Content-Type': 'application/x-ndjson' },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  });
  const text = await response.text();
  equal(response.status, 200, text);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function assertUsable(result: Record<string, unknown> | undefined): Promise<void> {
  const credentials = `${result?.introspection_client_id}:${result?.introspection_client_secret}`;
  const response = await fetch(`${app.url}/oauth2/introspect`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    body: new URLSearchParams({ token: 'x' }),
  });
  equal(response.status, 200);
}

const cases: readonly (readonly [string, number, readonly string[]])[] = [
  ['apis.insert', 1, ['created', 'failed', 'stopped']],
  ['audit.insert', 1, ['created', 'created', 'stopped']],
  ['audit.insert', 3, ['created', 'created', 'created', 'stopped']],
];

for (const [index, [call, calls, statuses]] of cases.entries()) {
  test(`the store fails after ${calls} calls of ${call}: each created API is told with its secret`, async () => {
    left.set(call, calls);
    const results = await importApis(...['a', 'b', 'c'].map((name) => `https://${name}${index}.example.com`));
    left.clear();
    deepEqual(
      results.map(({ status }) => status),
      statuses,
    );
    for (const result of results.filter(({ status }) => status === 'created')) await assertUsable(result);
    match(JSON.stringify(results.at(-1)), /unavailable/);
    ok(!JSON.stringify(results).includes('is away'));
  });
}
