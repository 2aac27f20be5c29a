// Rate limits over real HTTP against attackers with many addresses, spellings, processes, or a broken store.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSignIn, PASSWORD_GRANT, passwordGrant, type SignInForm } from '../attacks/sign-in-form.ts';
import { Agent } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp, type TestApp } from '../support/app.ts';

const WRONG = 'not the password';
const FAR = '198.51.100.7';

let app: TestApp;
let client: { id: string; secret: string };
let form: SignInForm;
let cookies: string;

before(async () => {
  // One proxy in front, which appends the address it sees: the last entry of the header is the caller.
  app = await startApp({ store: 'sqlite', env: { TRUST_PROXY: '1' } });
  client = await app.register({ grant_types: [...PASSWORD_GRANT.grant_types] });
  await app.createUser('alice');
  form = await openSignIn(app, client.id);
  cookies = form.browser.cookiesFor('/oauth2/login');
});
after(() => app.stop());

let networks = 0;
/** An address that no test has used. */
const freshAddress = (): string => {
  networks += 1;
  return `203.0.113.${networks}`;
};

async function setLimits(limits: Record<string, number>): Promise<void> {
  const { status, body } = await app.admin('PATCH', '/settings', limits);
  assert.equal(status, 200, JSON.stringify(body));
}

const from = (address: string): RequestInit => ({ headers: { 'x-forwarded-for': address } });

/** Each time in a browser that no account knows: known ones are let past these limits (decision 0012). */
function signIn(address: string, username: string, password = WRONG) {
  const browser = new Agent(app);
  browser.plant(cookies);
  return browser.post('/oauth2/login', { ...form.hidden, username, password }, from(address));
}

const statuses = async (count: number, act: (index: number) => Promise<{ status: number }>) => {
  const all: number[] = [];
  for (let index = 0; index < count; index += 1) all.push((await act(index)).status);
  return all;
};

const guessToken = (address: string, path = '/oauth2/token'): Promise<Response> =>
  fetch(app.url + path, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.id}:wrong`)}`, 'x-forwarded-for': address },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });

test('attack: guessing passwords from one network; 429 with Retry-After, correct ones too', async () => {
  await setLimits({ limit_login_ip: 3, lockout_threshold: 100 });
  const address = freshAddress();
  assert.deepEqual(await statuses(3, (index) => signIn(address, `nobody-${index}`)), [401, 401, 401]);
  const page = await signIn(address, 'alice', PASSWORD);
  assert.equal(page.status, 429);
  assert.match(page.body, /Too many attempts/);
  const seconds = Number(page.headers.get('retry-after'));
  assert.ok(seconds > 590 && seconds <= 600, `Retry-After: ${seconds}`);
  assert.equal((await signIn(freshAddress(), 'alice', PASSWORD)).status, 303, 'elsewhere it goes on');
  app.advance(601_000);
  assert.equal((await signIn(address, 'alice', PASSWORD)).status, 303, 'and here after the window');
});

test('rate limit: successful sign-ins are returned, so an office is not limited', async () => {
  await setLimits({ limit_login_ip: 2, limit_login_account_ip: 2 });
  const address = freshAddress();
  const all = await statuses(8, () => signIn(address, 'alice', PASSWORD));
  assert.deepEqual(new Set(all), new Set([303]));
  const parallel = await Promise.all(Array.from({ length: 2 }, () => signIn(address, 'alice', PASSWORD)));
  assert.deepEqual(
    parallel.map(({ status }) => status),
    [303, 303],
  );
});

test('attack: thirty parallel guesses; no more than the remaining are evaluated', async () => {
  await setLimits({ limit_login_ip: 5, limit_login_account_ip: 0 });
  const address = freshAddress();
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => signIn(address, `none-${index}`)),
  );
  const judged = answers.filter(({ status }) => status === 401);
  const refused = answers.filter(({ status }) => status === 429);
  assert.deepEqual([judged.length, refused.length], [5, 25]);
});

test('attack: guessing one name from one network; its spellings count together, others sign in', async () => {
  await setLimits({ limit_login_ip: 0, limit_login_account_ip: 4, lockout_threshold: 100 });
  const address = freshAddress();
  const spellings = ['alice', 'ALICE', '\uff21lice', ' alice '];
  assert.deepEqual(
    await statuses(4, (index) => signIn(address, spellings[index] ?? '')),
    [401, 401, 401, 401],
  );
  assert.equal((await signIn(address, 'Alice', PASSWORD)).status, 429);
  assert.equal((await signIn(address, 'bob')).status, 401, 'another name');
  assert.equal((await signIn(FAR, 'alice', PASSWORD)).status, 303);
});

test('attack: the same limit at the password grant', async () => {
  await setLimits({ limit_login_ip: 3, limit_login_account_ip: 0, limit_token_ip: 0 });
  // No proxy here: the grant comes from this machine.
  assert.deepEqual(await statuses(3, () => passwordGrant(app, client, 'alice', WRONG)), [400, 400, 400]);
  const refused = await passwordGrant(app, client, 'alice');
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  const body: { error?: string } = JSON.parse(await refused.text());
  assert.equal(body.error, 'temporarily_unavailable');
  app.advance(601_000);
});

test('attack: an invented X-Forwarded-For before the proxy’s own entry', async () => {
  await setLimits({ limit_login_ip: 3, limit_login_account_ip: 0 });
  const address = freshAddress();
  const lies = [
    `10.0.0.1, ${address}`,
    `1.2.3.4,5.6.7.8, ${address}`,
    `${'9.9.9.9, '.repeat(200)}${address}`,
  ];
  assert.deepEqual(await statuses(3, (index) => signIn(lies[index] ?? '', `x-${index}`)), [401, 401, 401]);
  assert.equal((await signIn(`8.8.8.8, ${address}`, 'x')).status, 429);
});

test('attack: X-Forwarded-For without a trusted proxy', async () => {
  const bare = await startApp({ limits: 'shipped' });
  try {
    await bare.admin('PATCH', '/settings', { limit_admin_failures_ip: 3 });
    const guess = (address: string) =>
      fetch(`${bare.url}/admin/api/users`, {
        headers: { authorization: 'Bearer wrong', 'x-forwarded-for': address },
      });
    assert.deepEqual(await statuses(4, (index) => guess(`203.0.113.${index}`)), [401, 401, 401, 429]);
  } finally {
    await bare.stop();
  }
});

test('attack: garbage as an address; it counts as the proxy’s address', async () => {
  await setLimits({ limit_login_ip: 3, limit_login_account_ip: 0 });
  app.advance(601_000);
  const garbage = ['a', '999.1.1.1', '::g', 'unknown', '-', 'fe80::1%eth0'];
  const all = await statuses(garbage.length, (index) => signIn(garbage[index] ?? '', `g-${index}`));
  assert.deepEqual(all, [401, 401, 401, 429, 429, 429]);
  app.advance(601_000);
});

test('attack: another address of the same IPv6 /64 for every guess', async () => {
  await setLimits({ limit_login_ip: 3, limit_login_account_ip: 0 });
  const hosts = ['2001:db8:7:1::1', '2001:DB8:7:1:ffff::2', '2001:db8:7:1:a:b:c:d', '[2001:db8:7:1::4]:4711'];
  const all = await statuses(4, (index) => signIn(hosts[index] ?? '', `six-${index}`));
  assert.deepEqual(all, [401, 401, 401, 429]);
  assert.equal((await signIn('2001:db8:7:2::1', 'six')).status, 401, 'the next /64 is somebody else');
});

test('attack: an IPv4 address spelt as IPv6', async () => {
  await setLimits({ limit_login_ip: 2, limit_login_account_ip: 0 });
  const address = freshAddress();
  const spellings = [address, `::ffff:${address}`, `::FFFF:${address}`];
  assert.deepEqual(await statuses(3, (index) => signIn(spellings[index] ?? '', 'm')), [401, 401, 429]);
});

test('attack: guessing at the token endpoint under every name it has', async () => {
  await setLimits({ limit_token_ip: 5 });
  const address = freshAddress();
  const paths = [
    '/oauth2/token',
    '/oauth2/TOKEN',
    '/oauth2/token/',
    '/oauth2/protocol/openid-connect/token',
    '/realms/any/protocol/openid-connect/token',
  ];
  for (const path of paths) assert.notEqual((await guessToken(address, path)).status, 429, path);
  for (const path of paths) {
    const answer = await guessToken(address, path);
    assert.equal(answer.status, 429, path);
    assert.ok(Number(answer.headers.get('retry-after')) > 0, path);
  }
  const body: { error?: string } = JSON.parse(await (await guessToken(address)).text());
  assert.equal(body.error, 'temporarily_unavailable');
});

test('rate limit: granted token requests do not count', async () => {
  await setLimits({ limit_token_ip: 2 });
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const address = freshAddress();
  const grant = () =>
    fetch(`${app.url}/oauth2/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${machine.id}:${machine.secret}`)}`,
        'x-forwarded-for': address,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
  assert.deepEqual(new Set(await statuses(6, grant)), new Set([200]));
});

test('rate limit: a device polling as instructed is not limited', async () => {
  await setLimits({ limit_token_ip: 2 });
  const tv = await app.register({
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: [],
    token_endpoint_auth_method: 'none',
  });
  const address = freshAddress();
  const post = (path: string, fields: Record<string, string>) =>
    fetch(app.url + path, { method: 'POST', body: new URLSearchParams(fields), ...from(address) });
  const started: { device_code: string } = JSON.parse(
    await (await post('/oauth2/device_authorization', { client_id: tv.id, scope: 'openid' })).text(),
  );
  const poll = () =>
    post('/oauth2/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: tv.id,
      device_code: started.device_code,
    });
  assert.deepEqual(new Set(await statuses(5, poll)), new Set([400]));
});

test('attack: guessing an administrator’s bearer at API, introspection and registration', async () => {
  await setLimits({ limit_admin_failures_ip: 3, limit_register_ip: 0 });
  const address = freshAddress();
  const call = (path: string, bearer: string | undefined, init: RequestInit = {}) =>
    fetch(app.url + path, {
      ...init,
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        'x-forwarded-for': address,
        ...init.headers,
      },
    });
  const introspect = (bearer: string) =>
    call('/oauth2/introspect', bearer, { method: 'POST', body: new URLSearchParams({ token: 'x' }) });
  const register = (bearer: string) =>
    call('/oauth2/register', bearer, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
  // Neither a right bearer nor none at all is a guess.
  assert.deepEqual(new Set(await statuses(5, () => call('/admin/api/users', undefined))), new Set([401]));
  assert.deepEqual(new Set(await statuses(5, () => call('/admin/api/users', ADMIN_TOKEN))), new Set([200]));
  assert.equal((await call('/admin/api/users', 'wrong')).status, 401);
  assert.equal((await introspect('wrong')).status, 401);
  assert.equal((await register('wrong')).status, 401);
  for (const answer of [
    await call('/admin/api/users', 'wrong'),
    await introspect('wrong'),
    await register('wrong'),
  ]) {
    assert.equal(answer.status, 429);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  }
  const body: { error?: { reason?: string } } = JSON.parse(
    await (await call('/admin/api/users', 'wrong')).text(),
  );
  // Guessing must not lock out who has the bearer and shares the address.
  assert.equal((await call('/admin/api/users', ADMIN_TOKEN)).status, 200);
  assert.equal((await introspect(ADMIN_TOKEN)).status, 200);
  assert.equal(body.error?.reason, 'request.rate_limited');
  assert.equal((await app.admin('GET', '/users')).status, 200, 'from elsewhere');
  await setLimits({ limit_admin_failures_ip: 0 });
});

test('attack: filling the store with unfinished sign-ins', async () => {
  await setLimits({ limit_authorize_ip: 3 });
  const address = freshAddress();
  const begin = (index: number) =>
    new Agent(app).get(
      `/oauth2/authorize?${new URLSearchParams({
        client_id: client.id,
        redirect_uri: 'https://rp.example/callback',
        response_type: 'code',
        scope: 'openid',
        state: `state-${index}`,
        ui_locales: `x-${index}`,
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      })}`,
      from(address),
    );
  assert.deepEqual(await statuses(4, begin), [200, 200, 200, 429]);
  const page = await begin(5);
  assert.match(page.headers.get('content-type') ?? '', /text\/html/);
  assert.match(page.body, /request\.rate_limited/);
  await setLimits({ limit_authorize_ip: 0 });
});

test('rate limit: forms without their token are counted as refusals, at every path', async () => {
  await setLimits({ limit_refusals_ip: 2, limit_mail_ip: 1, limit_register_ip: 1 });
  for (const path of ['/oauth2/forgot-password', '/oauth2/signup']) {
    const address = freshAddress();
    const all = await statuses(4, () => form.browser.post(path, { email: 'a@b.example' }, from(address)));
    assert.deepEqual(
      all.map((status) => status === 429),
      [false, false, true, true],
      path,
    );
  }
});

test('rate limit: a changed setting applies at once, and 0 disables it', async () => {
  await setLimits({ limit_token_ip: 1 });
  const address = freshAddress();
  assert.equal((await guessToken(address)).status, 401);
  assert.equal((await guessToken(address)).status, 429);
  await setLimits({ limit_token_ip: 3 });
  assert.deepEqual(await statuses(4, () => guessToken(address)), [401, 401, 401, 429]);
  await setLimits({ limit_token_ip: 0 });
  assert.deepEqual(new Set(await statuses(5, () => guessToken(address))), new Set([401]));
});

test('rate limit: a flood of refusals is one log line, without the name', async () => {
  await setLimits({ limit_login_ip: 0, limit_login_account_ip: 1, lockout_threshold: 100 });
  const address = freshAddress();
  const before = app.logged.length;
  await statuses(6, () => signIn(address, 'canary-name'));
  const lines = app.logged.slice(before);
  assert.equal(
    lines.filter((line) => line.includes('"rate_limited"') && line.includes('login_account_ip')).length,
    1,
  );
  assert.ok(!lines.some((line) => line.includes('canary-name')));
});
