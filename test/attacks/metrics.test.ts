// Attacks on /metrics: reading it through a proxy, a rebound name or a guessed token, and filling it with
// invented series. And that it reports what it should.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import test, { after } from 'node:test';
import { postForm, requestTokensOf, tokensOf, withApp } from '../flows/support.ts';
import { ADMIN_TOKEN, startApp } from '../support/app.ts';
import { send } from './raw-http.ts';
import { openSignIn } from './sign-in-form.ts';

const TOKEN = 'metrics-token-0123456789-0123456789-01';
const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

type Header = readonly [string, string];
const ask = (url: string, headers: readonly Header[] = [], method = 'GET') =>
  send(url, { path: '/metrics', headers, method });
const shown = (token: string): Header => ['Authorization', `Bearer ${token}`];

async function linesOf(url = app.url): Promise<Map<string, number>> {
  const { status, body } = await ask(url);
  equal(status, 200);
  const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

test('attack: metrics read through a proxy on this machine are 404', async () => {
  for (const name of ['X-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP', 'X-Forwarded-Proto']) {
    const { status, body } = await ask(app.url, [[name, '127.0.0.1']]);
    equal(status, 404, name);
    doesNotMatch(body, /latchkey_/);
  }
  for (const env of [{ TRUST_PROXY: '1' }, { BASE_URL: 'https://id.example.com' }]) {
    await withApp({ env }, async ({ url }) => {
      for (const headers of [[], [shown(TOKEN)], [shown(ADMIN_TOKEN)]]) {
        const [answer, nothing] = [await ask(url, headers), await send(url, { path: '/nothing', headers })];
        deepEqual([answer.status, Object.keys(answer.headers)], [404, Object.keys(nothing.headers)]);
      }
    });
  }
});

test('attack: metrics read by a page of a rebound name (DNS rebinding)', async () => {
  for (const host of ['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'id.example.com'])
    equal((await ask(app.url, [['Host', host]])).status, 404, host);
  equal((await ask(app.url)).status, 200);
});

test('attack: metrics read without METRICS_TOKEN where it is set', async () => {
  await withApp({ env: { METRICS_TOKEN: TOKEN } }, async ({ url, logged }) => {
    const wrong: (readonly Header[])[] = [
      [],
      [shown('')],
      [shown(TOKEN.slice(0, -1))],
      [shown(`${TOKEN}0`)],
      [shown(TOKEN.toUpperCase())],
      [shown(ADMIN_TOKEN)],
      [['Authorization', TOKEN]],
      [['Authorization', `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`]],
    ];
    for (const headers of wrong) {
      const { status, headers: answered, body } = await ask(url, headers);
      deepEqual([status, answered['cache-control']], [401, 'no-store'], String(headers));
      match(String(answered['www-authenticate']), /^Bearer/);
      doesNotMatch(body, /latchkey_/);
    }
    equal((await send(url, { path: `/metrics?access_token=${TOKEN}` })).status, 401);
    const right = await ask(url, [shown(TOKEN), ['X-Forwarded-For', '192.0.2.1']]);
    equal(right.status, 200);
    equal((await send(url, { path: '/admin/api/users', headers: [shown(TOKEN)] })).status, 401);
    doesNotMatch(logged.join(''), /metrics/);
  });
});

test('metrics: text format, not cached, not logged, GET and HEAD only', async () => {
  const { headers, body } = await ask(app.url);
  match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
  equal(headers['cache-control'], 'no-store');
  const sample = /^[a-z_]+\{(?:[a-z0-9_]+="[^"\\\n]*",?)+\} [0-9.e+-]+$/;
  for (const line of body.trimEnd().split('\n')) ok(line.startsWith('# ') || sample.test(line), line);
  match(body, /^latchkey_build_info\{version="test",node="[\d.]+",worker="0"\} 1$/m);
  const names = body.split('\n').flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
  equal(new Set(names).size, names.length, 'each metric has one head');
  const head = await ask(app.url, [], 'HEAD');
  deepEqual([head.status, head.body], [200, '']);
  for (const method of ['POST', 'PUT', 'DELETE']) equal((await ask(app.url, [], method)).status, 405);
  equal((await ask(app.url, [], 'OPTIONS')).status, 204, 'says the methods');
  equal((await send(app.url, { path: '/metrics/' })).status, 404);
  const told = app.logged.filter((line) => /"path":"\/metrics"/.test(line));
  deepEqual(told, []);
});

test('metrics: sign-ins, tokens, refusals, requests, store, queue and locks', async () => {
  const client = await app.register();
  const user = await app.createUser('measured');
  await tokensOf(app, client, user);
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  await requestTokensOf(app, machine, { grant_type: 'client_credentials' });
  await postForm(app, '/oauth2/token', { grant_type: 'client_credentials', client_id: client.id });
  const victim = await app.createUser('locked-out');
  const form = await openSignIn(app, client.id);
  for (let attempt = 0; attempt < 5; attempt += 1) await form.attempt(victim.username, 'wrong password');
  const lines = await linesOf();
  const value = (name: string, labels = ''): number =>
    lines.get(`${name}{${labels}${labels && ','}worker="0"}`) ?? 0;
  equal(value('latchkey_sign_ins_total', 'result="success",method="password"'), 1);
  equal(value('latchkey_sign_ins_total', 'result="failure",method="password"'), 5);
  equal(value('latchkey_lockouts_total'), 1);
  equal(value('latchkey_tokens_issued_total', 'grant_type="authorization_code"'), 1);
  equal(value('latchkey_tokens_issued_total', 'grant_type="client_credentials"'), 1);
  equal(value('latchkey_token_refusals_total', 'endpoint="token",error="invalid_client"'), 1);
  ok(value('latchkey_http_requests_total', 'route="token",status="2xx"') >= 2);
  equal(value('latchkey_http_requests_total', 'route="token",status="4xx"'), 1);
  const asked = value('latchkey_http_request_duration_seconds_count', 'route="token"');
  equal(value('latchkey_http_request_duration_seconds_bucket', 'route="token",le="+Inf"'), asked);
  for (const kind of ['read', 'write', 'query'])
    ok(value('latchkey_store_operation_duration_seconds_count', `kind="${kind}"`) > 0, kind);
  for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total'])
    ok(value(name) > 0, name);
  ok(lines.has('latchkey_mails_queued{worker="0"}') && lines.has('latchkey_accounts_locked{worker="0"}'));
});

test('metrics: store gauges are current even when not scraped recently', async () => {
  await withApp({}, async (fresh) => {
    const client = await fresh.register();
    const { username } = await fresh.createUser('victim');
    const form = await openSignIn(fresh, client.id);
    for (let attempt = 0; attempt < 5; attempt += 1) await form.attempt(username, 'wrong password');
    equal((await linesOf(fresh.url)).get('latchkey_accounts_locked{worker="0"}'), 1);
    await fresh.store.close();
    equal((await ask(fresh.url)).status, 200, 'metrics are told also while the store is away');
  });
});

test('attack: hostile paths, methods and parameters create metric series', async () => {
  await linesOf();
  const series = async (): Promise<string[]> =>
    [...(await linesOf()).keys()].filter((line) => /^latchkey_/.test(line)).toSorted();
  const round = async (mark: string): Promise<void> => {
    for (const method of ['GET', 'POST', 'PROPFIND', 'M-SEARCH', 'DELETE'])
      for (const path of [
        `/${mark}`,
        `/oauth2/${mark}`,
        '/oauth2/__proto__',
        '/constructor/toString',
        `/realms/${mark}/protocol/openid-connect/${mark}`,
        `/admin/${mark}`,
        `/account/${mark}"}`,
        `/.well-known/${mark}`,
        `/assets/${mark}`,
      ])
        await send(app.url, { path, method });
    for (const field of ['grant_type', 'client_id', 'token', 'scope'])
      for (const path of ['token', 'introspect', 'revoke', 'par', 'device_authorization'])
        await postForm(app, `/oauth2/${path}`, { client_id: 'x', [field]: mark });
  };
  await round('first');
  const before = await series();
  for (let at = 0; at < 3; at += 1) await round(`stranger-${at}`);
  deepEqual(await series(), before);
  doesNotMatch(before.join('\n'), /first|stranger|__proto__|PROPFIND|measured|rp\.example/);
  ok(before.length < 500, `${before.length}`);
});
