// Optimistic concurrency (If-Match), and export and import of settings.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { grants, refreshTokens } from '../../src/store/protocol-collections.ts';
import { dataOf, errorOf, itemsOf, membersOf, wrongFields } from './answers.ts';
import { goodPassword, type World, withEachServer, withServer } from './support.ts';

const ifMatch = (tag: string) => ({ headers: { 'if-match': tag } });

async function prepare({ accounts, clients, sessions, store, api, now }: World) {
  const alice = await accounts.create({ username: 'alice', password: goodPassword });
  const metadata = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
  const { client } = await clients.create({ metadata, origin: 'admin' });
  await sessions.note({
    uid: 's1',
    isNew: true,
    accountId: alice.id,
    ipAddress: '192.0.2.7',
    userAgent: '',
    amr: ['pwd'],
    clientIds: [client.id],
    createdAt: now(),
    expiresAt: now() + 3_600_000,
  });
  const payload = { accountId: alice.id, clientId: client.id, grantId: 'g1', iat: 1 };
  await store.collection(grants).insert('g1', payload);
  await store.collection(refreshTokens).insert('t1', payload);
  await api('POST', '/groups', { name: 'staff' });
  const key = dataOf(await api('POST', '/api-keys', { name: 'x' }));
  return { alice: alice.id, client: client.id, key: String(key.id) };
}

withEachServer(
  'ETag: on every single resource; a stale If-Match is 412 and changes nothing',
  async (world) => {
    const { api } = world;
    const { alice, client, key } = await prepare(world);
    const things: readonly (readonly [string, readonly (readonly [string, string, unknown])[]])[] = [
      [
        `/users/${alice}`,
        [
          ['PATCH', `/users/${alice}`, { name: 'x' }],
          ['PUT', `/users/${alice}`, { name: 'x' }],
          ['POST', `/users/${alice}/deactivate`, undefined],
          ['POST', '/users/unlock', { user_id: alice }],
          ['POST', `/users/${alice}/revoke-sessions`, undefined],
          ['DELETE', `/users/${alice}`, undefined],
        ],
      ],
      [
        `/clients/${client}`,
        [
          ['PATCH', `/clients/${client}`, { client_name: 'x' }],
          ['POST', `/clients/${client}/rotate-secret`, undefined],
          ['DELETE', `/clients/${client}`, undefined],
        ],
      ],
      [
        '/groups/staff',
        [
          ['PATCH', '/groups/staff', {}],
          ['DELETE', '/groups/staff', undefined],
        ],
      ],
      [`/api-keys/${key}`, [['DELETE', `/api-keys/${key}`, undefined]]],
      ['/tokens/t1', [['DELETE', '/tokens/t1', undefined]]],
      [
        '/sessions/s1',
        [
          ['DELETE', '/sessions/s1', undefined],
          ['DELETE', `/users/${alice}/sessions/s1`, undefined],
        ],
      ],
      [
        '/settings',
        [
          ['PATCH', '/settings', { product_name: 'x' }],
          ['PUT', '/settings', {}],
        ],
      ],
    ];
    for (const [path, changes] of things) {
      const read = await api('GET', path);
      const etag = read.headers.get('etag') ?? '';
      ok(/^"\d+"$/.test(etag), `${path} ${etag}`);
      for (const [method, where, body] of changes) {
        for (const stale of ['"999"', 'W/"1"', '"x"']) {
          const answer = await api(method, where, body, ifMatch(stale));
          equal(answer.status, 412, `${method} ${where} ${stale}: ${answer.text}`);
        }
        // An empty header is a client whose tag got lost: its change is not made whatever is there.
        for (const unclear of ['"1", "2"', '', '\t', '1', '{}']) {
          const answer = await api(method, where, body, ifMatch(unclear));
          deepEqual([answer.status, wrongFields(answer)], [400, ['If-Match']], unclear);
        }
      }
      equal((await api('GET', path)).headers.get('etag'), etag, `${path} is as it was`);
    }
    for (const path of [
      `/groups/staff/members/${alice}`,
      '/initial-access-tokens/x',
      `/users/${alice}/passkeys/x`,
      `/users/${alice}/trusted-devices/x`,
    ]) {
      const answer = await api('DELETE', path, undefined, ifMatch('"1"'));
      deepEqual([answer.status, errorOf(answer).reason], [412, 'request.changed'], `${path} has no version`);
    }
    for (const [path, method, body] of [
      ['/tokens/t1', 'DELETE', undefined],
      ['/sessions/s1', 'DELETE', undefined],
      ['/settings', 'PATCH', { product_name: 'Acme' }],
      [`/users/${alice}`, 'PATCH', { name: 'Alice' }],
    ] as const) {
      const etag = (await api('GET', path)).headers.get('etag') ?? '';
      ok((await api(method, path, body, ifMatch(etag))).status < 300, path);
    }
  },
);

withEachServer('settings: of two concurrent conditional writes one succeeds', async ({ api }) => {
  for (let round = 0; round < 3; round += 1) {
    const etag = (await api('GET', '/settings')).headers.get('etag') ?? '';
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((name) => api('PATCH', '/settings', { product_name: name }, ifMatch(etag))),
    );
    deepEqual(answers.map(({ status }) => status).toSorted(), [200, 412, 412], `round ${round}`);
    const lost = answers.find(({ status }) => status === 412);
    equal(lost && errorOf(lost).reason, 'setting.changed');
  }
});

withEachServer('settings import: export, dry run, import', async (world) => {
  const { api } = world;
  const settingOf = async (key: string): Promise<unknown> =>
    itemsOf(await api('GET', '/settings')).find((setting) => setting.key === key)?.value;
  await api('PATCH', '/settings', { product_name: 'Acme', lockout_threshold: 7 });
  const exported = dataOf(await api('GET', '/settings/export'));
  ok(!('smtp_url' in membersOf(exported.values)), 'secrets do not travel');
  await api('PUT', '/settings', { smtp_url: 'smtp://user:secret@mail.example.com' });
  const events = async () => itemsOf(await api('GET', '/audit?event=settings.changed')).length;
  const before = await events();

  const tried = await api('POST', '/settings/import?dry_run=true', exported);
  deepEqual(dataOf(tried), {
    dry_run: true,
    changes: [
      { key: 'lockout_threshold', from: 5, to: 7 },
      { key: 'product_name', from: 'Latchkey', to: 'Acme' },
    ].toSorted((a, b) => (orderOf(exported, a.key) < orderOf(exported, b.key) ? -1 : 1)),
  });
  deepEqual([await settingOf('product_name'), await events()], ['Latchkey', before], 'nothing was done');

  const done = await api('POST', '/settings/import', exported);
  deepEqual([dataOf(done).dry_run, dataOf(done).changes], [false, dataOf(tried).changes]);
  deepEqual([await settingOf('product_name'), await settingOf('lockout_threshold')], ['Acme', 7]);
  equal(await events(), before + 1);
  const secret = itemsOf(await api('GET', '/settings')).find(({ key }) => key === 'smtp_url');
  ok(secret?.updated_at, 'what the export does not say stays');
  deepEqual(dataOf(await api('POST', '/settings/import', exported)).changes, []);
  const stale = await api('POST', '/settings/import?dry_run=true', exported, ifMatch('"999"'));
  equal(stale.status, 412);
});

const orderOf = (exported: Record<string, unknown>, key: string): number =>
  Object.keys(membersOf(exported.values)).indexOf(key);

withServer(
  'settings import: an invalid file changes nothing and names every error, dry run or not',
  async ({ api }) => {
    const cases: readonly (readonly [unknown, readonly string[]])[] = [
      [{}, ['values']],
      [{ values: [] }, ['values']],
      [{ values: { nothing: 1, product_name: 'x' } }, ['nothing']],
      [
        { values: { lockout_threshold: 'x', password_min_length: 1 } },
        ['lockout_threshold', 'password_min_length'],
      ],
      [{ values: { lockout_threshold: { $gt: 0 } } }, ['lockout_threshold']],
      [{ values: {}, mode: 'all' }, ['mode']],
      [{ values: { product_name: [] } }, ['product_name']],
    ];
    for (const query of ['', '?dry_run=true']) {
      for (const [body, fields] of cases) {
        const answer = await api('POST', `/settings/import${query}`, body);
        deepEqual([answer.status, wrongFields(answer)], [400, fields], JSON.stringify(body));
      }
    }
    deepEqual(wrongFields(await api('POST', '/settings/import?dry_run=maybe', { values: {} })), ['dry_run']);
    equal((await api('GET', '/settings/import')).status, 405);
  },
);
