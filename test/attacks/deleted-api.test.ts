// Attacks with what a deleted API or scope once gave: its tokens, and an identifier or name that is used again.
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessTokens, clientCredentials } from '../../src/store/protocol-collections.ts';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
before(async () => {
  app = await startApp({ store: 'sqlite' });
});
after(() => app.stop());

const identifier = 'https://api.example.com/orders';
const scopes = [{ name: 'orders:read', description: 'See your orders' }];

const create = async (): Promise<string> => {
  const { status, body } = await app.admin('POST', '/resources', { identifier, name: 'Orders', scopes });
  equal(status, 201, JSON.stringify(body));
  return String(body.data.id);
};

test('attack: the tokens of a deleted API; none is left, those of others are', async () => {
  const [id, expiresAt] = [await create(), app.now() + 60_000];
  const tokens = [accessTokens, clientCredentials].map((definition) => app.store.ephemeral(definition));
  for (const collection of tokens) {
    await collection.insert('for-it', { api: { id }, jti: 'for-it' }, { expiresAt });
    await collection.insert('for-another', { api: { id: 'another' }, jti: 'for-another' }, { expiresAt });
    await collection.insert('for-none', { jti: 'for-none' }, { expiresAt });
  }
  equal((await app.admin('DELETE', `/resources/${id}`)).status, 204);
  for (const collection of tokens) {
    const left = await Promise.all(
      ['for-it', 'for-another', 'for-none'].map(async (one) => (await collection.find(one)) !== undefined),
    );
    deepEqual(left, [false, true, true]);
  }
});

test('attack: an API created again under its identifier; nothing stored names it', async () => {
  const first = await create();
  equal((await app.admin('DELETE', `/resources/${first}`)).status, 204);
  const second = await create();
  notEqual(second, first);
  equal((await app.admin('GET', `/resources/${first}`)).status, 404);
  equal((await app.admin('DELETE', `/resources/${second}`)).status, 204);
});
