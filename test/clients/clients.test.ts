// The client registry on both stores: secrets, rotation, parallel changes, removal, initial access tokens.
import { deepEqual, equal, match, notEqual, ok, rejects } from 'node:assert/strict';
import { applicationDefaults } from '../../src/admin/resources/clients/application-templates.ts';
import { secretDigest } from '../../src/ids.ts';
import { consents } from '../../src/store/collections.ts';
import { grants } from '../../src/store/protocol-collections.ts';
import { withEachServer, withServer } from '../admin/support.ts';

const web = { client_name: 'Acme', redirect_uris: ['https://app.example.com/callback'] };
const refusal = (code: string) => ({ name: 'AppError', code });

withEachServer(
  'client secret: 256 bits, shown once, stored as a digest, compared whole',
  async ({ clients }) => {
    const { client, clientSecret = '' } = await clients.create({ metadata: web, origin: 'admin' });
    match(clientSecret, /^[\w-]{43}$/);
    const stored = await clients.find(client.id);
    ok(stored);
    ok(!JSON.stringify(stored).includes(clientSecret));
    deepEqual(
      stored.value.secrets.map(({ digest }) => digest),
      [secretDigest(clientSecret)],
    );
    equal(clients.verifySecret(stored.value, clientSecret), true);
    for (const wrong of [
      '',
      clientSecret.slice(1),
      `${clientSecret}x`,
      secretDigest(clientSecret),
      'undefined',
    ]) {
      equal(clients.verifySecret(stored.value, wrong), false, wrong);
    }
    const other = await clients.create({ metadata: web, origin: 'admin' });
    notEqual(other.clientSecret, clientSecret);
    equal(clients.verifySecret(other.client.value, clientSecret), false);
  },
);

withEachServer('client secret rotation: immediate by default, with an overlap on request', async (world) => {
  const { clients, advance } = world;
  const { client, clientSecret: first = '' } = await clients.create({ metadata: web, origin: 'admin' });
  const works = async (...secrets: string[]): Promise<boolean[]> => {
    const record = (await clients.find(client.id))?.value;
    return secrets.map((secret) => record !== undefined && clients.verifySecret(record, secret));
  };
  const { clientSecret: second } = await clients.rotateSecret(client.id);
  deepEqual(await works(first, second), [false, true]);
  advance(1);
  const { clientSecret: third } = await clients.rotateSecret(client.id, { overlapSeconds: 60 });
  deepEqual(await works(second, third), [true, true]);
  advance(59_999);
  deepEqual(await works(second, third), [true, true]);
  advance(1);
  deepEqual(await works(second, third), [false, true]);
  const { clientSecret: fourth } = await clients.rotateSecret(client.id, { overlapSeconds: 60 });
  advance(10);
  const { clientSecret: fifth } = await clients.rotateSecret(client.id, { overlapSeconds: 60 });
  deepEqual(await works(third, fourth, fifth), [false, true, true], 'never more than two');
  await rejects(clients.rotateSecret('unknown'), refusal('client.not_found'));
});

withServer('client: public and private_key_jwt ones have no secret', async ({ clients }) => {
  const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' }] };
  for (const metadata of [
    { ...web, token_endpoint_auth_method: 'none' },
    { ...web, token_endpoint_auth_method: 'private_key_jwt', jwks },
  ]) {
    const { client, clientSecret } = await clients.create({ metadata, origin: 'admin' });
    deepEqual([clientSecret, client.value.secrets], [undefined, []]);
    await rejects(clients.rotateSecret(client.id), refusal('client.invalid_metadata'));
  }
});

withServer(
  'client: changing the authentication method creates or removes the secret',
  async ({ clients }) => {
    const { client, clientSecret = '' } = await clients.create({ metadata: web, origin: 'admin' });
    const change = (token_endpoint_auth_method: string) =>
      clients.update(client.id, {
        metadata: { token_endpoint_auth_method },
        mode: 'merge',
        authority: 'administrator',
      });
    const asPost = await change('client_secret_post');
    equal(asPost.clientSecret, undefined);
    equal(clients.verifySecret(asPost.client.value, clientSecret), true);
    const asPublic = await change('none');
    deepEqual([asPublic.client.value.clientType, asPublic.client.value.secrets], ['public', []]);
    const again = await change('client_secret_basic');
    equal(again.client.value.clientType, 'confidential');
    equal(clients.verifySecret(again.client.value, again.clientSecret ?? ''), true);
    equal(clients.verifySecret(again.client.value, clientSecret), false);
  },
);

withEachServer('client: parallel changes of different fields are all kept', async ({ clients }) => {
  const { client } = await clients.create({ metadata: web, origin: 'admin' });
  const changes = [
    { metadata: { client_uri: 'https://app.example.com/' } },
    { metadata: { logo_uri: 'https://app.example.com/logo.png' } },
    { metadata: { tos_uri: 'https://app.example.com/tos' } },
    { settings: { skip_consent: true } },
    { settings: { access_token_seconds: 60 } },
  ];
  await Promise.all(
    changes.map((change) =>
      clients.update(client.id, { ...change, mode: 'merge', authority: 'administrator' }),
    ),
  );
  const stored = await clients.find(client.id);
  ok(stored);
  const { metadata, skipConsent, accessTokenSeconds } = stored.value;
  ok(metadata.client_uri && metadata.logo_uri && metadata.tos_uri);
  deepEqual([skipConsent, accessTokenSeconds, stored.version], [true, 60, 6]);
  await rejects(
    clients.update(client.id, { mode: 'merge', authority: 'administrator', ifVersion: 5 }),
    refusal('account.changed'),
  );
});

withEachServer(
  'client: of parallel changes to one version one succeeds, the rest are refused',
  async (world) => {
    const { clients } = world;
    const { client } = await clients.create({ metadata: web, origin: 'admin' });
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, at) =>
        clients.update(client.id, {
          settings: { access_token_seconds: 100 + at },
          mode: 'merge',
          authority: 'administrator',
          ifVersion: 1,
        }),
      ),
    );
    const refusals = results.filter((result) => result.status === 'rejected');
    equal(refusals.length, 9);
    for (const { reason } of refusals) equal(reason.code, 'account.changed');
    equal((await clients.find(client.id))?.version, 2);
  },
);

withEachServer('client: removal and deactivation end everything granted to it', async (world) => {
  const { clients, store } = world;
  const { client } = await clients.create({ metadata: web, origin: 'admin' });
  const given = store.collection(grants);
  const agreed = store.collection(consents);
  const give = async (): Promise<void> => {
    await given.put('a-grant', { clientId: client.id, accountId: 'alice' });
    const consent = {
      accountId: 'alice',
      clientId: client.id,
      scopes: [],
      claims: [],
      createdAt: 0,
      updatedAt: 0,
    };
    await agreed.put(`alice:${client.id}`, consent);
  };
  await give();
  await clients.update(client.id, {
    settings: { is_active: false },
    mode: 'merge',
    authority: 'administrator',
  });
  equal(await given.find('a-grant'), undefined);
  await give();
  await clients.remove(client.id);
  equal(await clients.find(client.id), undefined);
  equal(await given.find('a-grant'), undefined);
  equal(await agreed.find(`alice:${client.id}`), undefined);
  await rejects(clients.remove(client.id), refusal('client.not_found'));
});

withEachServer(
  'attack: initial access token overuse; of 50 parallel calls only its uses succeed',
  async ({ clients }) => {
    const { initialAccessTokens } = clients;
    const { token } = await initialAccessTokens.create({ label: 'race', uses: 3, expiresInSeconds: 60 });
    const taken = await Promise.all(Array.from({ length: 50 }, () => initialAccessTokens.consume(token)));
    equal(taken.filter(Boolean).length, 3);
    equal(await initialAccessTokens.findUsable(token), undefined);
    equal(await initialAccessTokens.consume('unknown'), false);
  },
);

withEachServer('initial access token: expired or withdrawn is refused; stored as a digest', async (world) => {
  const { clients, advance } = world;
  const { initialAccessTokens } = clients;
  const { token, initialAccessToken } = await initialAccessTokens.create({
    label: 'short',
    uses: 5,
    expiresInSeconds: 60,
  });
  const all = { sort: 'created_at', order: 'asc', limit: 10 } as const;
  ok(!JSON.stringify(await initialAccessTokens.query(all)).includes(token));
  advance(59_999);
  ok(await initialAccessTokens.findUsable(token));
  equal(await initialAccessTokens.findUsable(initialAccessToken.id), undefined);
  advance(1);
  equal(await initialAccessTokens.consume(token), false);
  const second = await initialAccessTokens.create({ label: 'gone', uses: 5, expiresInSeconds: 60 });
  await initialAccessTokens.remove(second.initialAccessToken.id);
  equal(await initialAccessTokens.consume(second.token), false);
  await rejects(initialAccessTokens.remove(second.initialAccessToken.id), refusal('token.not_found'));
});

withServer('client: a chosen id is for built-in clients only', async ({ clients }) => {
  await rejects(clients.create({ metadata: web, origin: 'admin', clientId: 'mine' }), TypeError);
  await rejects(clients.create({ metadata: { ...web, client_id: 'mine' }, origin: 'registration' }), {
    code: 'client.invalid_metadata',
  });
  equal((await clients.create({ metadata: web, origin: 'seed', clientId: 'ours' })).client.id, 'ours');
});

withServer('client: the defaults of the four kinds are accepted', async ({ clients }) => {
  const redirect_uris = ['https://app.example.com/callback'];
  for (const kind of ['web', 'spa', 'native', 'machine'] as const) {
    const metadata = { ...applicationDefaults(kind), ...(kind !== 'machine' && { redirect_uris }) };
    const { client, clientSecret } = await clients.create({ metadata, origin: 'registration' });
    const isPublic = kind === 'spa' || kind === 'native';
    equal(client.value.clientType, isPublic ? 'public' : 'confidential', kind);
    equal(clientSecret === undefined, isPublic, kind);
  }
  const copy = applicationDefaults('web');
  copy.scope = 'changed';
  notEqual(applicationDefaults('web').scope, 'changed');
});
