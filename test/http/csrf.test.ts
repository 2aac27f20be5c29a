// A form is accepted only from the browser and page that it was shown to.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type Koa from 'koa';
import { type Csrf, createCsrf } from '../../src/http/csrf.ts';
import { type Site, serve, testKeys } from './serve.ts';

const BASE_URL = 'https://id.example.com';

/** GET shows a form for the purpose in the query, POST verifies the token in the header. */
const formOf =
  (csrf: Csrf): Koa.Middleware =>
  (ctx) => {
    const purpose = String(ctx.query.purpose ?? 'login');
    if (ctx.path === '/who') ctx.body = { id: csrf.existingBrowserId(ctx) ?? null };
    else if (ctx.method === 'GET') ctx.body = { token: csrf.token(ctx, purpose), id: csrf.browserId(ctx) };
    else {
      csrf.verify(ctx, purpose, ctx.get('x-token') === '' ? undefined : ctx.get('x-token'));
      ctx.body = { isTaken: true };
    }
  };

const serveForm = (baseUrl: string, keys: readonly string[], cookiePath = '/'): Promise<Site> =>
  serve(formOf(createCsrf({ keys, isSecure: baseUrl.startsWith('https:'), cookiePath })), { baseUrl });

interface Visit {
  readonly cookie: string;
  readonly setCookie: string;
  readonly token: string;
  readonly id: string;
}

async function visit(site: Site, purpose = 'login', cookie?: string): Promise<Visit> {
  const headers = cookie === undefined ? {} : { Cookie: cookie };
  const answer = await site.send(`/?purpose=${purpose}`, { headers });
  const setCookie = answer.headers['set-cookie']?.[0] ?? '';
  const { token, id } = JSON.parse(answer.body) as { token: string; id: string };
  return {
    cookie: setCookie === '' ? (cookie ?? '') : (setCookie.split(';', 1)[0] ?? ''),
    setCookie,
    token,
    id,
  };
}

async function post(
  site: Site,
  { cookie, token, ...headers }: { cookie?: string; token?: string } & Record<string, string>,
  purpose = 'login',
): Promise<string> {
  const answer = await site.send(`/?purpose=${purpose}`, {
    method: 'POST',
    headers: {
      Accept: 'application/json',
      ...(cookie === undefined ? {} : { Cookie: cookie }),
      ...(token === undefined ? {} : { 'X-Token': token }),
      ...headers,
    },
  });
  if (answer.status === 200) return 'taken';
  return `${answer.status} ${/cookie/.test(answer.body) ? 'cookies_off' : 'csrf'}`;
}

let site: Site;
before(async () => {
  site = await serveForm(BASE_URL, testKeys);
});
after(() => site.close());

test('browser cookie: signed, HttpOnly, SameSite=Lax and bound to the host', async () => {
  const { setCookie } = await visit(site);
  assert.match(
    setCookie,
    /^__Host-latchkey_browser=[\w-]{43}\.[\w-]{43}; path=\/; samesite=lax; secure; httponly$/,
  );
  const plain = await serveForm('http://localhost:3000/auth', testKeys, '/auth');
  try {
    const shown = await visit(plain);
    assert.match(shown.setCookie, /^latchkey_browser=[\w.-]{87}; path=\/auth; samesite=lax; httponly$/);
    assert.equal(await post(plain, { cookie: shown.cookie, token: shown.token }), 'taken');
  } finally {
    await plain.close();
  }
});

test('CSRF token: a form is accepted from the browser it was shown to', async () => {
  const { cookie, token } = await visit(site);
  assert.equal(await post(site, { cookie, token }), 'taken');
  assert.equal(
    await post(site, { cookie, token, Origin: BASE_URL, 'Sec-Fetch-Site': 'same-origin' }),
    'taken',
  );
  assert.equal(await post(site, { cookie, token, Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }), 'taken');
  assert.equal(await post(site, { cookie, token, 'Sec-Fetch-Site': 'none' }), 'taken');
});

test('browser cookie: a known browser keeps its id, so tabs work side by side', async () => {
  const first = await visit(site);
  const second = await visit(site, 'login', first.cookie);
  assert.equal(second.setCookie, '');
  assert.equal(second.id, first.id);
  assert.equal(await post(site, { cookie: first.cookie, token: first.token }), 'taken');
  const who = await site.send('/who', { headers: { Cookie: first.cookie } });
  assert.deepEqual(JSON.parse(who.body), { id: first.id });
  assert.deepEqual(JSON.parse((await site.send('/who')).body), { id: null });
});

describe('attack: a CSRF token not for this form', () => {
  test('missing, truncated, changed or invented', async () => {
    const { cookie, token } = await visit(site);
    assert.equal(await post(site, { cookie }), '403 csrf');
    for (const forged of [
      'x',
      token.slice(1),
      `${token}AAAA`,
      token.slice(0, 20),
      'A'.repeat(43),
      '{}',
      '====',
    ]) {
      assert.equal(await post(site, { cookie, token: forged }), '403 csrf', forged);
    }
    const flipped = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
    assert.equal(await post(site, { cookie, token: flipped }), '403 csrf');
  });

  test('of the attacker’s own browser', async () => {
    const attacker = await visit(site);
    const victim = await visit(site);
    assert.notEqual(attacker.id, victim.id);
    assert.equal(await post(site, { cookie: victim.cookie, token: attacker.token }), '403 csrf');
  });

  test('from before the sign-in, or of another session', async () => {
    const { cookie, token: preLogin } = await visit(site, 'login');
    const { token: mine } = await visit(site, 'account:session-1', cookie);
    assert.equal(await post(site, { cookie, token: mine }, 'account:session-1'), 'taken');
    assert.equal(await post(site, { cookie, token: preLogin }, 'account:session-1'), '403 csrf');
    assert.equal(await post(site, { cookie, token: mine }, 'account:session-2'), '403 csrf');
    assert.equal(await post(site, { cookie, token: mine }, 'login'), '403 csrf');
  });
});

describe('attack: a request from another site', () => {
  test('is refused although cookie and token are valid', async () => {
    const { cookie, token } = await visit(site);
    const elsewhere: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: BASE_URL },
      { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' },
      { Origin: 'https://evil.example' },
      { Origin: 'http://id.example.com' },
      { Origin: 'https://id.example.com:8443' },
      { Origin: 'https://id.example.com.evil.example' },
      { Origin: 'https://evil.id.example.com' },
      { Origin: 'https://evil.example', Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' },
    ];
    for (const headers of elsewhere) {
      assert.equal(await post(site, { cookie, token, ...headers }), '403 csrf', JSON.stringify(headers));
    }
  });
});

describe('attack: a cookie that this server did not issue', () => {
  test('counts as none', async () => {
    const { cookie, token, id } = await visit(site);
    assert.equal(await post(site, { token }), '400 cookies_off');
    const proof = cookie.split('.')[1] ?? '';
    const forgeries = [
      `__Host-latchkey_browser=${id}`,
      `__Host-latchkey_browser=${id}.`,
      `__Host-latchkey_browser=.${proof}`,
      `__Host-latchkey_browser=${'A'.repeat(43)}.${proof}`,
      `${cookie}.x`,
      cookie.slice(0, -1),
      `latchkey_browser=${id}.${proof}`,
    ];
    for (const forged of forgeries) {
      assert.equal(await post(site, { cookie: forged, token }), '400 cookies_off', forged);
      assert.notEqual((await visit(site, 'login', forged)).setCookie, '', forged);
    }
  });

  test('a CSRF token is not accepted as a cookie signature', async () => {
    const { token } = await visit(site, 'browser');
    assert.equal(
      await post(site, { cookie: `__Host-latchkey_browser=${token}.${token}`, token }),
      '400 cookies_off',
    );
  });
});

test('key rotation: an older listed key verifies, a removed one does not', async () => {
  const [newest = '', older = ''] = testKeys;
  const before = await serveForm(BASE_URL, [older]);
  const after = await serveForm(BASE_URL, [newest]);
  try {
    const { cookie, token } = await visit(before);
    assert.equal(await post(site, { cookie, token }), 'taken');
    assert.equal(await post(after, { cookie, token }), '400 cookies_off');
  } finally {
    await Promise.all([before.close(), after.close()]);
  }
});

test('signing: without a key it fails instead of signing with nothing', () => {
  assert.throws(() => createCsrf({ keys: [], isSecure: true, cookiePath: '/' }), TypeError);
});
