// Applications over HTTP (decision 0010).
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { hostileLinks, hostileUris } from '../clients/corpus.ts';
import { dataOf, errorOf, itemsOf, wrongFields } from './answers.ts';
import { withEachServer, withServer } from './support.ts';

const web = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };

withEachServer('client: created, read, replaced, changed and deleted', async ({ api }) => {
  const created = await api('POST', '/clients', { ...web, skip_consent: true, access_token_seconds: 600 });
  equal(created.status, 201);
  const { client_id: id, client_secret: secret, ...client } = dataOf(created);
  match(String(id), /^[0-9a-f-]{36}$/);
  match(String(secret), /^[\w-]{43}$/);
  equal(created.headers.get('location'), `https://id.example.com/admin/api/clients/${id}`);
  deepEqual(
    [client.client_type, client.is_active, client.skip_consent, client.origin, client.allow_self_signup],
    ['confidential', true, true, 'admin', null],
  );
  deepEqual([client.access_token_seconds, client.id_token_seconds], [600, null]);
  deepEqual(dataOf(await api('GET', `/clients/${id}`)), { client_id: id, ...client });

  const logo = 'https://app.example.com/logo.png';
  const changed = await api('PATCH', `/clients/${id}`, { logo_uri: logo, access_token_seconds: null });
  deepEqual(
    [dataOf(changed).logo_uri, dataOf(changed).client_name, dataOf(changed).access_token_seconds],
    [logo, 'Acme', null],
  );
  const replaced = await api('PUT', `/clients/${id}`, {
    ...web,
    client_name: 'Other',
    scope: 'openid admin',
  });
  const after = dataOf(replaced);
  ok(!Object.hasOwn(after, 'logo_uri'));
  deepEqual([after.client_name, after.scope, after.skip_consent], ['Other', 'openid admin', true]);
  ok(!Object.hasOwn(dataOf(await api('PATCH', `/clients/${id}`, { client_name: null })), 'client_name'));

  const machine = dataOf(await api('PATCH', `/clients/${id}`, { grant_types: ['client_credentials'] }));
  deepEqual([machine.grant_types, machine.response_types], [['client_credentials'], []]);

  equal((await api('DELETE', `/clients/${id}`)).status, 204);
  const gone = await api('GET', `/clients/${id}`);
  deepEqual([gone.status, errorOf(gone).reason], [404, 'client.not_found']);
  for (const [method, body] of [
    ['PUT', web],
    ['PATCH', {}],
    ['DELETE', undefined],
  ] as const) {
    equal((await api(method, `/clients/${id}`, body)).status, 404, method);
  }
});

withServer('client: client_type must agree with the authentication method', async ({ api }) => {
  const open = dataOf(await api('POST', '/clients', { ...web, client_type: 'public' }));
  deepEqual([open.token_endpoint_auth_method, Object.hasOwn(open, 'client_secret')], ['none', false]);
  const wrong = { ...web, client_type: 'public', token_endpoint_auth_method: 'client_secret_basic' };
  deepEqual(wrongFields(await api('POST', '/clients', wrong)), ['client_type']);
});

withEachServer('client secret: in the answer that created it and in no other', async ({ api, clients }) => {
  const created = dataOf(await api('POST', '/clients', web));
  const id = String(created.client_id);
  const rotated = await api('POST', `/clients/${id}/rotate-secret`, { overlap_seconds: 60 });
  const secrets = [String(created.client_secret), String(dataOf(rotated).client_secret)];
  notEqual(secrets[0], secrets[1]);
  const stored = await clients.find(id);
  ok(stored);
  deepEqual(
    secrets.map((secret) => clients.verifySecret(stored.value, secret)),
    [true, true],
  );
  const again = dataOf(await api('POST', `/clients/${id}/rotate-secret`));
  const now = await clients.find(id);
  ok(now);
  deepEqual(
    [...secrets, String(again.client_secret)].map((secret) => clients.verifySecret(now.value, secret)),
    [false, false, true],
  );
  const answers = [
    await api('GET', `/clients/${id}`),
    await api('GET', '/clients'),
    await api('PATCH', `/clients/${id}`, { client_name: 'B' }),
    await api('PUT', `/clients/${id}`, web),
    await api('PATCH', `/clients/${id}`, { client_secret: secrets[0] }),
  ];
  const digests = stored.value.secrets.map(({ digest }) => digest);
  for (const { text } of answers) {
    for (const secret of [...secrets, ...digests]) ok(!text.includes(secret), text);
  }
  equal((await api('POST', `/clients/${id}/rotate-secret`, { overlap_seconds: -1 })).status, 400);
  const open = dataOf(await api('POST', '/clients', { ...web, client_type: 'public' }));
  equal((await api('POST', `/clients/${open.client_id}/rotate-secret`)).status, 400);
  equal((await api('POST', '/clients/none/rotate-secret')).status, 404);
});

withServer(
  'attack: hostile redirect URIs are refused by the admin API at creation and change',
  async ({ api, clients }) => {
    const { client_id: id } = dataOf(await api('POST', '/clients', web));
    const before = await clients.find(String(id));
    for (const uri of hostileUris) {
      const answers = [
        await api('POST', '/clients', { ...web, redirect_uris: [uri] }),
        await api('POST', '/clients', { ...web, application_type: 'native', redirect_uris: [uri] }),
        await api('PUT', `/clients/${id}`, { ...web, redirect_uris: [uri] }),
        await api('PATCH', `/clients/${id}`, { redirect_uris: [uri] }),
        await api('PATCH', `/clients/${id}`, { post_logout_redirect_uris: [uri] }),
      ];
      for (const answer of answers) {
        equal(answer.status, 400, JSON.stringify(uri));
        if (!uri.includes('\u0000')) match(wrongFields(answer).join(), /redirect_uris/);
      }
    }
    for (const uri of hostileLinks) {
      for (const name of ['logo_uri', 'policy_uri', 'tos_uri', 'client_uri']) {
        equal(
          (await api('PATCH', `/clients/${id}`, { [name]: uri })).status,
          400,
          `${name}: ${JSON.stringify(uri)}`,
        );
      }
    }
    deepEqual(await clients.find(String(id)), before);
    equal((await clients.query({ sort: 'created_at', order: 'asc', limit: 1 })).total, 1);
  },
);

withServer('client: every validation error is named', async ({ api }) => {
  const types = await api('POST', '/clients', {
    client_name: 5,
    redirect_uris: 'x',
    secrets: [],
    is_active: 1,
  });
  deepEqual(wrongFields(types), ['client_name', 'is_active', 'redirect_uris', 'secrets']);
  const values = { client_name: ' ', redirect_uris: ['ftp://x/'], scope: 'root', grant_types: ['implicit'] };
  const rules = await api('POST', '/clients', values);
  deepEqual([rules.status, errorOf(rules).reason], [400, 'client.invalid_metadata']);
  deepEqual(wrongFields(rules), ['client_name', 'grant_types', 'redirect_uris', 'scope']);
  deepEqual(wrongFields(await api('POST', '/clients', { client_name: 'No URI' })), ['redirect_uris']);
  deepEqual(wrongFields(await api('POST', '/clients', { ...web, contacts: ['nobody'] })), ['contacts']);
  const keyless = { ...web, token_endpoint_auth_method: 'private_key_jwt' };
  deepEqual(wrongFields(await api('POST', '/clients', keyless)), ['jwks']);
  for (const seconds of [0, -1, 29, 86_401, 1.5, '60', { $gt: 0 }]) {
    deepEqual(wrongFields(await api('POST', '/clients', { ...web, access_token_seconds: seconds })), [
      'access_token_seconds',
    ]);
  }
});

withServer('client: If-Match guards changes, secret rotation and removal', async ({ api }) => {
  const { client_id: id } = dataOf(await api('POST', '/clients', web));
  const current = (await api('PATCH', `/clients/${id}`, { client_name: 'B' })).headers.get('etag');
  equal(current, '"2"');
  const stale = { headers: { 'if-match': '"1"' } };
  for (const answer of [
    await api('PUT', `/clients/${id}`, web, stale),
    await api('PATCH', `/clients/${id}`, { client_name: 'C' }, stale),
    await api('POST', `/clients/${id}/rotate-secret`, undefined, stale),
    await api('DELETE', `/clients/${id}`, undefined, stale),
  ]) {
    equal(answer.status, 412);
  }
  equal((await api('DELETE', `/clients/${id}`, undefined, { headers: { 'if-match': '"2"' } })).status, 204);
});

withEachServer('client list: search, filters, order', async ({ api, advance }) => {
  for (const [name, type] of [
    ['Beta', 'public'],
    ['alpha', 'confidential'],
    ['Gamma 100%', 'confidential'],
  ]) {
    await api('POST', '/clients', { ...web, client_name: name, client_type: type });
    advance(1000);
  }
  const found = async (query: string): Promise<unknown[]> =>
    itemsOf(await api('GET', `/clients?${query}`)).map(({ client_name: name }) => name);
  deepEqual(await found(''), ['Gamma 100%', 'alpha', 'Beta']);
  deepEqual(await found('sort=client_name&order=asc'), ['Beta', 'Gamma 100%', 'alpha']);
  deepEqual(await found('search=BETA'), ['Beta']);
  deepEqual(await found('search=%25'), ['Gamma 100%']);
  deepEqual(await found('client_type=public'), ['Beta']);
  deepEqual(await found('created_at_from=2026-01-31T12:00:02Z'), ['Gamma 100%']);
  deepEqual(wrongFields(await api('GET', '/clients?client_secret=x&sort=secrets')), [
    'client_secret',
    'sort',
  ]);
});

withEachServer('initial access token: created, shown once, listed, revoked', async ({ api, call }) => {
  const created = await api('POST', '/initial-access-tokens', { label: 'CI', uses: 2 });
  equal(created.status, 201);
  const { token, ...shown } = dataOf(created);
  deepEqual([shown.label, shown.uses_left, shown.expires_at], ['CI', 2, '2026-02-01T12:00:00.000Z']);
  equal((await call('POST', '/oauth2/register', web, { bearer: String(token) })).status, 201);
  const list = await api('GET', '/initial-access-tokens');
  deepEqual(itemsOf(list), [{ ...shown, uses_left: 1 }]);
  ok(!list.text.includes(String(token)));
  equal((await api('DELETE', `/initial-access-tokens/${token}`)).status, 404);
  equal((await api('DELETE', `/initial-access-tokens/${shown.id}`)).status, 204);
  equal((await call('POST', '/oauth2/register', web, { bearer: String(token) })).status, 401);
  const wrong = await api('POST', '/initial-access-tokens', {
    uses: 0,
    expires_in_seconds: 1e9,
    token: 'mine',
  });
  deepEqual(wrongFields(wrong), ['expires_in_seconds', 'label', 'token', 'uses']);
});
