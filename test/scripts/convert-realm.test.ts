// A realm export is converted completely, sent to the API, and its users sign in with their passwords.
import assert from 'node:assert/strict';
import { pbkdf2Sync } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hash as argon2, argon2id } from 'argon2';
import { convertRealm } from '../../scripts/realm/convert.ts';
import { Agent } from '../support/agent.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { run } from './run.ts';

const PASSWORD = 'grey herons at dawn';
const salt = Buffer.from('0123456789abcdef');

const pbkdf2Credential = (digest: string, iterations: number) => ({
  type: 'password',
  secretData: JSON.stringify({
    value: pbkdf2Sync(PASSWORD, salt, iterations, 64, digest).toString('base64'),
    salt: salt.toString('base64'),
    additionalParameters: {},
  }),
  credentialData: JSON.stringify({
    hashIterations: iterations,
    algorithm: `pbkdf2-${digest}`,
    additionalParameters: {},
  }),
});

async function argon2Credential() {
  const phc = await argon2(PASSWORD, { type: argon2id, memoryCost: 256, timeCost: 5, parallelism: 1, salt });
  const parts = phc.split('$');
  return {
    type: 'password',
    secretData: JSON.stringify({ value: parts.at(-1), salt: salt.toString('base64') }),
    credentialData: JSON.stringify({
      hashIterations: 5,
      algorithm: 'argon2',
      additionalParameters: {
        hashLength: ['32'],
        memory: ['256'],
        type: ['id'],
        version: ['1.3'],
        parallelism: ['1'],
      },
    }),
  };
}

const realmOf = async () => ({
  realm: 'acme',
  groups: [{ name: 'Staff', path: '/Staff', subGroups: [{ name: 'Board Room', path: '/Staff/Board Room' }] }],
  users: [
    {
      username: 'alice',
      email: 'alice@example.com',
      emailVerified: true,
      enabled: true,
      firstName: 'Alice',
      lastName: 'Ash',
      createdTimestamp: 1_577_934_245_000,
      attributes: { locale: ['de'] },
      credentials: [pbkdf2Credential('sha256', 1000), { type: 'otp', secretData: '{}' }],
      realmRoles: ['default-roles-acme', 'editor'],
      clientRoles: { shop: ['manager'], account: ['manage-account'] },
      groups: ['/Staff/Board Room'],
    },
    { username: 'bert', enabled: true, credentials: [await argon2Credential()], groups: ['/Staff'] },
    {
      username: 'clara',
      enabled: true,
      credentials: [
        {
          type: 'password',
          algorithm: 'pbkdf2-sha512',
          hashIterations: 500,
          salt: salt.toString('base64'),
          hashedSaltedValue: pbkdf2Sync(PASSWORD, salt, 500, 64, 'sha512').toString('base64'),
        },
      ],
    },
    {
      username: 'gone',
      enabled: false,
      credentials: [{ type: 'password', secretData: '{', algorithm: 'md5' }],
    },
    { username: 'service-account-shop', serviceAccountClientId: 'shop' },
    'nonsense',
    { username: 7 },
  ],
  clients: [
    { clientId: 'account', redirectUris: ['/realms/acme/account/*'] },
    {
      clientId: 'shop',
      name: 'Shop',
      rootUrl: 'https://shop.example.com',
      redirectUris: ['/callback', 'https://shop.example.com/*'],
      standardFlowEnabled: true,
      serviceAccountsEnabled: true,
      directAccessGrantsEnabled: false,
      publicClient: false,
      attributes: { 'post.logout.redirect.uris': 'https://shop.example.com/bye##+' },
    },
    {
      clientId: 'spa',
      publicClient: true,
      redirectUris: ['https://spa.example.com/cb'],
      protocol: 'openid-connect',
    },
    { clientId: 'old', protocol: 'saml' },
    { clientId: 'api', bearerOnly: true },
  ],
});

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-realm-'));
});
after(() => rm(folder, { recursive: true, force: true }));

test('realm import: converted, sent to the API, and users sign in', async () => {
  const source = join(folder, 'realm.json');
  const target = join(folder, 'out');
  await writeFile(source, JSON.stringify(await realmOf()));
  const { code, stdout, stderr } = await run('scripts/convert-realm.ts', [source, target], {
    env: {},
    stdin: '',
  });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^4 groups, 4 users, 2 clients, /);
  assert.deepEqual((await readdir(target)).toSorted(), [
    'clients.ndjson',
    'groups.ndjson',
    'notes.txt',
    'users-001.ndjson',
  ]);
  assert.equal((await stat(join(target, 'users-001.ndjson'))).mode & 0o077, 0, 'hashes are for nobody else');
  const read = (name: string) => readFile(join(target, name), 'utf8');
  const notes = await read('notes.txt');
  for (const told of [
    'user gone: its password',
    'user alice: 1 second factor',
    'shop.example.com/*',
    'client old',
  ])
    assert.ok(notes.includes(told), `${told}\n${notes}`);

  const app = await startApp();
  try {
    for (const [name, path] of [
      ['groups.ndjson', '/groups'],
      ['users-001.ndjson', '/users/import'],
      ['clients.ndjson', '/clients'],
    ] as const) {
      const text = await read(name);
      const bodies = path === '/users/import' ? [text] : text.trim().split('\n');
      for (const body of bodies) {
        const type = path === '/users/import' ? 'application/x-ndjson' : 'application/json';
        const answer = await fetch(`${app.url}/admin/api${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type },
          body,
        });
        const said = await answer.text();
        assert.ok(answer.status < 300 && !said.includes('"failed"'), said);
      }
    }
    const client = await app.register();
    for (const username of ['alice', 'bert', 'clara']) {
      const { response } = await new Agent(app).signIn(client.id, { username, password: PASSWORD });
      assert.ok(response.get('code'), username);
    }
    const { body } = await app.admin('GET', '/users?search=alice');
    const [alice] = body.data.items ?? [];
    assert.deepEqual(
      [alice?.groups, alice?.role, alice?.created_at, alice?.locale],
      [['role.editor', 'role.shop.manager', 'staff.board-room'], 'user', '2020-01-02T03:04:05.000Z', 'de'],
    );
    const { body: clients } = await app.admin('GET', '/clients?sort=client_name&order=asc');
    const shop = clients.data.items?.find((item) => item.client_name === 'Shop');
    assert.deepEqual(shop?.redirect_uris, ['https://shop.example.com/callback']);
    assert.deepEqual(shop?.post_logout_redirect_uris, ['https://shop.example.com/bye']);
  } finally {
    await app.stop();
  }
});

test('realm import: colliding names are distinguished, hostile ones neutralized', () => {
  const groups = ['a b', 'A-B', '../..', '__proto__', 'ä', '日本', 'x'.repeat(200)].map((name) => ({ name }));
  const names = convertRealm({ groups }).groups.map((group) => String(Reflect.get(group, 'name')));
  assert.equal(new Set(names).size, groups.length);
  for (const name of names) assert.match(name, /^[a-z0-9][a-z0-9._-]{0,63}$/);
});

test('realm import: a file that is no JSON, or no realm, is reported', async () => {
  const source = join(folder, 'broken.json');
  for (const [text, why] of [
    ['{', /^The realm could not be converted: \S+broken\.json is not JSON\./],
    ['{"realm":"acme"}', /^The realm could not be converted: \S+ has no groups, users or clients\./],
  ] as const) {
    await writeFile(source, text);
    const { code, stderr } = await run('scripts/convert-realm.ts', [source, folder]);
    assert.equal(code, 1);
    assert.match(stderr, why);
  }
});
