// Attack: stealing a cookie by script, another host, plain http, or an address or page that contains it.
// Every cookie of a whole sign-in is examined, with http and https.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Agent, hiddenFields, type Page, redeem } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { honestRequest } from './sign-in-form.ts';

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly attributes: ReadonlyMap<string, string>;
}

function parse(line: string): Cookie {
  const [pair = '', ...rest] = line.split(';').map((part) => part.trim());
  const equals = pair.indexOf('=');
  const attributes = rest.map((item): [string, string] => {
    const [name = '', value = ''] = item.split('=');
    return [name.toLowerCase(), value];
  });
  return { name: pair.slice(0, equals), value: pair.slice(equals + 1), attributes: new Map(attributes) };
}

/** Everything that a person meets, and every answer on the way. */
async function wholeLife(app: TestApp, publicUrl: string): Promise<Page[]> {
  const client = await app.register({ skip_consent: false });
  await app.createUser('alice');
  const browser = new Agent(app, { publicUrl });
  const seen: Page[] = [];
  const request = browser.request.bind(browser);
  browser.request = async (target, init) => {
    const page = await request(target, init);
    seen.push(page);
    return page;
  };
  const onboarding = await browser.get(`${publicUrl}/onboard`);
  const person = { username: 'root-admin', password: PASSWORD, confirm_password: PASSWORD };
  await browser.post(`${publicUrl}/oauth2/onboard`, { ...hiddenFields(onboarding.body), ...person });
  await browser.follow(await browser.get(`${publicUrl}/admin`));
  await browser.signIn(client.id, { username: 'alice' }, { prompt: 'login' });
  const authorization = await browser.signIn(client.id, { username: 'alice' });
  assert.equal((await redeem(app, client, authorization)).status, 200);
  await browser.get(`${publicUrl}/oauth2/device`);
  await browser.authorize({ ...honestRequest(client.id), prompt: 'none' });
  await browser.get(`${publicUrl}/oauth2/logout`);
  return seen;
}

for (const [scheme, publicUrl] of [
  ['http', undefined],
  ['https', 'https://id.example'],
  ['https', 'https://id.example/auth'],
] as const) {
  suite(`attack: stolen cookies of a sign-in at ${publicUrl ?? 'http'}`, () => {
    test('are readable by no one else and appear nowhere else', async (t) => {
      const path = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
      const env = publicUrl === undefined ? {} : { env: { BASE_URL: publicUrl } };
      const app = await startApp({ ...env, path });
      t.after(() => app.stop());
      const pages = await wholeLife(app, publicUrl ?? app.url);
      const cookies = pages.flatMap(({ headers }) => headers.getSetCookie().map(parse));
      const names = new Set(cookies.map(({ name }) => name));
      assert.ok(names.size >= 6, [...names].join());

      for (const { name, value, attributes } of cookies) {
        const of = (attribute: string) => attributes.get(attribute);
        assert.ok(attributes.has('httponly'), name);
        // No other site's link leads an administrator anywhere.
        const sameSite = name.endsWith('latchkey_admin') ? 'strict' : 'lax';
        assert.equal(of('samesite')?.toLowerCase(), sameSite, name);
        assert.equal(attributes.has('secure'), scheme === 'https', name);
        assert.equal(of('domain'), undefined, name);
        assert.ok(name.length + value.length <= 4096, name);
        if (scheme !== 'https') assert.match(name, /^latchkey_/);
        else if (/session|browser|admin|known|language|method|past|people/.test(name)) {
          assert.match(name, /^__Host-/);
          assert.equal(of('path'), '/', name);
        } else {
          assert.match(name, /^__Secure-/);
          assert.ok(of('path')?.startsWith(`${path}/oauth2/`), `${name} ${of('path')}`);
        }
      }

      // A value that signs someone in is in the Cookie headers and nowhere else.
      const secrets = cookies.filter(
        ({ name, value }) => /session|browser|admin|known/.test(name) && value.length > 20,
      );
      assert.ok(secrets.length > 0);
      for (const { name, value } of secrets) {
        for (const page of pages) {
          assert.equal(page.body.includes(value), false, `${name} in the page at ${page.url}`);
          assert.equal(`${page.url} ${page.location}`.includes(value), false, `${name} in an address`);
        }
      }
    });
  });
}

test('sign-out: the session cookie is cleared with its name and path', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const client = await app.register();
  await app.createUser('alice');
  const browser = new Agent(app);
  await browser.signIn(client.id, { username: 'alice' });
  const cookies = browser.cookiesFor('/');
  const page = await browser.get('/oauth2/logout');
  const gone = page.headers.getSetCookie().map(parse);
  const session = gone.find(({ name }) => name === 'latchkey_session');
  assert.deepEqual([session?.value, session?.attributes.get('path')], ['', '/']);
  // And it would not help to keep it.
  browser.plant(cookies);
  const silent = await browser.authorize({ ...honestRequest(client.id), prompt: 'none' });
  assert.match(silent.location ?? '', /error=login_required/);
});
