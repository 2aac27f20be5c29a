// Attack: one pushed authorization request used many times at once (RFC 9126 §4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, challengeOf, hiddenFields } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { atOnce, sized } from './sizes.ts';

const PARALLEL = sized(50, 100);
const ROUNDS = sized(1, 50);

async function push(app: TestApp, client: { id: string; secret: string }): Promise<string> {
  const response = await fetch(`${app.url}/oauth2/par`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    body: new URLSearchParams({
      client_id: client.id,
      response_type: 'code',
      scope: 'openid',
      redirect_uri: REDIRECT_URI,
      state: 'pushed',
      code_challenge: challengeOf('v'.repeat(43)),
      code_challenge_method: 'S256',
    }),
  });
  assert.equal(response.status, 201);
  const { request_uri: uri }: { request_uri: string } = JSON.parse(await response.text());
  return uri;
}

const codeOf = (location: string | undefined): string | null =>
  location?.startsWith(REDIRECT_URI) === true ? new URL(location).searchParams.get('code') : null;

test(`race: one request_uri, ${PARALLEL} tabs of a signed-in browser: one code`, async (t) => {
  const app = await startApp({ store: 'sqlite' });
  t.after(() => app.stop());
  const client = await app.register();
  await app.createUser('alice');
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: 'alice' });

  for (let round = 0; round < ROUNDS; round += 1) {
    const parameters = { client_id: client.id, request_uri: await push(app, client) };
    const pages = await atOnce(PARALLEL, () => browser.authorize(parameters));
    const codes = pages.map(({ location }) => codeOf(location)).filter((code) => code !== null);
    assert.equal(codes.length, 1, `round ${round}: ${codes.length} codes`);
    assert.equal(codeOf((await browser.authorize(parameters)).location), null);
  }
});

test('race: one request_uri, many strangers: at most one gets a code', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const client = await app.register();
  await app.createUser('alice');
  const parameters = { client_id: client.id, request_uri: await push(app, client) };
  const ends = await atOnce(10, async () => {
    const browser = new Agent(app);
    const page = await browser.authorize(parameters);
    if (!page.body.includes('name="password"')) return null;
    const fields = { ...hiddenFields(page.body), username: 'alice', password: PASSWORD };
    const end = await browser.follow(await browser.post('/oauth2/login', fields));
    return codeOf(end.location);
  });
  assert.equal(ends.filter((code) => code !== null).length, 1);
});

test('attack: a request_uri of another client', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const [mine, other] = [
    await app.register(),
    await app.register({ redirect_uris: ['https://other.example/callback'] }),
  ];
  const browser = new Agent(app);
  await app.createUser('alice');
  await browser.signIn(mine.id, { username: 'alice' });
  const page = await browser.authorize({ client_id: other.id, request_uri: await push(app, mine) });
  // An error may go to where the asking client is registered, never to where the other one is.
  assert.equal(page.location?.startsWith(REDIRECT_URI) ?? false, false);
  assert.doesNotMatch(page.location ?? '', /[?&]code=/);
  assert.doesNotMatch(page.body, /name="password"/);
});
