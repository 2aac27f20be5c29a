// DPoP (RFC 9449), max_age and claims, as other products got them wrong.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { bearer, call, claimsOf, isActive, later, postForm, tokensOf, userinfo } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { REDIRECT_URI } from '../support/app.ts';
import { athOf, proofKey, proofOf } from '../support/dpop.ts';
import { tried } from './report.ts';
import { alice, app } from './world.ts';

const [key, thief] = [await proofKey(), await proofKey()];
const spa = await app.register({
  token_endpoint_auth_method: 'none',
  scope: 'openid profile email offline_access',
});
const web = await app.register({ scope: 'openid profile email offline_access' });
const TOKEN = '/oauth2/token';
const at = `${app.url}${TOKEN}`;

const ask = (fields: Record<string, string>, proof?: string | string[]) => {
  const body = new URLSearchParams({ client_id: spa.id, ...fields });
  const headers = new Headers();
  for (const one of [proof ?? []].flat()) headers.append('dpop', one);
  return call(app, 'POST', TOKEN, { headers, body });
};
const code = async (): Promise<Record<string, string>> => {
  const { code: given, verifier } = await new Agent(app).signIn(spa.id, alice, {
    scope: 'openid offline_access',
  });
  return {
    grant_type: 'authorization_code',
    code: given,
    code_verifier: verifier,
    redirect_uri: REDIRECT_URI,
  };
};
const bound = async () => {
  const { body, text } = await ask(await code(), await proofOf(key, 'POST', at));
  equal(body.token_type, 'DPoP', text);
  return { access: String(body.access_token), refresh: String(body.refresh_token) };
};
const refreshWith = (token: string, proof?: string) =>
  ask({ grant_type: 'refresh_token', refresh_token: token }, proof);
const now = () => Math.floor(Date.now() / 1000);

tried([
  {
    report: 'keycloak/keycloak#36475',
    symptom: 'a bound refresh token is refreshed without a proof',
    tries: async () => {
      const { refresh } = await bound();
      equal((await refreshWith(refresh)).status, 400);
      equal((await refreshWith(refresh, await proofOf(key, 'POST', at))).status, 200);
    },
  },
  {
    report: 'spring-attic/spring-authorization-server#2008',
    symptom: 'a bound refresh token is refreshed with another key',
    tries: async () => {
      const { refresh } = await bound();
      const { status, body } = await refreshWith(refresh, await proofOf(thief, 'POST', at));
      deepEqual([status, body.access_token], [400, undefined]);
      equal((await refreshWith(refresh, await proofOf(key, 'POST', at))).status, 200);
    },
  },
  {
    report: 'Abblix/Oidc.Server#102',
    symptom: 'htu in another spelling of the same address',
    tries: async () => {
      const port = new URL(app.url).port;
      for (const htu of [`HTTP://127.0.0.1:${port}${TOKEN}`, `${at}?x=1#y`, `${app.url}/oauth2/./token`])
        equal((await ask(await code(), await proofOf(key, 'POST', htu))).status, 200, htu);
      for (const htu of [
        `${app.url}/oauth2/token/`,
        `https://127.0.0.1:${port}${TOKEN}`,
        TOKEN,
        `${app.url}/oauth2/par`,
        'x',
      ])
        equal(
          (await ask(await code(), await proofOf(key, 'POST', htu))).body.error,
          'invalid_dpop_proof',
          htu,
        );
    },
  },
  {
    report: 'modelcontextprotocol/conformance#370',
    symptom: 'a proof that lacks something is taken',
    tries: async () => {
      const grant = await code();
      const proofs = [
        ...['jti', 'htm', 'htu', 'iat'].map((name) => proofOf(key, 'POST', at, { [name]: undefined })),
        proofOf(key, 'GET', at),
        proofOf(key, 'POST', at, { iat: now() - 3_600 }),
        proofOf(key, 'POST', at, { iat: now() + 3_600 }),
        proofOf(key, 'POST', at, {}, { typ: 'JWT' }),
        proofOf(key, 'POST', at, {}, { jwk: thief.jwk }),
        proofOf(key, 'POST', at, { jti: 7 }),
      ];
      for (const [index, proof] of (await Promise.all(proofs)).entries()) {
        const { status, body } = await ask(grant, proof);
        const isLate = index === 5 || index === 6;
        deepEqual(
          [status, body.error],
          [400, isLate ? 'use_dpop_nonce' : 'invalid_dpop_proof'],
          String(index),
        );
      }
      for (const proof of ['x', 'a.b.c', `${'x'.repeat(9_000)}.y.z`]) {
        const { status, body } = await ask(await code(), proof);
        deepEqual([status, body.error], [400, 'invalid_dpop_proof'], proof.slice(0, 5));
      }
    },
  },
  {
    report: 'wso2/financial-services-accelerator#958',
    symptom: 'a proof is taken twice',
    tries: async () => {
      const proof = await proofOf(key, 'POST', at);
      equal((await ask(await code(), proof)).status, 200);
      const { status, body } = await ask(await code(), proof);
      deepEqual([status, body.access_token], [400, undefined]);
    },
  },
  {
    report: 'keycloak/keycloak-community#254',
    symptom: 'a bound token works as a bearer, or with no ath',
    tries: async () => {
      const { access } = await bound();
      equal((await userinfo(app, access)).status, 401);
      const by = async (claims: Record<string, unknown>, who = key) =>
        call(app, 'GET', '/oauth2/userinfo', {
          headers: {
            authorization: `DPoP ${access}`,
            dpop: await proofOf(who, 'GET', `${app.url}/oauth2/userinfo`, claims),
          },
        });
      equal((await by({})).status, 401);
      equal((await by({ ath: athOf('other') })).status, 401);
      equal((await by({ ath: athOf(access) }, thief)).status, 401);
      equal((await by({ ath: athOf(access) })).status, 200);
    },
  },
  {
    report: 'keycloak/keycloak-oauth-sig#650',
    symptom: 'a client that authenticates cannot change its key',
    tries: async () => {
      const { code: given, verifier } = await new Agent(app).signIn(web.id, alice, {
        scope: 'openid offline_access',
      });
      const by = async (fields: Record<string, string>, who: typeof key) =>
        postForm(
          app,
          TOKEN,
          { ...fields, client_id: web.id, client_secret: web.secret },
          { dpop: await proofOf(who, 'POST', at) },
        );
      const first = await by(
        {
          grant_type: 'authorization_code',
          code: given,
          code_verifier: verifier,
          redirect_uri: REDIRECT_URI,
        },
        key,
      );
      const second = await by(
        { grant_type: 'refresh_token', refresh_token: String(first.body.refresh_token) },
        thief,
      );
      equal(second.status, 200, second.text);
      deepEqual(claimsOf(String(second.body.access_token)).cnf, { jkt: thief.thumbprint });
    },
  },
  {
    report: 'haileyok/cocoon#129',
    symptom: 'a proof with the nonce of the server is refused',
    tries: async () => {
      const stale = await ask(await code(), await proofOf(key, 'POST', at, { iat: now() - 900 }));
      equal(stale.body.error, 'use_dpop_nonce');
      const nonce = stale.headers.get('dpop-nonce') ?? '';
      equal(
        (await ask(await code(), await proofOf(key, 'POST', at, { nonce, iat: now() - 900 }))).status,
        200,
      );
      equal(
        (await ask(await code(), await proofOf(key, 'POST', at, { nonce: 'x' }))).body.error,
        'use_dpop_nonce',
      );
    },
  },
  {
    report: 'Abblix/Oidc.Server#111',
    symptom: 'PAR wants a nonce and does not give one',
    tries: async () => {
      const push = async (claims: Record<string, unknown>) =>
        postForm(
          app,
          '/oauth2/par',
          { ...codeRequest(web.id), client_secret: web.secret, nonce: 'n' },
          { dpop: await proofOf(key, 'POST', `${app.url}/oauth2/par`, claims) },
        );
      const first = await push({ iat: now() - 900 });
      equal(first.body.error, 'use_dpop_nonce');
      const nonce = first.headers.get('dpop-nonce') ?? '';
      equal((await push({ nonce })).status, 201);
    },
  },
  {
    report: 'leodip/goiabada#243',
    symptom: 'max_age counts from the session’s start; no number is 500',
    tries: async () => {
      const agent = new Agent(app);
      await agent.signIn(web.id, alice);
      await later(10 * 60_000, async () => {
        await agent.signIn(web.id, alice, { prompt: 'login' });
        const silent = (max_age: string) =>
          agent.authorize({ ...codeRequest(web.id), nonce: 'n', prompt: 'none', max_age });
        match((await silent('300')).location ?? '', /[?&]code=/);
        for (const max_age of ['abc', '-5', '1.5'])
          match((await silent(max_age)).location ?? '', /error=(invalid_request|login_required)/, max_age);
      });
    },
  },
  {
    report: 'leodip/goiabada#239',
    symptom: 'a huge state by POST is 500',
    tries: async () => {
      for (const size of [5_000, 200_000]) {
        const page = await new Agent(app).post('/oauth2/authorize', {
          ...codeRequest(web.id),
          state: 'x'.repeat(size),
        });
        ok(page.status < 500, `${size}: ${page.status}`);
        ok((page.location ?? '').length < 16_000);
      }
    },
  },
  {
    report: 'Abblix/Oidc.Server#51',
    symptom: 'discovery does not say that answers carry iss',
    tries: async () => {
      const { body } = await call(app, 'GET', '/.well-known/openid-configuration');
      equal(body.authorization_response_iss_parameter_supported, true);
    },
  },
  {
    report: 'wso2/product-is#11317',
    symptom: 'updated_at in milliseconds',
    tries: async () => {
      const { access_token, id_token } = await tokensOf(app, web, alice, { scope: 'openid profile email' });
      const { body } = await userinfo(app, access_token);
      for (const claims of [body, claimsOf(id_token)])
        if (claims.updated_at !== undefined) ok(Math.abs(Number(claims.updated_at) - now()) < 3_600);
      equal(typeof body.updated_at, 'number');
    },
  },
  {
    report: 'Timshel/OIDCWarden#31',
    symptom: 'email_verified is missing, or a text',
    tries: async () => {
      const { access_token, id_token } = await tokensOf(app, web, alice, { scope: 'openid email' });
      const { body } = await userinfo(app, access_token);
      deepEqual(
        [typeof body.email_verified, typeof claimsOf(id_token).email_verified],
        ['boolean', 'boolean'],
      );
    },
  },
  {
    report: 'casdoor/casdoor#3602',
    symptom: 'access token and ID token are the same',
    tries: async () => {
      const { id_token, access_token } = await tokensOf(app, web, alice);
      notEqual(id_token, access_token);
      equal(await isActive(app, id_token), false);
      equal((await call(app, 'GET', '/oauth2/userinfo', { headers: bearer(id_token) })).status, 401);
    },
  },
]);
