// Attack: a server that starts in development state, or half: the library's example keys and pages,
// well-known secrets, plain http on the Internet, an absent database.
import { deepEqual, doesNotMatch, equal, match, ok, throws } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { ConfigError, loadConfig } from '../../src/config/load.ts';
import { isUp, run, startServer } from '../processes/server-process.ts';
import { Agent, codeRequest, redeem } from '../support/agent.ts';
import { freePort } from '../support/free-port.ts';
import { startOwnMongoServer } from '../support/mongodb-server.ts';

const folder = await mkdtemp(join(tmpdir(), 'latchkey-unsafe-'));
after(() => rm(folder, { recursive: true, force: true }));
const SECRET_KEY = 'test-secret-key-0123456789-0123456789';

test('unsafe start: no development key, page or default of oidc-provider is in use', async () => {
  const server = await startServer({ dataDir: join(folder, 'data') });
  try {
    const client = await server.register({ grant_types: ['authorization_code', 'refresh_token'] });
    await server.createUser('alice');
    const agent = new Agent(server);
    const tokens = await redeem(server, client, await agent.signIn(client.id, { username: 'alice' }));
    equal(tokens.status, 200);
    await agent.authorize({ ...codeRequest(client.id), resource: 'https://api.example' });
    await agent.authorize({ ...codeRequest(client.id), prompt: 'none', acr_values: 'x', claims: '{}' });
    for (const path of ['/oauth2/logout', '/oauth2/device', '/oauth2/me', '/oauth2/reg'])
      await agent.get(path);
    for (const path of [
      '/oauth2/interaction/x',
      '/oauth2/interaction/x/login',
      '/interaction/x',
      '/oauth2/session/end',
    ])
      equal((await agent.get(path)).status, 404, path);
    const { keys } = JSON.parse(await (await fetch(`${server.url}/.well-known/jwks.json`)).text());
    for (const { kid } of keys) doesNotMatch(String(kid), /CHANGE|dev|test/i);
    doesNotMatch(server.output(), /oidc-provider|WARNING|NOTICE|development-only/);
  } finally {
    await server.stop('SIGKILL');
  }
});

const unsafe: Readonly<Record<string, readonly [Record<string, string>, RegExp]>> = {
  'plain http on the Internet': [{ BASE_URL: 'http://id.example.com' }, /BASE_URL/],
  'an issuer of plain http': [
    { BASE_URL: 'https://id.example.com', ISSUER: 'http://id.example.com' },
    /ISSUER/,
  ],
  'a short SECRET_KEY': [{ SECRET_KEY: 'secret' }, /SECRET_KEY/],
  'an empty one in the list of SECRET_KEYs': [{ SECRET_KEY: `${SECRET_KEY},` }, /SECRET_KEY/],
  'short COOKIE_KEYS': [{ COOKIE_KEYS: 'keyboard cat' }, /COOKIE_KEYS/],
  'COOKIE_KEYS of nothing': [{ COOKIE_KEYS: ',' }, /COOKIE_KEYS/],
  'a short ADMIN_TOKEN': [{ ADMIN_TOKEN: 'changeme' }, /ADMIN_TOKEN/],
  'MongoDB without a SECRET_KEY that all processes share': [
    { MONGODB_URI: 'mongodb://localhost/x' },
    /SECRET_KEY/,
  ],
  'Redis as the only store': [{ REDIS_URL: 'redis://localhost' }, /MONGODB_URI/],
};
for (const [name, [env, named]] of Object.entries(unsafe)) {
  test(`unsafe start is refused: ${name}`, () => {
    throws(
      () => loadConfig({ DATA_DIR: join(folder, 'never'), ...env }),
      (error) => error instanceof ConfigError && error.problems.some((problem) => named.test(problem)),
    );
  });
}

test('unsafe start: no usable secret is shipped, and none is generated twice', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const compose = await readFile(join(root, 'compose.yaml'), 'utf8');
  for (const [, name = '', value = ''] of compose.matchAll(/(\w*(?:SECRET|TOKEN|PASSWORD|KEYS?)\w*): *(.*)/g))
    match(value, /^(?:\$\{\w+:\?.*\}|["']?\$\{\w+\}["']?|)$/, `${name}: ${value}`);
  const app: { env?: Record<string, { value?: string; generator?: string }> } = JSON.parse(
    await readFile(join(root, 'app.json'), 'utf8'),
  );
  for (const [name, { value }] of Object.entries(app.env ?? {}))
    if (/SECRET|TOKEN|PASSWORD|KEY/.test(name)) equal(value, undefined, name);
  const generated = ['one', 'two'].map((one) => loadConfig({ DATA_DIR: join(folder, one) }));
  ok(generated[0]?.secretKeys[0] !== generated[1]?.secretKeys[0]);
  ok(generated[0]?.cookieKeys[0] !== generated[1]?.cookieKeys[0]);
  deepEqual(
    generated.map(({ adminToken, admin }) => [adminToken, admin]),
    [
      [undefined, undefined],
      [undefined, undefined],
    ],
  );
});

test('attack: a deployment by compose.yaml reached from the network, or changed by an image', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
  const { services }: { services: Record<string, { image?: string; ports?: string[]; build?: string }> } =
    parse(await read('compose.yaml'), { merge: true });
  const named = Object.entries(services);
  ok(named.length > 5);
  for (const [name, { image, build, ports = [] }] of named) {
    // Docker publishes a port without an address on all of them, past the machine's firewall.
    for (const port of ports) match(String(port), /^127\.0\.0\.1:\d+:\d+$/, name);
    if (build === undefined) match(image ?? '', /^[\w/-]+:v?\d+\.\d+\.\d+$/, `${name}: ${image}`);
  }
  deepEqual(
    named.filter(([, { ports }]) => ports !== undefined).map(([name]) => name),
    ['proxy', 'mail'],
  );
  // The versions that are tested.
  const tested = await read('.github/workflows/ci.yml');
  for (const name of ['mongo', 'redis']) ok(tested.includes(`image: ${services[name]?.image}\n`), name);
  const { devDependencies }: { devDependencies: Record<string, string> } = JSON.parse(
    await read('package.json'),
  );
  for (const [, image = ''] of (await read('Dockerfile')).matchAll(/^FROM (\S+)/gm))
    equal(image, `node:${devDependencies.node}-bookworm-slim`);
});

test('attack: SECRET_KEY of .env in a published image or repository', async () => {
  const root = join(import.meta.dirname, '..', '..');
  for (const path of ['.gitignore', '.dockerignore']) {
    const lines = (await readFile(join(root, path), 'utf8')).split('\n');
    for (const line of ['.env', '.env.*', ...(path === '.gitignore' ? ['data/'] : ['data', '.git'])])
      ok(lines.includes(line), `${path} does not name ${line}`);
  }
});

test('unsafe start: database away, exits with 1 and one line, starts once it is back', async (t) => {
  const mongo = await startOwnMongoServer();
  try {
    const env = { MONGODB_URI: mongo.freshUri(), SECRET_KEY };
    await mongo.kill();
    const port = await freePort();
    const child = run({ ...env, PORT: String(port), HOST: '127.0.0.1' });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk) => {
        output += String(chunk);
      });
    const [code] = await once(child, 'close');
    equal(code, 1, output);
    match(output, /MongoDB cannot be reached/);
    doesNotMatch(output, /\n\s+at .*\.ts:\d+/);
    equal(await isUp(port), false);
    await mongo.restart();
    const started = performance.now();
    const server = await startServer({ dataDir: join(folder, 'none'), env });
    const elapsed = performance.now() - started;
    equal((await fetch(`${server.url}/readyz`)).status, 200);
    await server.stop('SIGKILL');
    // Not asserted on a shared machine; startServer itself waits so long and no longer.
    t.diagnostic(`up after ${Math.round(elapsed)} ms`);
  } finally {
    await mongo.stop();
  }
});
