// Sign-ins in two tabs of one browser, the second by another person: whoever authenticated last is signed in (decision 0011), and no
// page that the library renders by itself is ever seen.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { Agent, codeRequest, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { claimsOf, isActive, tokensOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register({ client_name: 'First' });
const other = await app.register({ client_name: 'Second' });
const [ada, ben, cay] = [
  await app.createUser('ada'),
  await app.createUser('ben'),
  await app.createUser('cay'),
];

const open = (agent: Agent, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...codeRequest(client.id), ...more });

async function whoIs(agent: Agent): Promise<unknown> {
  const {
    code = '',
    response,
    verifier,
  } = await agent.signIn(other.id, { username: 'nobody' }, { prompt: 'none' });
  ok(response.has('code'), String(response));
  return claimsOf((await redeem(app, other, { code, verifier })).body.id_token).sub;
}

for (const [what, first] of [
  ['both opened before', {}],
  ['the first with prompt=login', { prompt: 'login' }],
] as const) {
  test(`two tabs, the second signs in another person, ${what}: that one is signed in`, async () => {
    const agent = new Agent(app);
    const second = await open(agent);
    const tokens = await tokensOf(app, other, ada, first, agent);
    equal(await whoIs(agent), ada.id);
    const url = await agent.finish(second, ben);
    const { body } = await redeem(app, client, {
      code: url.searchParams.get('code') ?? '',
      verifier: VERIFIER,
    });
    equal(claimsOf(body.id_token).sub, ben.id);
    equal(await whoIs(agent), ben.id);
    // As with prompt=login: the session of before ends, and what was born in it.
    equal(await isActive(app, tokens.refresh_token), false);
    equal(await isActive(app, body.refresh_token), true);
  });
}

test('two tabs, the second opened in a session that another person took over meanwhile', async () => {
  for (const last of [ben, cay]) {
    const agent = new Agent(app);
    await tokensOf(app, other, ada, {}, agent);
    const stale = await open(agent, { prompt: 'login' });
    const between = await open(agent, { prompt: 'login' });
    await agent.finish(between, ben);
    equal(await whoIs(agent), ben.id);
    const url = await agent.finish(stale, last);
    ok(url.searchParams.has('code'), url.href);
    equal(await whoIs(agent), last.id, last.username);
  }
});

test('two tabs, the same person in both: one session, which both applications have', async () => {
  const agent = new Agent(app);
  const second = await open(agent);
  const tokens = await tokensOf(app, other, ada, {}, agent);
  ok((await agent.finish(second, ada)).searchParams.has('code'));
  equal(await isActive(app, tokens.refresh_token), true);
});

/** Where the library renders HTML, and what comes of it here. */
const RENDERED: Readonly<Record<string, string>> = {
  'actions/code_verification.js':
    'the form of a link with a code: filled in, not sent (provider-middleware.ts)',
  'actions/end_session.js': 'the sign-out: a route of ours (logout/logout.ts)',
  'actions/interaction.js': 'development alone: off (devInteractions)',
  'actions/authorization/resume.js':
    'another account in the session: that session ends first (models/interaction.ts)',
  'helpers/defaults.js': 'pages by configuration: ours (configuration.ts), or of a route of ours',
  'response_modes/form_post.js': 'the form itself: our page, or an error (provider-middleware.ts)',
  'response_modes/web_message.js': 'a response mode that is off',
  'views/layout.js': 'the frame of the pages for development',
};

test('a link to the device page with two codes: no form that sends itself', async () => {
  const page = await new Agent(app).get('/oauth2/device?user_code=AAAA-AAAA&user_code=BBBB-BBBB');
  ok(!page.body.includes('Submitting Callback'), page.body);
});

test('the library: every place that renders a page by itself is known', () => {
  const lib = new URL('../../node_modules/oidc-provider/lib/', import.meta.url);
  const rendering = readdirSync(lib, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .filter((name) =>
      /formPost\(ctx|<!DOCTYPE html|type = 'html'/.test(readFileSync(new URL(name, lib), 'utf8')),
    );
  deepEqual(rendering.sort(), Object.keys(RENDERED).sort());
});
