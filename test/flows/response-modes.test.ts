// Response modes (OAuth 2.0 Form Post Response Mode, OIDC Core §3.1.2.5): values return exactly as sent.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, codeRequest, hiddenFields, type Page, redeem, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI, startApp } from '../support/app.ts';
import { type Client, call, claimsOf } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const asking = await app.register({ skip_consent: false });
const alice = await app.createUser('alice');
const agent = new Agent(app);
await agent.signIn(client.id, alice);

const authorize = (more: Record<string, string>, to: Client = client, browser = agent): Promise<Page> =>
  browser.authorize({
    ...codeRequest(to.id),
    ...more,
  });

const texts: Readonly<Record<string, string>> = {
  '2,048 letters': 'aZ09-._~'.repeat(256),
  'every printable ASCII character': Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join(
    '',
  ),
  'letters of many scripts': 'é ü ß λ 日本語 العربية 🔑 é',
  markup: "\"><script>alert(1)</script><b a='x'>&amp;&lt;&quot;",
  'a script end in JSON': '{"a":"</script><!--"}',
  'quotes and backslashes': `\\"'\`\${x}`,
  'percent signs and pluses': '%00 %2F + %25 %zz',
  'a template': '{{ 7*7 }}{% include "x" %}',
};

for (const [what, value] of Object.entries(texts)) {
  test(`state and nonce: returned byte for byte: ${what} (R021)`, async () => {
    const page = await authorize({ state: value, nonce: value });
    equal(page.status, 303);
    const values = new URL(page.location ?? '').searchParams;
    equal(values.get('state'), value);
    const { body } = await redeem(app, client, { code: values.get('code') ?? '', verifier: VERIFIER });
    equal(claimsOf(body.id_token).nonce, value);

    const error = await authorize({ state: value, prompt: 'none' }, asking);
    equal(new URL(error.location ?? '').searchParams.get('state'), value);

    const form = await authorize({ state: value, response_mode: 'form_post' });
    equal(form.status, 200);
    equal(hiddenFields(form.body).state, value);
    ok(!form.body.includes('<script>alert'));

    // Through the sign-in page as well, where it is stored in between.
    const fresh = new Agent(app);
    const callback = await fresh.finish(await authorize({ state: value }, client, fresh), alice);
    equal(callback.searchParams.get('state'), value);
  });
}

test('form_post: the page posts the answer to the redirect URI and nowhere else', async () => {
  const page = await authorize({ state: 's', response_mode: 'form_post' });
  deepEqual([page.status, page.location], [200, undefined]);
  equal(page.headers.get('cache-control'), 'no-store');
  equal(page.headers.get('referrer-policy'), 'same-origin');
  const [form = '', ...more] = page.body.match(/<form[^>]*>/g) ?? [];
  deepEqual(more, []);
  match(form, /method="post"/);
  ok(form.includes(`action="${REDIRECT_URI}"`), form);
  const fields = hiddenFields(page.body);
  deepEqual(
    [Object.keys(fields).sort(), fields.iss, fields.state],
    [['code', 'iss', 'state'], app.issuer, 's'],
  );
  const policy = page.headers.get('content-security-policy') ?? '';
  match(policy, /form-action[^;]*https:\/\/rp\.example/);
  ok(!/script-src[^;]*'unsafe-inline'/.test(policy) && !/<script(?![^>]*\ssrc=)/.test(page.body), policy);
  const { status } = await redeem(app, client, { code: fields.code ?? '', verifier: VERIFIER });
  equal(status, 200);
});

test('form_post: errors, also after a sign-in, and a hostile state of 4 KiB', async () => {
  const hostile = '"></form><form action="https://evil.example"><script>alert(1)</script>'
    .repeat(60)
    .slice(0, 4096);
  const error = await authorize({ state: hostile, response_mode: 'form_post', prompt: 'none' }, asking);
  const fields = hiddenFields(error.body);
  deepEqual([fields.error, fields.iss, fields.code], ['consent_required', app.issuer, undefined]);
  equal(fields.state, hostile);
  equal((error.body.match(/<form/g) ?? []).length, 1);

  const fresh = new Agent(app);
  const login = await authorize({ state: hostile, response_mode: 'form_post' }, client, fresh);
  const done = await fresh.submit(login, { username: 'alice', password: 'correct horse battery staple' });
  equal(hiddenFields(done.body).state, hostile);
  ok(hiddenFields(done.body).code);
  equal((done.body.match(/<form/g) ?? []).length, 1);
  ok(!done.body.includes('<script>alert'));
});

test('fragment: the answer follows the #', async () => {
  const page = await authorize({ state: 's p', response_mode: 'fragment' });
  const url = new URL(page.location ?? '');
  equal(url.search, '');
  const values = new URLSearchParams(url.hash.slice(1));
  deepEqual([[...values.keys()].sort(), values.get('state')], [['code', 'iss', 'state'], 's p']);
});

test('redirect URI with a query: keeps it', async () => {
  const uri = 'https://rp.example/cb?tenant=a%20b&x=1';
  const own = await app.register({ redirect_uris: [uri] });
  const page = await authorize({ redirect_uri: uri, state: 's' }, own);
  const values = new URL(page.location ?? '').searchParams;
  deepEqual([values.get('tenant'), values.get('x'), values.get('state')], ['a b', '1', 's']);
  ok(values.get('code'));
});

test('oversized values: refused cleanly, and the service continues', async () => {
  for (const length of [8_000, 15_000, 17_000, 60_000]) {
    const page = await authorize({ state: 'x'.repeat(length) });
    ok(page.status === 303 || (page.status >= 400 && page.status < 500), `${length}: ${page.status}`);
    if (page.status === 303) equal(new URL(page.location ?? '').searchParams.get('state')?.length, length);
  }
  const post = await agent.post('/oauth2/authorize', { client_id: client.id, state: 'x'.repeat(60_000) });
  equal(post.status, 413);
  equal((await call(app, 'GET', '/healthz')).status, 200);
});

test('attack: header splitting by line breaks and NUL in state', async () => {
  for (const state of ['a\r\nSet-Cookie: evil=1', 'a\nb', '\u0000', 'a\u2028b']) {
    const page = await authorize({ state });
    ok(page.status === 303 || page.status === 400, String(page.status));
    ok(!page.headers.getSetCookie().some((cookie) => cookie.startsWith('evil')));
    if (page.status === 303) equal(new URL(page.location ?? '').searchParams.get('state'), state);
  }
});
