// Attacks on the device flow (RFC 8628 §5.1, §5.4): guessing user codes, and a user led to confirm an attacker's device. The
// confirmation page shows what is requested and from where; `admin` is never granted this way.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { call, claimsOf, later, postForm, requestTokensOf } from '../flows/support.ts';
import { Agent, requestTokens } from '../support/agent.ts';
import { PASSWORD, SECRET_KEY, startApp } from '../support/app.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const HOUR = 3_600_000;

const first = await startApp({ store: 'sqlite', env: { TRUST_PROXY: '1', SECRET_KEY } });
after(() => first.stop());
// A second process over the same store: limits are counted for both together.
const app = await startApp({ shared: first.store, env: { TRUST_PROXY: '1' } });
after(() => app.stop());
// Each process is told, since two applications over one connection do not see each other's writes as foreign.
const limits = { limit_user_code_ip: 6, limit_user_code_account: 4 };
for (const each of [first, app]) await each.app.settings.patch(limits, 'test');
await app.createUser('alice');
const root = await app.createUser('root', { role: 'admin' });

const television = {
  client_name: 'Television',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  grant_types: [GRANT, 'refresh_token'],
  response_types: [],
  redirect_uris: [],
};
const client = await app.register({
  ...television,
  scope: 'openid profile email phone admin offline_access',
});

interface Device {
  readonly device_code: string;
  readonly user_code: string;
}
async function start(scope: string, address = '203.0.113.9', more = {}): Promise<Device> {
  const headers = { 'x-forwarded-for': address };
  const { status, body, text } = await postForm(
    app,
    '/oauth2/device_authorization',
    { client_id: client.id, scope, ...more },
    headers,
  );
  equal(status, 200, text);
  return { device_code: String(body.device_code), user_code: String(body.user_code) };
}
const poll = ({ device_code }: Device) => requestTokens(app, client, { grant_type: GRANT, device_code });

/** Types a code at `address`. */
async function enter(agent: Agent, code: string, address: string) {
  const init = { headers: { 'x-forwarded-for': address } };
  const form = await agent.get('/oauth2/device', init);
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(form.body) ?? [];
  return agent.post('/oauth2/device', { xsrf, user_code: code }, init);
}

const wrongCodes = ['BBBB', 'CCCC', 'DDDD', 'FFFF', 'GGGG', 'HHHH', 'JJJJ', 'KKKK'].map(
  (part) => `${part}-ZZZZ`,
);

test('attack: guessing user codes from one network, over processes and cookies (RFC 8628 §5.1)', async () => {
  const other = { ...first };
  let hosts = 0;
  // Another host of the same /64, another browser and the other process each time.
  for (const code of wrongCodes.slice(0, 6)) {
    hosts += 1;
    const page = await enter(new Agent(hosts % 2 === 0 ? other : app), code, `2001:db8:1:2::${hosts}`);
    equal(page.status, 400, code);
    ok(page.body.includes('name="user_code"'), 'the form again');
  }
  const device = await start('openid');
  const page = await enter(new Agent(app), device.user_code, '2001:db8:1:2::ffff');
  equal(page.status, 429, 'even the right code, so that a refusal says nothing');
  ok(Number(page.headers.get('retry-after')) > 0);
  ok(!page.body.includes('Television'));
  equal((await enter(new Agent(app), device.user_code, '2001:db8:1:3::1')).status, 200, 'the next network');
});

test('attack: guessing user codes by one account from any address (RFC 8628 §5.1)', async () => {
  const agent = new Agent(app);
  const web = await app.register();
  await agent.signIn(web.id, { username: 'alice' });
  const statuses: number[] = [];
  for (const [index, code] of wrongCodes.slice(0, 5).entries())
    statuses.push((await enter(agent, code, `198.51.100.${index}`)).status);
  deepEqual(statuses, [400, 400, 400, 400, 429]);
  // A browser that forgets its session is the same account again as soon as it signs in.
  const again = new Agent(app);
  await again.signIn(web.id, { username: 'alice' });
  equal((await enter(again, wrongCodes[6] ?? '', '198.51.100.77')).status, 429);
});

test('user code: valid entries are not counted; 34 bits', async () => {
  for (let count = 0; count < 9; count += 1) {
    const { user_code } = await start('openid');
    // 20 letters, eight of them: 20^8 = 2^34.6 codes.
    match(user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    equal((await enter(new Agent(app), user_code, '192.0.2.50')).status, 200);
  }
});

test('attack: phished user; the page shows client, scopes, address and time (RFC 8628 §5.4)', async () => {
  const claims = '{"userinfo":{"phone_number":null}}';
  const device = await start('openid profile email', '203.0.113.66', { claims });
  const page = await enter(new Agent(app), device.user_code, '192.0.2.1');
  equal(page.status, 200);
  for (const text of [
    'Television',
    'See your name and profile details',
    'See your e-mail address',
    'See your phone number',
    '203.0.113.66',
    'different network than this browser',
    '24 hours',
  ])
    ok(page.body.includes(text), `${text}: ${page.body}`);
  match(page.body, /<time datetime="\d{4}-\d\d-\d\dT/);
  // Refusing is one press of a button of the same kind, and the first one in the form.
  const buttons = [
    ...page.body.matchAll(
      /<button[^>]*class="([^"]+)"[^>]*name="(abort|confirm)"|<button[^>]*name="(abort|confirm)"[^>]*class="([^"]+)"/g,
    ),
  ];
  deepEqual(
    buttons.map((found) => found[2] ?? found[3]),
    ['abort', 'confirm'],
  );
  equal(buttons[0]?.[1] ?? buttons[0]?.[4], buttons[1]?.[1] ?? buttons[1]?.[4]);
  const same = await enter(new Agent(app), device.user_code, '203.0.113.66');
  ok(!same.body.includes('different network than this browser'));
});

test('attack: a phished administrator gives a device scope admin', async () => {
  const agent = new Agent(app);
  const device = await start('openid admin offline_access');
  const question = await enter(agent, device.user_code, '192.0.2.9');
  ok(!question.body.includes('Manage this service'), 'not even asked for');
  let page = await agent.submit(question, { confirm: 'yes' });
  page = await agent.submit(page, { username: 'root', password: PASSWORD });
  ok(page.body.includes('Television'), page.body);
  const { status, body } = await poll(device);
  equal(status, 200, JSON.stringify(body));
  deepEqual([claimsOf(body.access_token).sub, body.scope], [root.id, 'openid offline_access']);
  const refreshed = await requestTokensOf(app, client, {
    grant_type: 'refresh_token',
    refresh_token: body.refresh_token,
  });
  for (const token of [body.access_token, refreshed.access_token]) {
    const answer = await call(app, 'GET', '/admin/api/users', {
      headers: { authorization: `Bearer ${token}` },
    });
    equal(answer.status, 403);
  }
});

test('device flow: a request for admin alone is invalid_scope', async () => {
  const fields = { client_id: client.id, scope: 'admin admin:read' };
  const { status, body } = await postForm(app, '/oauth2/device_authorization', fields);
  deepEqual([status, body.error], [400, 'invalid_scope']);
});

test('device flow: without offline_access it ends after 24 hours, however often refreshed', async () => {
  const agent = new Agent(app);
  const device = await start('openid profile');
  let page = await agent.submit(await enter(agent, device.user_code, '192.0.2.10'), { confirm: 'yes' });
  page = await agent.submit(page, { username: 'root', password: PASSWORD });
  const { body } = await poll(device);
  const early = await later(20 * HOUR, () =>
    requestTokens(app, client, { grant_type: 'refresh_token', refresh_token: body.refresh_token }),
  );
  equal(early.status, 200, JSON.stringify(early.body));
  const late = await later(24 * HOUR + 60_000, () =>
    requestTokens(app, client, { grant_type: 'refresh_token', refresh_token: early.body.refresh_token }),
  );
  deepEqual([late.status, late.body.error], [400, 'invalid_grant']);
});

test('device flow: a public web client gets a refresh token, for as long as the page says', async () => {
  // As OpenIddict.Client registers for a device: public, and `web` because nothing else is said.
  const { application_type: _, ...rest } = television;
  const web = await app.register(rest);
  for (const scope of ['openid profile', 'openid profile offline_access']) {
    const { body: device } = await postForm(app, '/oauth2/device_authorization', {
      client_id: web.id,
      scope,
    });
    const agent = new Agent(app);
    const question = await enter(agent, String(device.user_code), '192.0.2.11');
    match(question.body, /24 hours/, scope);
    const page = await agent.submit(question, { confirm: 'yes' });
    await agent.submit(page, { username: 'root', password: PASSWORD });
    const { body } = await requestTokens(app, web, {
      grant_type: GRANT,
      device_code: String(device.device_code),
    });
    match(body.refresh_token, /^[\w-]{43}$/, scope);
    const late = await later(24 * HOUR + 60_000, () =>
      requestTokens(app, web, { grant_type: 'refresh_token', refresh_token: body.refresh_token }),
    );
    deepEqual([late.status, late.body.error], [400, 'invalid_grant'], scope);
  }
});
