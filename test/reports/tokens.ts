// Tokens, introspection, revocation, userinfo and client authentication, as other products got them wrong.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import {
  basic,
  bearer,
  call,
  claimsOf,
  headerOf,
  introspect,
  isActive,
  postForm,
  tokensOf,
} from '../flows/support.ts';
import { Agent, codeRequest, refresh, requestTokens, VERIFIER } from '../support/agent.ts';
import { REDIRECT_URI } from '../support/app.ts';
import { tried } from './report.ts';
import { alice, app } from './world.ts';

const client = await app.register({ scope: 'openid profile email offline_access groups' });
const other = await app.register();
const machine = await app.register({
  grant_types: ['client_credentials'],
  redirect_uris: [],
  scope: 'profile email',
});
const tokens = await tokensOf(app, client, alice, {
  scope: 'openid profile email offline_access groups',
  nonce: 'once',
});
const { privateKey, publicKey } = await generateKeyPair('ES256');
const keyed = await app.register({
  grant_types: ['client_credentials', 'authorization_code'],
  token_endpoint_auth_method: 'private_key_jwt',
  jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }] },
});

const ORIGIN = 'https://spa.example';
const spa = await app.register({ token_endpoint_auth_method: 'none', web_origins: [ORIGIN] });

const userinfo = (headers: Record<string, string>, method = 'GET', body?: URLSearchParams) =>
  call(app, method, '/oauth2/userinfo', { headers, ...(body !== undefined && { body }) });

const assertionOf = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT({ iss: keyed.id, sub: keyed.id, jti: randomUUID(), ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(privateKey);
const byAssertion = async (
  path: string,
  fields: Record<string, string>,
  claims: Record<string, unknown> = {},
) =>
  postForm(app, path, {
    ...fields,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await assertionOf({ aud: app.issuer, ...claims }),
  });

tried([
  {
    report: 'keycloak/keycloak#49785',
    symptom: 'a malformed Content-Type at userinfo is 500',
    tries: async () => {
      for (const type of [
        'text/<x>',
        '///',
        'a b;;=',
        '\u00ff',
        'application/x-www-form-urlencoded; charset="',
      ])
        for (const method of ['GET', 'POST']) {
          const { status } = await userinfo({ ...bearer(tokens.access_token), 'content-type': type }, method);
          ok(status < 500, `${method} ${type}: ${status}`);
        }
    },
  },
  {
    report: 'keycloak/keycloak#16584',
    symptom: 'userinfo by POST without a body is 500',
    tries: async () => {
      const { status, body } = await userinfo(bearer(tokens.access_token), 'POST');
      deepEqual([status, body.sub], [200, alice.id]);
    },
  },
  {
    report: 'keycloak/keycloak#14184',
    symptom: 'userinfo refuses other than RFC 6750 says',
    tries: async () => {
      const none = await userinfo({});
      equal(none.status, 401);
      const plain = none.headers.get('www-authenticate') ?? '';
      match(plain, /^Bearer/);
      ok(!plain.includes('error='), plain);
      const twice = await userinfo(
        bearer(tokens.access_token),
        'POST',
        new URLSearchParams({ access_token: tokens.access_token }),
      );
      equal(twice.status, 400);
      match(twice.headers.get('www-authenticate') ?? '', /error="invalid_request"/);
      const query = await call(app, 'GET', `/oauth2/userinfo?access_token=${tokens.access_token}`);
      ok(query.status >= 400, 'no token in the address');
      const wrong = await userinfo(bearer('nonsense'));
      equal(wrong.status, 401);
      match(wrong.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    },
  },
  {
    report: 'keycloak/keycloak#26782',
    symptom: 'the refusal of userinfo has no CORS headers',
    tries: async () => {
      const own = await tokensOf(app, spa, alice, {}, new Agent(app));
      await postForm(app, '/oauth2/revoke', { token: own.access_token, client_id: spa.id });
      const { status, headers } = await userinfo({ ...bearer(own.access_token), origin: ORIGIN });
      deepEqual([status, headers.get('access-control-allow-origin')], [401, ORIGIN]);
      match(headers.get('access-control-expose-headers') ?? '', /www-authenticate/i);
    },
  },
  {
    report: 'keycloak/keycloak#4662',
    symptom: 'refusals of the token endpoint have no CORS headers',
    tries: async () => {
      const grant = { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT_URI };
      for (const fields of [
        { ...grant, client_id: spa.id },
        { grant_type: 'nonsense', client_id: spa.id },
      ]) {
        const { status, headers } = await postForm(app, '/oauth2/token', fields, { origin: ORIGIN });
        equal(status, 400);
        equal(headers.get('access-control-allow-origin'), ORIGIN);
      }
    },
  },
  {
    report: 'keycloak/keycloak#8384',
    symptom: 'revocation answers no preflight',
    tries: async () => {
      for (const path of ['token', 'revoke', 'userinfo', 'par', 'introspect']) {
        const { status, headers } = await call(app, 'OPTIONS', `/oauth2/${path}`, {
          headers: {
            origin: ORIGIN,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'authorization,dpop,content-type',
          },
        });
        equal(status, 204, path);
        ok(headers.get('access-control-allow-origin'), path);
        match(headers.get('access-control-allow-methods') ?? '', /POST/);
        match(headers.get('access-control-allow-headers') ?? '', /dpop/i);
      }
    },
  },
  {
    report: 'keycloak/keycloak#49794',
    symptom: 'introspection looks at azp in place of the asker',
    tries: async () => {
      equal((await introspect(app, tokens.access_token, basic(other))).text, '{"active":false}');
      equal((await introspect(app, tokens.access_token, basic(client))).body.active, true);
    },
  },
  {
    report: 'keycloak/keycloak#51284',
    symptom: 'an inactive answer carries the signed token',
    tries: async () => {
      const { headers, text } = await introspect(app, tokens.access_token, {
        ...basic(other),
        accept: 'application/token-introspection+jwt, application/jwt',
      });
      equal(text, '{"active":false}');
      match(headers.get('content-type') ?? '', /^application\/json/);
    },
  },
  {
    report: 'keycloak/keycloak#30599',
    symptom: 'an assertion client cannot introspect',
    tries: async () => {
      const { access_token } = (await byAssertion('/oauth2/token', { grant_type: 'client_credentials' }))
        .body;
      for (const aud of [app.issuer, `${app.issuer}/token`]) {
        const { status, body, text } = await byAssertion(
          '/oauth2/introspect',
          { token: String(access_token) },
          { aud },
        );
        deepEqual([status, body.active], [200, true], `${aud}: ${text}`);
      }
    },
  },
  {
    report: 'wso2/product-is#14429',
    symptom: 'introspection leaves granted scopes out',
    tries: async () => {
      const { body } = await postForm(
        app,
        '/oauth2/token',
        { grant_type: 'client_credentials', scope: 'profile email' },
        basic(machine),
      );
      equal((await introspect(app, String(body.access_token), basic(machine))).body.scope, 'profile email');
    },
  },
  {
    report: 'casdoor/casdoor#3935',
    symptom: 'introspection names the asker as client_id',
    tries: async () => {
      const allowed = await app.register({ may_introspect: true });
      equal((await introspect(app, tokens.access_token, basic(allowed))).body.client_id, client.id);
      equal((await introspect(app, tokens.access_token)).body.client_id, client.id);
    },
  },
  {
    report: 'zitadel/zitadel#8590',
    symptom: 'introspection of an assertion client has no client_id',
    tries: async () => {
      const { body } = await byAssertion('/oauth2/token', { grant_type: 'client_credentials' });
      const told = (await introspect(app, String(body.access_token))).body;
      deepEqual([told.client_id, told.sub, told.username], [keyed.id, keyed.id, undefined]);
    },
  },
  {
    report: 'zitadel/oidc#652',
    symptom: 'a token introspects itself as bearer',
    tries: async () => {
      const { status, headers } = await introspect(app, tokens.access_token, bearer(tokens.access_token));
      ok(status === 401 || status === 403, String(status));
      ok(headers.get('www-authenticate'));
    },
  },
  {
    report: 'GluuFederation/oxAuth#951',
    symptom: 'introspection of nonsense is an error',
    tries: async () => {
      for (const token of ['x', '{}', 'a.b', '\u0000', 'ü', 'x'.repeat(5_000), '../../etc', tokens.id_token])
        equal((await introspect(app, token, basic(client))).text, '{"active":false}', token.slice(0, 20));
    },
  },
  {
    report: 'keycloak/keycloak#22177',
    symptom: 'an assertion with the client_id of another',
    tries: async () => {
      const fields = { grant_type: 'client_credentials', client_id: other.id };
      const { status, body } = await byAssertion('/oauth2/token', fields);
      ok(status === 400 || status === 401, JSON.stringify(body));
    },
  },
  {
    report: 'mosip/esignet#2418',
    symptom: 'an assertion is taken twice',
    tries: async () => {
      const jti = randomUUID();
      equal((await byAssertion('/oauth2/par', codeRequest(keyed.id), { jti })).status, 201);
      equal((await byAssertion('/oauth2/par', codeRequest(keyed.id), { jti })).status, 401);
    },
  },
  {
    report: 'keycloak/keycloak#49215',
    symptom: 'an assertion badly signed uses up its jti',
    tries: async () => {
      const jti = randomUUID();
      const forged = (await assertionOf({ aud: app.issuer, jti })).replace(/.{8}$/, 'AAAAAAAA');
      const { status } = await postForm(app, '/oauth2/token', {
        grant_type: 'client_credentials',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: forged,
      });
      equal(status, 401);
      equal((await byAssertion('/oauth2/token', { grant_type: 'client_credentials' }, { jti })).status, 200);
    },
  },
  {
    report: 'keycloak/keycloak#8966',
    symptom: 'an assertion of a clock some seconds ahead is refused',
    tries: async () => {
      const ahead = Math.floor(Date.now() / 1000) + 5;
      const grant = { grant_type: 'client_credentials' };
      equal((await byAssertion('/oauth2/token', grant, { nbf: ahead })).status, 200);
    },
  },
  {
    report: 'keycloak/keycloak-community#180',
    symptom: 'an assertion without jti is refused',
    tries: async () => {
      // Here, too (RFC 7523 §3 leaves it open): without it nobody can tell a replay.
      const grant = { grant_type: 'client_credentials' };
      equal((await byAssertion('/oauth2/token', grant, { jti: undefined })).status, 401);
    },
  },
  {
    report: 'keycloak/keycloak#43281',
    symptom: 'an assertion without its type, or a type alone',
    tries: async () => {
      const grant = { grant_type: 'client_credentials', client_id: keyed.id };
      const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      for (const fields of [
        grant,
        { ...grant, client_assertion: await assertionOf({ aud: app.issuer }) },
        { ...grant, client_assertion_type: type },
        { ...grant, client_assertion_type: 'x', client_assertion: await assertionOf({ aud: app.issuer }) },
      ]) {
        const { status, body } = await postForm(app, '/oauth2/token', fields);
        ok(['invalid_client', 'invalid_request'].includes(String(body.error)), JSON.stringify(body));
        ok(status === 400 || status === 401);
      }
    },
  },
  {
    report: 'ory/hydra#4025',
    symptom: 'revocation of a token that another client got',
    tries: async () => {
      const { access_token } = await tokensOf(app, client, alice);
      const { status } = await postForm(app, '/oauth2/revoke', { token: access_token }, basic(other));
      equal(status, 200);
      equal(await isActive(app, access_token), true);
    },
  },
  {
    report: 'wso2/product-is#12510',
    symptom: 'wrong credentials are 200 for a revoked token',
    tries: async () => {
      const { access_token } = await tokensOf(app, client, alice);
      const revoke = (headers: Record<string, string>) =>
        postForm(app, '/oauth2/revoke', { token: access_token }, headers);
      equal((await revoke(basic(client))).status, 200);
      equal((await revoke(basic({ id: client.id, secret: 'wrong' }))).status, 401);
      equal((await revoke(basic(client))).status, 200);
    },
  },
  {
    report: 'coder/coder#29384',
    symptom: 'revocation of an API key is 500',
    tries: async () => {
      const { body } = await app.admin('POST', '/api-keys', { name: 'reports', scopes: ['admin'] });
      const key = String(body.data.key ?? body.data.secret ?? body.data.token);
      equal((await postForm(app, '/oauth2/revoke', { token: key }, basic(client))).status, 200);
    },
  },
  {
    report: 'authelia/authelia#5632',
    symptom: 'Basic with credentials that are not form-encoded',
    tries: async () => {
      const raw = Buffer.from(`${machine.id}:${machine.secret}`).toString('base64');
      const { status } = await postForm(
        app,
        '/oauth2/token',
        { grant_type: 'client_credentials' },
        { authorization: `Basic ${raw}` },
      );
      equal(status, 200);
    },
  },
  {
    report: 'H2CK/oidc#684',
    symptom: 'wrong Basic credentials get no OAuth error',
    tries: async () => {
      for (const authorization of [
        'Basic !!!',
        'Basic ',
        `Basic ${Buffer.from('x').toString('base64')}`,
        `Basic ${Buffer.from(`${machine.id}:no`).toString('base64')}`,
      ]) {
        const answer = await postForm(
          app,
          '/oauth2/token',
          { grant_type: 'client_credentials' },
          { authorization },
        );
        // A header that is no Basic credential is a malformed request; credentials that are wrong are said to be.
        ok(
          ['401 invalid_client', '400 invalid_request'].includes(`${answer.status} ${answer.body.error}`),
          answer.text,
        );
      }
    },
  },
  {
    report: 'pocket-id/pocket-id#987',
    symptom: 'groups are missing from a refreshed ID token',
    tries: async () => {
      await app.admin('POST', '/groups', { name: 'crew' });
      await app.admin('PATCH', `/users/${alice.id}`, { groups: ['crew'] });
      const first = await tokensOf(app, client, alice, { scope: 'openid offline_access groups email' });
      const { body } = await refresh(app, client, first.refresh_token);
      for (const name of ['groups', 'email']) {
        notEqual(claimsOf(first.id_token)[name], undefined, name);
        deepEqual(claimsOf(body.id_token)[name], claimsOf(first.id_token)[name]);
      }
    },
  },
  {
    report: 'oauth2-proxy/oauth2-proxy#2876',
    symptom: 'the refreshed ID token has another nonce',
    tries: async () => {
      const { body } = await refresh(app, client, tokens.refresh_token);
      ok([undefined, 'once'].includes(claimsOf(body.id_token).nonce as string | undefined));
    },
  },
  {
    report: 'goauthentik/authentik#3739',
    symptom: 'at_hash is null after a refresh',
    tries: async () => {
      const first = await tokensOf(app, client, alice, { scope: 'openid offline_access' });
      const { body } = await refresh(app, client, first.refresh_token);
      const half = createHash('sha256')
        .update(body.access_token)
        .digest()
        .subarray(0, 16)
        .toString('base64url');
      equal(claimsOf(body.id_token).at_hash, half);
      ok(!Object.values(claimsOf(body.id_token)).includes(null));
    },
  },
  {
    report: 'wso2/product-is#13271',
    symptom: 'the refreshed ID token has no auth_time',
    tries: async () => {
      const first = await tokensOf(app, client, alice, { scope: 'openid offline_access' });
      const { body } = await refresh(app, client, first.refresh_token);
      for (const name of ['auth_time', 'amr', 'acr', 'sid', 'sub', 'aud'])
        deepEqual(claimsOf(body.id_token)[name], claimsOf(first.id_token)[name], name);
      equal(typeof claimsOf(body.id_token).auth_time, 'number');
    },
  },
  {
    report: 'ory/hydra#2260',
    symptom: 'an unknown refresh token is another error than invalid_grant',
    tries: async () => {
      for (const token of ['x', '', tokens.access_token, tokens.id_token]) {
        const { status, body } = await refresh(app, client, token);
        equal(status, 400);
        equal(body.error, token === '' ? 'invalid_request' : 'invalid_grant');
      }
    },
  },
  {
    report: 'ory/hydra#3030',
    symptom: 'the JWT of an assertion client has an empty kid',
    tries: async () => {
      const { body } = await byAssertion('/oauth2/token', { grant_type: 'client_credentials' });
      const header = headerOf(String(body.access_token));
      const { body: jwks } = await call(app, 'GET', '/.well-known/jwks.json');
      const keys = jwks.keys as { kid: string; alg: string }[];
      ok(keys.some((key) => key.kid === header.kid && key.alg === header.alg));
      equal(claimsOf(String(body.access_token)).client_id, keyed.id);
    },
  },
  {
    report: 'wso2/product-is#3771',
    symptom: 'a modulus with a bit too many in the key set',
    tries: async () => {
      const { body, headers } = await call(app, 'GET', '/.well-known/jwks.json');
      match(headers.get('content-type') ?? '', /^application\/(jwk-set\+)?json/);
      for (const key of body.keys as Record<string, string>[]) {
        deepEqual([key.use, typeof key.kid, typeof key.alg], ['sig', 'string', 'string']);
        for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) equal(key[member], undefined);
        if (key.kty === 'RSA') ok((Buffer.from(key.n ?? '', 'base64url')[0] ?? 0) > 0);
      }
    },
  },
  {
    report: 'itsyouonline/identityserver#522',
    symptom: 'client credentials with offline_access',
    tries: async () => {
      const { status, body } = await postForm(
        app,
        '/oauth2/token',
        { grant_type: 'client_credentials', scope: 'profile offline_access openid' },
        basic(machine),
      );
      deepEqual(
        [status, body.scope, body.refresh_token, body.id_token],
        [200, 'profile', undefined, undefined],
      );
    },
  },
  {
    report: 'ory/fosite#778',
    symptom: 'a code redeemed at the same moment gives two tokens',
    tries: async () => {
      const browser = new Agent(app);
      for (let turn = 0; turn < 4; turn += 1) {
        const page = await browser.authorize({ ...codeRequest(client.id), nonce: 'n' });
        const back = await browser.finish(page, alice);
        const fields = {
          grant_type: 'authorization_code',
          code: back.searchParams.get('code') ?? '',
          redirect_uri: REDIRECT_URI,
          code_verifier: VERIFIER,
        };
        const answers = await Promise.all([1, 2, 3, 4].map(() => requestTokens(app, client, fields)));
        equal(answers.filter(({ status }) => status === 200).length, 1);
        ok(answers.every(({ status, body }) => status === 200 || body.error === 'invalid_grant'));
      }
    },
  },
  {
    report: 'authup/authup#2919',
    symptom: 'nonce and at_hash are not in the ID token',
    tries: async () => {
      const claims = claimsOf(tokens.id_token);
      deepEqual(
        [claims.nonce, typeof claims.at_hash, claims.iss, claims.aud],
        ['once', 'string', app.issuer, client.id],
      );
    },
  },
  {
    report: 'Abblix/Oidc.Server#558',
    symptom: 'an essential claim that is missing costs the ID token',
    tries: async () => {
      const claims = JSON.stringify({
        id_token: {
          phone_number: { essential: true },
          email: { essential: true, value: 'other@example.com' },
          x: null,
        },
        userinfo: { phone_number: { essential: true }, 'a.b': { values: [] } },
      });
      const { id_token, access_token } = await tokensOf(app, client, alice, {
        scope: 'openid email',
        claims,
      });
      equal(claimsOf(id_token).sub, alice.id);
      equal((await userinfo(bearer(access_token))).status, 200);
    },
  },
  {
    report: 'mitreid-connect/OpenID-Connect-Java-Spring-Server#1453',
    symptom: 'claims that are no JSON object are 500',
    tries: async () => {
      equal(
        (
          await call(app, 'GET', '/oauth2/userinfo?claims=superrandom', {
            headers: bearer(tokens.access_token),
          })
        ).status,
        200,
      );
      for (const claims of [
        'superrandom',
        '[]',
        '"x"',
        'null',
        '1',
        '{"id_token":[]}',
        '{"userinfo":"x"}',
        '{"id_token":{"sub":7}}',
      ]) {
        const page = await new Agent(app).authorize({ ...codeRequest(client.id), claims, state: 's' });
        ok(page.status < 500, claims);
        ok(
          page.status === 200 || /error=invalid_request/.test(page.location ?? ''),
          `${claims}: ${page.location}`,
        );
      }
    },
  },
  {
    report: 'keycloak/keycloak#8724',
    symptom: 'an essential acr that nobody can meet signs in',
    tries: async () => {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'urn:unknown' } } });
      const browser = new Agent(app);
      const page = await browser.authorize({ ...codeRequest(client.id), nonce: 'n', claims, state: 's' });
      const end = page.location
        ? new URL(page.location)
        : await browser.finish(page, alice).catch((error) => error);
      ok(!(end instanceof URL && end.searchParams.has('code')), String(end));
    },
  },
]);
