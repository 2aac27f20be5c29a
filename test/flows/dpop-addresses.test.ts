// DPoP behind a proxy, below a path, from a page of another origin, and with nonces at every door that takes a proof: `htu` is the
// address that the client called (RFC 9449 §4.3), which is BASE_URL whatever a request says about its host.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD } from '../support/app.ts';
import { athOf, proofKey, proofOf } from '../support/dpop.ts';
import { basic, call, postForm, withApp } from './support.ts';

const key = await proofKey();
const MACHINE = { grant_type: 'client_credentials' };
const fields = {
  grant_types: ['client_credentials', 'password'],
  redirect_uris: [],
  scope: 'openid admin:read',
};

test('DPoP: below a path, and with an issuer of another address', async () => {
  for (const options of [{ path: '/idp' }, { env: { ISSUER: 'https://login.example.com/tenant' } }])
    await withApp(options, async (app) => {
      const machine = await app.register(fields);
      const at = `${app.url}/oauth2/token`;
      const ask = async (htu: string) =>
        postForm(app, '/oauth2/token', MACHINE, { ...basic(machine), DPoP: await proofOf(key, 'POST', htu) });
      equal((await ask(at)).body.token_type, 'DPoP');
      equal(
        (await ask(`${at}?query=is#ignored`)).body.token_type,
        'DPoP',
        '§4.3: without query and fragment',
      );
      const { origin } = new URL(app.url);
      for (const wrong of [
        `${app.issuer}/other`,
        `${origin}/elsewhere/oauth2/token`,
        'https://login.example.com/oauth2/token',
      ])
        deepEqual([wrong, (await ask(wrong)).body.error], [wrong, 'invalid_dpop_proof']);
    });
});

test('attack: forwarded headers choose the address that a proof is for', async () => {
  const env = { BASE_URL: 'https://id.example.com/idp', TRUST_PROXY: '1' };
  await withApp({ path: '/idp', env }, async (app) => {
    const machine = await app.register(fields);
    const ask = async (htu: string, forwarded: Record<string, string>) =>
      postForm(app, '/oauth2/token', MACHINE, {
        ...basic(machine),
        ...forwarded,
        DPoP: await proofOf(key, 'POST', htu),
      });
    const right = 'https://id.example.com/idp/oauth2/token';
    for (const forwarded of [
      { 'x-forwarded-proto': 'https' },
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example', 'x-forwarded-port': '1' },
      { 'x-forwarded-proto': 'https', forwarded: 'host=evil.example;proto=http' },
    ]) {
      const answer = await ask(right, forwarded);
      deepEqual([answer.status, answer.body.token_type], [200, 'DPoP'], answer.text);
      for (const wrong of ['https://evil.example/idp/oauth2/token', 'http://id.example.com/idp/oauth2/token'])
        deepEqual([wrong, (await ask(wrong, forwarded)).body.error], [wrong, 'invalid_dpop_proof']);
    }
  });
});

test('DPoP: a page of another origin may send a proof and read the nonce', async () => {
  await withApp({}, async (app) => {
    const origin = 'https://spa.example';
    const spa = await app.register({
      token_endpoint_auth_method: 'none',
      application_type: 'web',
      redirect_uris: [`${origin}/callback`],
    });
    for (const path of ['/oauth2/token', '/oauth2/userinfo', '/oauth2/par', '/account/api/profile']) {
      const asked = 'authorization,dpop,content-type';
      const preflight = await call(app, 'OPTIONS', path, {
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': asked,
        },
      });
      equal(preflight.status, 204, path);
      deepEqual(preflight.headers.get('access-control-allow-headers'), asked, path);
    }
    const answer = await postForm(
      app,
      '/oauth2/token',
      { grant_type: 'refresh_token', refresh_token: 'none', client_id: spa.id },
      { origin, DPoP: await proofOf(key, 'POST', `${app.url}/oauth2/token`, { nonce: 'x'.repeat(43) }) },
    );
    deepEqual([answer.status, answer.body.error], [400, 'use_dpop_nonce']);
    match(answer.headers.get('access-control-expose-headers') ?? '', /DPoP-Nonce/);
    match(answer.headers.get('dpop-nonce') ?? '', /^[\w-]{43}$/);
  });
});

test('DPoP nonces: the password grant, userinfo and our own APIs give and take them', async () => {
  await withApp({}, async (app) => {
    await app.createUser('alice');
    const client = await app.register(fields);
    const token = `${app.url}/oauth2/token`;
    const password = { grant_type: 'password', username: 'alice', password: PASSWORD, scope: 'openid' };
    const ask = async (form: Record<string, string>, nonce?: string) =>
      postForm(app, '/oauth2/token', form, {
        ...basic(client),
        DPoP: await proofOf(key, 'POST', token, nonce === undefined ? {} : { nonce }),
      });
    const first = await ask(password);
    equal(first.status, 200, first.text);
    const nonce = first.headers.get('dpop-nonce') ?? '';
    match(nonce, /^[\w-]{43}$/);
    equal((await ask(password, nonce)).status, 200);
    const unknown = await ask(password, 'x'.repeat(43));
    deepEqual([unknown.status, unknown.body.error], [400, 'use_dpop_nonce'], unknown.text);

    const bearers = {
      '/oauth2/userinfo': String(first.body.access_token),
      '/admin/api/users': String((await ask({ ...MACHINE, scope: 'admin:read' })).body.access_token),
    };
    for (const [path, bearer] of Object.entries(bearers)) {
      const show = async (claims: Record<string, unknown>) =>
        call(app, 'GET', path, {
          headers: {
            authorization: `DPoP ${bearer}`,
            DPoP: await proofOf(key, 'GET', app.url + path, { ath: athOf(bearer), ...claims }),
          },
        });
      equal((await show({ nonce, iat: 1 })).status, 200, `${path}: a nonce in place of a right clock`);
      const refused = await show({ nonce: 'x'.repeat(43) });
      equal(refused.status, 401, path);
      ok(
        (refused.headers.get('www-authenticate') ?? '').includes('use_dpop_nonce'),
        `${path} ${refused.text}`,
      );
      match(refused.headers.get('dpop-nonce') ?? '', /^[\w-]{43}$/, path);
    }
  });
});
