// Redirect URIs (RFC 9700 §2.1 and §4.1): compared character by character; an unregistered one is
// shown on an error page, never followed.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { Agent, challengeOf, type Page } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { basic, type Client, postForm } from './support.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const REGISTERED = 'https://foo.example.com/app/callback';
const client = await app.register({ redirect_uris: [REGISTERED], client_name: 'Foo' });
const alice = await app.createUser('alice');

const request = (to: Client, redirect_uri: string | undefined, more: Record<string, string> = {}) => ({
  client_id: to.id,
  redirect_uri,
  response_type: 'code',
  scope: 'openid',
  code_challenge: challengeOf('v'.repeat(43)),
  code_challenge_method: 'S256',
  ...more,
});

/** As a reader sees it: escaped, with places where an address may break. */
const text = (html: string): string =>
  html
    .replaceAll('<wbr>', '')
    .replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

function expectErrorPage(page: Page, sent: string): void {
  deepEqual([page.status, page.location], [400, undefined], sent);
  match(page.headers.get('content-type') ?? '', /^text\/html/);
  equal(page.headers.get('refresh'), null);
  ok(!/<meta[^>]+http-equiv|<form|<script(?! type="module" src="\/assets\/)/i.test(page.body), page.body);
  ok(!page.body.includes(`href="${sent}"`), 'no link to it');
}

const hostile: readonly string[] = [
  // another host that looks like it
  'https://foo.example.com.evil.example/app/callback',
  'https://evil.example/app/callback',
  'https://evil.example/https://foo.example.com/app/callback',
  'https://foo.example.com@evil.example/app/callback',
  'https://foo.example.com:443@evil.example/app/callback',
  'https://user:pw@foo.example.com/app/callback',
  'https://a@foo.example.com@evil.example/app/callback',
  'https://evil.example#@foo.example.com/app/callback',
  'https://evil.example?@foo.example.com/app/callback',
  'https://evil.example\\@foo.example.com/app/callback',
  'https://evil.example%23@foo.example.com/app/callback',
  'https:\\\\foo.example.com\\app\\callback',
  'https://foo.example.com\\.evil.example/app/callback',
  // a dot is a dot (CVE-2024-52289)
  'https://fooaexample.com/app/callback',
  'https://foo-example.com/app/callback',
  'https://fooXexampleXcom/app/callback',
  'https://sub.foo.example.com/app/callback',
  'https://example.com/app/callback',
  // the path
  'https://foo.example.com/app/callback/',
  'https://foo.example.com/app/callback/x',
  'https://foo.example.com/app/',
  'https://foo.example.com/app/callback/../callback',
  'https://foo.example.com/app/x/../callback',
  'https://foo.example.com/app/..%2Fapp/callback',
  'https://foo.example.com/app/callback/..%252f',
  'https://foo.example.com/app/..;/callback',
  'https://foo.example.com/app//callback',
  'https://foo.example.com/./app/callback',
  'https://foo.example.com/app/call%62ack',
  'https://foo.example.com/APP/callback',
  'https://foo.example.com/app/callback;x=y',
  // query and fragment
  'https://foo.example.com/app/callback?',
  'https://foo.example.com/app/callback?x=y',
  'https://foo.example.com/app/callback#',
  'https://foo.example.com/app/callback#x',
  // scheme, host and port written differently
  'HTTPS://foo.example.com/app/callback',
  'https://FOO.example.com/app/callback',
  'https://foo.example.com./app/callback',
  'https://foo.example.com:443/app/callback',
  'https://foo.example.com:8443/app/callback',
  'http://foo.example.com/app/callback',
  'https:foo.example.com/app/callback',
  'https:/foo.example.com/app/callback',
  '//foo.example.com/app/callback',
  'foo.example.com/app/callback',
  '/app/callback',
  // white space and control characters
  ' https://foo.example.com/app/callback',
  'https://foo.example.com/app/callback ',
  'https://foo.example.com/app/callback\t',
  'https://foo.example.com/app\t/callback',
  'https://foo.example.com/app/callback\n',
  'https://foo.example.com/app/callback\r\nSet-Cookie: a=b',
  'https://foo.example.com/app/callback%00',
  // other schemes
  'javascript:alert(1)//https://foo.example.com/app/callback',
  'JaVaScRiPt:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'file:///etc/passwd',
  'localhost.evil.example',
  'http://localhost/app/callback',
  'http://127.0.0.1/app/callback',
  '"><script>alert(1)</script>',
  '*',
  'https://*.example.com/app/callback',
  'x'.repeat(4000),
];

test(`attack: ${hostile.length} redirect URIs that are nearly the registered one: our page, no redirect`, async () => {
  const agent = new Agent(app);
  for (const sent of hostile) {
    const page = await agent.authorize(request(client, sent));
    expectErrorPage(page, sent);
    ok(!page.body.includes('<script>alert'), sent);
  }
  // The same with a session and with the parameters that make errors redirect.
  await agent.finish(await agent.authorize(request(client, REGISTERED)), alice);
  for (const sent of hostile) {
    for (const more of [{ prompt: 'none' }, { response_type: 'token' }, { response_mode: 'form_post' }])
      expectErrorPage(await agent.authorize(request(client, sent, more)), sent);
  }
});

test('redirect URI error: names the URI sent and where to register it', async () => {
  const sent = 'https://foo.example.com/wrong?a=1&b=<2>';
  const page = await new Agent(app).authorize(request(client, sent));
  expectErrorPage(page, sent);
  ok(text(page.body).includes(sent));
  ok(page.body.includes(client.id));
  ok(page.body.includes(`${app.url}/admin`));
});

test('redirect URI: missing, empty or repeated gets an error page', async () => {
  const agent = new Agent(app);
  expectErrorPage(await agent.authorize(request(client, undefined)), 'missing');
  expectErrorPage(await agent.authorize(request(client, '')), 'empty');
  const query = new URLSearchParams({ ...request(client, REGISTERED), redirect_uri: REGISTERED });
  query.append('redirect_uri', 'https://evil.example/');
  expectErrorPage(await agent.get(`/oauth2/authorize?${query}`), 'https://evil.example/');
});

test('attack: an unknown or missing client redirects somewhere (R005)', async () => {
  const agent = new Agent(app);
  for (const client_id of [
    'nobody',
    '',
    undefined,
    `${client.id} `,
    client.id.toUpperCase(),
    'x'.repeat(500),
  ]) {
    const page = await agent.authorize({ ...request(client, REGISTERED), client_id });
    expectErrorPage(page, REGISTERED);
  }
  const query = new URLSearchParams({ ...request(client, REGISTERED), redirect_uri: REGISTERED });
  query.append('client_id', client.id);
  expectErrorPage(await agent.get(`/oauth2/authorize?${query}`), REGISTERED);
});

test('attack: other parameters as redirect targets (R005)', async () => {
  const agent = new Agent(app);
  for (const name of [
    'return_to',
    'next',
    'continue',
    'redirect',
    'returnTo',
    'url',
    'post_logout_redirect_uri',
  ]) {
    const evil = encodeURIComponent('https://evil.example/');
    for (const path of ['authorize', 'login', 'logout', 'consent', 'device', 'onboard']) {
      const page = await agent.get(`/oauth2/${path}?${name}=${evil}`);
      ok(
        page.location === undefined || page.location.startsWith(app.url),
        `${path} ${name} ${page.location}`,
      );
      ok(!page.body.includes('href="https://evil.example'), `${path} ${name}`);
    }
  }
});

async function isTaken(to: Client, redirect_uri: string): Promise<boolean> {
  const page = await new Agent(app).authorize(request(to, redirect_uri));
  if (page.status === 200) return true;
  expectErrorPage(page, redirect_uri);
  return false;
}

test('native client: a loopback redirect URI takes any port, its path is exact (R003)', async () => {
  const native = await app.register({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['http://127.0.0.1/cb', 'http://[::1]/cb', 'com.example.app:/cb'],
  });
  for (const uri of [
    'http://127.0.0.1/cb',
    'http://127.0.0.1:49152/cb',
    'http://127.0.0.1:1/cb',
    'http://[::1]:50000/cb',
  ])
    equal(await isTaken(native, uri), true, uri);
  equal(await isTaken(native, 'com.example.app:/cb'), true);
  const refused = [
    'http://127.0.0.1:49152/cb/',
    'http://127.0.0.1:49152/other',
    'http://127.0.0.1:49152/cb?x=1',
    'https://127.0.0.1:49152/cb',
    'http://127.0.0.2:49152/cb',
    'http://localhost:49152/cb',
    'http://127.0.0.1.evil.example:49152/cb',
    'http://127.0.0.1@evil.example:49152/cb',
    'http://evil.example:49152/cb',
    'http://127.0.0.1:49152@evil.example/cb',
    'http://127.1:49152/cb',
    'http://2130706433:49152/cb',
    'http://[::ffff:127.0.0.1]:49152/cb',
    'com.example.app:/cb/x',
    'com.example.app://cb',
    'COM.example.app:/cb',
  ];
  for (const uri of refused) equal(await isTaken(native, uri), false, uri);
});

test('web client: a loopback redirect URI keeps its port (R003)', async () => {
  const web = await app.register({ redirect_uris: ['http://127.0.0.1:8080/cb', 'http://localhost:3000/cb'] });
  equal(await isTaken(web, 'http://127.0.0.1:8080/cb'), true);
  for (const uri of ['http://127.0.0.1:8081/cb', 'http://127.0.0.1/cb', 'http://localhost:3001/cb'])
    equal(await isTaken(web, uri), false, uri);
});

test('pushed request: redirect URIs are compared with the same list', async () => {
  for (const redirect_uri of hostile.slice(0, 25)) {
    const answer = await postForm(
      app,
      '/oauth2/par',
      request(client, redirect_uri) as Record<string, string>,
      basic(client),
    );
    equal(answer.status, 400, redirect_uri);
    ok(!('request_uri' in answer.body));
  }
});

test('the query of a registered address comes back byte for byte, our parameters after it', async () => {
  const queries = [
    'a=b%20c&d=~x',
    'next=/app/home:1&e',
    'n=%c3%a4&n=2&n',
    'q=!(1),x',
    'a+b=c%2Bd',
    'tenant=x&&y=',
    'state=theirs&z=%20',
  ];
  const uris = queries.map((query) => `https://bytes.example/cb?${query}`);
  const bytes = await app.register({ redirect_uris: uris, post_logout_redirect_uris: uris });
  const agent = new Agent(app);
  await agent.signIn(bytes.id, alice, { redirect_uri: uris[0] });
  for (const [index, uri] of uris.entries()) {
    const ways: readonly Record<string, string>[] = [
      { state: 's t' },
      { state: 's t', max_age: 'x' },
      { state: 's t', response_mode: 'fragment' },
    ];
    for (const more of ways) {
      const { location = '' } = await agent.authorize(request(bytes, uri, more));
      const answer = more.response_mode === 'fragment' ? new URL(location).hash : location;
      match(answer, /[#?&]state=s\+t(&|$)/, location);
      match(answer, /[#?&](code|error)=/, location);
      // A name of ours replaces theirs: two values of it could be read as either.
      const isOurs = queries[index]?.startsWith('state=') === true && more.response_mode === undefined;
      equal(location.startsWith(uri), !isOurs, location);
      if (isOurs) equal(new URL(location).searchParams.getAll('state').length, 1);
    }
    const hint = { client_id: bytes.id, post_logout_redirect_uri: uri };
    const { location = '' } = await new Agent(app).get(`/oauth2/logout?${new URLSearchParams(hint)}`);
    equal(location, uri);
  }
});
