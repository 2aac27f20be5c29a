// Sign-out, prompts, pushed requests, devices and what ends a grant, as other products got them wrong.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import {
  basic,
  bearer,
  call,
  change,
  claimsOf,
  isActive,
  later,
  postForm,
  tokensOf,
} from '../flows/support.ts';
import { Agent, codeRequest, type Page, redeem, refresh, requestTokens, VERIFIER } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI } from '../support/app.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';
import { tried } from './report.ts';
import { alice, app } from './world.ts';

const BYE = 'https://rp.example/bye';
const client = await app.register({
  post_logout_redirect_uris: [BYE],
  scope: 'openid profile email offline_access',
});
const other = await app.register({ post_logout_redirect_uris: ['https://other.example/bye'] });
const tv = await app.register({
  ...television,
  grant_types: [DEVICE_GRANT, 'refresh_token'],
  scope: 'openid offline_access',
});
const MINUTE = 60_000;

const signedIn = async (to = client) => {
  const agent = new Agent(app);
  return { agent, tokens: await tokensOf(app, to, alice, {}, agent) };
};
const logout = (agent: Agent, fields: Record<string, string>): Promise<Page> =>
  agent.get(`/oauth2/logout?${new URLSearchParams(fields)}`);
const silently = async (agent: Agent, more: Record<string, string> = {}): Promise<URLSearchParams> => {
  const page = await agent.authorize({ ...codeRequest(client.id), nonce: 'n', prompt: 'none', ...more });
  return new URL(page.location ?? 'none:').searchParams;
};
const push = async (more: Record<string, string> = {}, to = client): Promise<string> => {
  const { body, text } = await postForm(
    app,
    '/oauth2/par',
    { ...codeRequest(to.id), nonce: 'n', ...more },
    basic(to),
  );
  ok(body.request_uri, text);
  return String(body.request_uri);
};

const startDevice = async (more: Record<string, string> = {}) => {
  const { body } = await postForm(app, '/oauth2/device_authorization', {
    client_id: tv.id,
    scope: 'openid',
    ...more,
  });
  return { user: String(body.user_code), device: String(body.device_code), body };
};
const poll = (device: string, client_id = tv.id) =>
  postForm(app, '/oauth2/token', { grant_type: DEVICE_GRANT, device_code: device, client_id });
const enter = async (agent: Agent, code: string): Promise<Page> =>
  agent.submit(await agent.get('/oauth2/device'), { user_code: code });
async function confirm(
  agent: Agent,
  question: Page,
  fields: Record<string, string> = { confirm: 'yes' },
): Promise<Page> {
  const page = await agent.submit(question, fields);
  return page.body.includes('name="password"')
    ? agent.submit(page, { username: 'alice', password: PASSWORD })
    : page;
}

tried([
  {
    report: 'ory/hydra#1014',
    symptom: 'an expired ID token is no hint at authorize',
    tries: async () => {
      const { agent, tokens } = await signedIn();
      await later(65 * MINUTE, async () =>
        ok((await silently(agent, { id_token_hint: tokens.id_token })).get('code')),
      );
    },
  },
  {
    report: 'ory/hydra#951',
    symptom: 'a hint of another person is ignored by prompt=none',
    tries: async () => {
      const bob = await app.createUser('bob');
      const his = await tokensOf(app, client, bob);
      const { agent } = await signedIn();
      equal((await silently(agent, { id_token_hint: his.id_token })).get('error'), 'login_required');
    },
  },
  {
    report: 'FusionAuth/fusionauth-issues#3251',
    symptom: 'an expired ID token is no hint at sign-out',
    tries: async () => {
      const { agent, tokens } = await signedIn();
      await later(65 * MINUTE, async () => {
        const page = await logout(agent, {
          id_token_hint: tokens.id_token,
          post_logout_redirect_uri: BYE,
          state: 'a b',
        });
        equal(page.location, `${BYE}?state=a+b`);
      });
    },
  },
  {
    report: 'goauthentik/authentik#22603',
    symptom: 'sign-out with client_id and no hint is a bad request',
    tries: async () => {
      const { agent } = await signedIn();
      const page = await logout(agent, { client_id: client.id, post_logout_redirect_uri: BYE });
      equal(page.location, BYE);
      equal((await silently(agent)).get('error'), 'login_required');
    },
  },
  {
    report: 'idenplane/idenplane#359',
    symptom: 'sign-out leads to any address',
    tries: async () => {
      for (const uri of [
        'https://evil.example/',
        `${BYE}/`,
        `${BYE}?x`,
        `${BYE}#x`,
        'javascript:alert(1)',
        '//evil.example',
        REDIRECT_URI,
      ]) {
        const { agent, tokens } = await signedIn();
        const page = await logout(agent, {
          id_token_hint: tokens.id_token,
          post_logout_redirect_uri: uri,
          state: 's',
        });
        equal(page.location, undefined, uri);
        ok(!page.body.includes('href="javascript'));
      }
    },
  },
  {
    report: 'OpenLiberty/open-liberty#25266',
    symptom: 'client_id names another application than the hint',
    tries: async () => {
      const { agent, tokens } = await signedIn();
      const page = await logout(agent, {
        id_token_hint: tokens.id_token,
        client_id: other.id,
        post_logout_redirect_uri: 'https://other.example/bye',
      });
      equal(page.location, undefined);
    },
  },
  {
    report: 'OpenLiberty/open-liberty#26459',
    symptom: 'a hint that is no token',
    tries: async () => {
      for (const hint of ['abc.def.xyz', 'x', '..', '\u0000']) {
        const page = await logout((await signedIn()).agent, { id_token_hint: hint });
        ok(page.status < 500, `${hint}: ${page.status}`);
      }
    },
  },
  {
    report: 'keycloak/keycloak-js#287',
    symptom: 'the hint "undefined" of a script keeps from returning',
    tries: async () => {
      for (const id_token_hint of ['undefined', 'null']) {
        const fields = { client_id: client.id, id_token_hint, post_logout_redirect_uri: BYE };
        equal((await new Agent(app).post('/oauth2/logout', fields)).location, BYE);
        equal((await logout((await signedIn()).agent, fields)).location, BYE);
      }
    },
  },
  {
    report: 'itpropro/nuxt-oidc-auth#79',
    symptom: 'an empty hint is an error without a way on',
    tries: async () => {
      const page = await logout((await signedIn()).agent, {
        id_token_hint: '',
        post_logout_redirect_uri: BYE,
      });
      equal(page.location, undefined);
      match(page.body, /<a class="|<form/);
    },
  },
  {
    report: 'keycloak/keycloak#24213',
    symptom: 'an error at sign-out leaves people on a dead page',
    tries: async () => {
      const page = await logout(new Agent(app), { post_logout_redirect_uri: 'https://gone.example/' });
      ok(page.status < 500);
      match(page.body, /<a [^>]*href=/);
    },
  },
  {
    report: 'keycloak/keycloak#4453',
    symptom: 'prompt=login leaves auth_time as it was',
    tries: async () => {
      const { agent, tokens } = await signedIn();
      await later(5 * MINUTE, async () => {
        const again = await redeem(
          app,
          client,
          await agent.signIn(client.id, alice, { prompt: 'login', scope: 'openid' }),
        );
        ok(
          Number(claimsOf(again.body.id_token).auth_time) >=
            Number(claimsOf(tokens.id_token).auth_time) + 299,
        );
      });
    },
  },
  {
    report: 'keycloak/keycloak#33641',
    symptom: 'max_age=0 loops or is refused',
    tries: async () => {
      const { agent } = await signedIn();
      const { response } = await agent.signIn(client.id, alice, { max_age: '0' });
      ok(response.get('code'), response.toString());
      equal((await silently(agent, { max_age: '0' })).get('error'), 'login_required');
      for (const max_age of ['-1', 'x', '1.5', '99999999999999999999']) {
        const page = await agent.authorize({ ...codeRequest(client.id), nonce: 'n', max_age });
        ok(page.status < 500, max_age);
      }
    },
  },
  {
    report: 'Forceu/Gokapi#369',
    symptom: 'prompt=none without a session is a page of ours',
    tries: async () => {
      const answer = await silently(new Agent(app), { state: 's' });
      deepEqual(
        [answer.get('error'), answer.get('state'), answer.get('iss')],
        ['login_required', 's', app.issuer],
      );
    },
  },
  {
    report: 'mosip/esignet#1786',
    symptom: 'request and request_uri are ignored',
    tries: async () => {
      for (const [name, error] of [
        ['request', 'request_not_supported'],
        ['request_uri', 'request_uri_not_supported'],
      ] as const) {
        const page = await new Agent(app).authorize({
          ...codeRequest(client.id),
          [name]: 'https://rp.example/r',
          state: 's',
        });
        const told = new URL(page.location ?? 'none:').searchParams;
        ok([error, 'invalid_request_uri'].includes(told.get('error') ?? ''), page.location);
        equal(told.get('state'), 's');
      }
    },
  },
  {
    report: 'thunder-id/thunderid#5132',
    symptom: 'discovery leaves out that request_uri is not taken',
    tries: async () => {
      const { body } = await call(app, 'GET', '/.well-known/openid-configuration');
      // Left out, the first is false and the second true (OpenID Connect Discovery §3).
      deepEqual(
        [body.request_parameter_supported ?? false, body.request_uri_parameter_supported],
        [false, false],
      );
    },
  },
  {
    report: 'wso2/product-is#20756',
    symptom: 'the pushed request of another client is server_error',
    tries: async () => {
      const page = await new Agent(app).authorize({ client_id: other.id, request_uri: await push() });
      ok(page.status === 400 || /error=invalid_request/.test(page.location ?? ''), page.location);
    },
  },
  {
    report: 'keycloak/keycloak#51761',
    symptom: 'a sign-in that outlasts the pushed request fails',
    tries: async () => {
      const agent = new Agent(app);
      const page = await agent.authorize({ client_id: client.id, request_uri: await push() });
      await later(5 * MINUTE, async () => ok((await agent.finish(page, alice)).searchParams.get('code')));
    },
  },
  {
    report: 'spring-attic/spring-authorization-server#1973',
    symptom: 'a pushed request never expires',
    tries: async () => {
      const request_uri = await push();
      await later(2 * MINUTE, async () => {
        const page = await new Agent(app).authorize({ client_id: client.id, request_uri });
        ok(page.status === 400 || /error=invalid_request_uri/.test(page.location ?? ''), page.location);
      });
    },
  },
  {
    report: 'keycloak/keycloak#49269',
    symptom: 'a prompt appended to a pushed request counts',
    tries: async () => {
      const { agent } = await signedIn();
      const page = await agent.authorize({
        client_id: client.id,
        request_uri: await push({ state: 'own' }),
        prompt: 'login',
        state: 'x',
      });
      const back = new URL(page.location ?? 'none:').searchParams;
      deepEqual([back.has('code'), back.get('state')], [true, 'own']);
    },
  },
  {
    report: 'keycloak/keycloak#49255',
    symptom: 'prompt=create in a pushed request opens the sign-in',
    tries: async () => {
      await change(app, { allow_self_signup: true });
      const plain = await new Agent(app).authorize({
        ...codeRequest(client.id),
        nonce: 'n',
        prompt: 'create',
      });
      const pushed = await new Agent(app).authorize({
        client_id: client.id,
        request_uri: await push({ prompt: 'create' }),
      });
      const titleOf = (page: Page) => /<h1[^>]*>([^<]*)/.exec(page.body)?.[1];
      equal(titleOf(pushed), titleOf(plain));
      await change(app, { allow_self_signup: false });
    },
  },
  {
    report: 'keycloak/keycloak#11569',
    symptom: 'a plain pushed request of a client that must sign is 500',
    tries: async () => {
      const { status, body } = await postForm(
        app,
        '/oauth2/par',
        { ...codeRequest(client.id), request: 'x.y.z' },
        basic(client),
      );
      deepEqual([status, body.error], [400, 'request_not_supported']);
    },
  },
  {
    report: 'spring-attic/spring-authorization-server#1499',
    symptom: 'a repeated scope is not told to the application',
    tries: async () => {
      const query = new URLSearchParams({ ...codeRequest(client.id), state: 's' });
      const page = await new Agent(app).get(`/oauth2/authorize?${query}&scope=email`);
      ok(page.status === 400 || /error=invalid_request/.test(page.location ?? ''), page.body);
    },
  },
  {
    report: 'leodip/goiabada#228',
    symptom: 'a repeated parameter: the first one counts',
    tries: async () => {
      for (const name of ['grant_type', 'client_id', 'scope', 'refresh_token']) {
        const { status, body } = await postForm(
          app,
          '/oauth2/token',
          [
            ['grant_type', 'refresh_token'],
            ['refresh_token', 'x'],
            [name, 'a'],
            [name, 'b'],
          ],
          basic(client),
        );
        deepEqual([status, body.error], [400, 'invalid_request'], name);
      }
    },
  },
  {
    report: 'goauthentik/authentik#11399',
    symptom: 'offline_access by device gives no refresh token',
    tries: async () => {
      const { user, device } = await startDevice({ scope: 'openid offline_access' });
      const agent = new Agent(app);
      await confirm(agent, await enter(agent, user));
      equal(typeof (await poll(device)).body.refresh_token, 'string');
    },
  },
  {
    report: 'goauthentik/authentik#21701',
    symptom: 'a device gets scopes that its application may not have',
    tries: async () => {
      const { user, device } = await startDevice({ scope: 'openid email admin groups' });
      const agent = new Agent(app);
      await confirm(agent, await enter(agent, user));
      equal((await poll(device)).body.scope, 'openid');
    },
  },
  {
    report: 'Abblix/Oidc.Server#281',
    symptom: 'the first poll is told to slow down',
    tries: async () => {
      const { device } = await startDevice();
      equal((await poll(device)).body.error, 'authorization_pending');
    },
  },
  {
    report: 'better-auth/better-auth#10135',
    symptom: 'the device code of another client tells its scopes',
    tries: async () => {
      const second = await app.register(television);
      const { device } = await startDevice();
      const { body } = await poll(device, second.id);
      equal(body.error, 'invalid_grant');
      ok(!JSON.stringify(body).includes('scope'));
      equal((await poll(device)).body.error, 'authorization_pending');
    },
  },
  {
    report: 'keycloak/keycloak#36811',
    symptom: 'a device denied, then allowed by the browser’s back',
    tries: async () => {
      const { user, device } = await startDevice();
      const agent = new Agent(app);
      const question = await enter(agent, user);
      await agent.submit(question, { abort: 'yes' });
      const again = await confirm(agent, question).catch(() => undefined);
      const { status, body } = await poll(device);
      equal(status, 400, again?.body);
      ok(['access_denied', 'authorization_pending'].includes(String(body.error)), String(body.error));
    },
  },
  {
    report: 'keycloak/keycloak#8666',
    symptom: 'a denied device code entered once more is 500',
    tries: async () => {
      const { user } = await startDevice();
      const agent = new Agent(app);
      await agent.submit(await enter(agent, user), { abort: 'yes' });
      const page = await enter(agent, user);
      ok(page.status < 500, String(page.status));
    },
  },
  {
    report: 'keycloak/keycloak#52783',
    symptom: 'a device confirmed before its person was deactivated',
    tries: async () => {
      const carol = await app.createUser('carol');
      const { user, device } = await startDevice();
      const agent = new Agent(app);
      await agent.signIn(client.id, carol);
      await agent.submit(await enter(agent, user), { confirm: 'yes' });
      await app.admin('POST', `/users/${carol.id}/deactivate`);
      const { status, body } = await poll(device);
      deepEqual([status, body.access_token], [400, undefined], String(body.error));
    },
  },
  {
    report: 'wso2/product-is#13213',
    symptom: 'a wrong user code clears the field without a word',
    tries: async () => {
      const page = await enter(new Agent(app), 'BBBB-BBBB');
      match(page.body, /role="alert"|class="alert/);
      match(page.body, /name="user_code"/);
    },
  },
  {
    report: 'longbridge/gpui-kit#2261',
    symptom: 'a code typed in full width is refused',
    tries: async () => {
      const { user, device } = await startDevice();
      const wide = user.replace(/[A-Z]/g, (letter) =>
        String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0),
      );
      const agent = new Agent(app);
      const question = await enter(agent, wide.replace('-', '\u30fc'));
      ok(question.body.includes(user), question.body);
      await confirm(agent, question);
      equal((await poll(device)).status, 200);
    },
  },
  {
    report: 'OpenIdentityPlatform/OpenAM#204',
    symptom: 'verification_uri is called verification_url',
    tries: async () => {
      const { body } = await startDevice();
      for (const name of ['device_code', 'user_code', 'verification_uri', 'verification_uri_complete'])
        equal(typeof body[name], 'string', name);
      equal(typeof body.expires_in, 'number');
    },
  },
  {
    report: 'goauthentik/authentik#12858',
    symptom: 'refresh tokens of a deactivated person work',
    tries: async () => {
      const dora = await app.createUser('dora');
      const tokens = await tokensOf(app, client, dora, { scope: 'openid offline_access' });
      const { code, verifier } = await new Agent(app).signIn(client.id, dora);
      await app.admin('POST', `/users/${dora.id}/deactivate`);
      equal((await refresh(app, client, tokens.refresh_token)).status, 400);
      equal((await redeem(app, client, { code, verifier })).status, 400);
      equal(await isActive(app, tokens.access_token), false);
      equal(
        (await call(app, 'GET', '/oauth2/userinfo', { headers: bearer(tokens.access_token) })).status,
        401,
      );
    },
  },
  {
    report: 'leodip/goiabada#241',
    symptom: 'a redirect URI removed meanwhile still gets the code',
    tries: async () => {
      const gone = 'https://gone.example/cb';
      const own = await app.register({ redirect_uris: [gone, REDIRECT_URI], skip_consent: false });
      const agent = new Agent(app);
      const first = await agent.authorize({ ...codeRequest(own.id), redirect_uri: gone, nonce: 'n' });
      const consent = await agent.submit(first, { username: 'alice', password: PASSWORD });
      const issued = new Agent(app);
      const back = await issued.finish(
        await issued.authorize({ ...codeRequest(own.id), redirect_uri: gone, nonce: 'n' }),
        alice,
      );
      equal((await app.admin('PATCH', `/clients/${own.id}`, { redirect_uris: [REDIRECT_URI] })).status, 200);
      const end = await agent.submit(consent, { action: 'allow' });
      ok(!end.location?.startsWith(gone), end.location);
      const { status } = await requestTokens(app, own, {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        redirect_uri: gone,
        code_verifier: VERIFIER,
      });
      equal(status, 400);
    },
  },
  {
    report: 'leodip/goiabada#250',
    symptom: 'refresh needs the code grant, whatever began it',
    tries: async () => {
      const { user, device } = await startDevice({ scope: 'openid offline_access' });
      const agent = new Agent(app);
      await confirm(agent, await enter(agent, user));
      equal((await refresh(app, tv, String((await poll(device)).body.refresh_token))).status, 200);
    },
  },
  {
    report: 'node-oauth/node-oauth2-server#232',
    symptom: 'a code survives a redemption with another redirect URI',
    tries: async () => {
      const two = await app.register({ redirect_uris: [REDIRECT_URI, 'https://rp.example/two'] });
      const { code } = await new Agent(app).signIn(two.id, alice, codeRequest(two.id));
      const by = (redirect_uri: string, by = two) =>
        requestTokens(app, by, {
          grant_type: 'authorization_code',
          code,
          redirect_uri,
          code_verifier: VERIFIER,
        });
      equal((await by('https://rp.example/two')).body.error, 'invalid_grant');
      equal((await by(REDIRECT_URI, client)).body.error, 'invalid_grant');
    },
  },
  {
    report: 'ScaleOvenStove/crosswithfriends#566',
    symptom: 'a token of before sign-out ends later sessions',
    tries: async () => {
      const { agent, tokens } = await signedIn();
      await logout(agent, { id_token_hint: tokens.id_token });
      const now = await tokensOf(app, client, alice, {}, agent);
      equal((await refresh(app, client, tokens.refresh_token)).status, 400);
      equal(await isActive(app, now.access_token), true);
      equal((await refresh(app, client, now.refresh_token)).status, 200);
    },
  },
  {
    report: 'VilnaCRM-Org/user-service#474',
    symptom: 'the grace after a rotation makes two chains of tokens',
    tries: async () => {
      const spa = await app.register({ token_endpoint_auth_method: 'none', scope: 'openid offline_access' });
      const { refresh_token } = await tokensOf(app, spa, alice, { scope: 'openid offline_access' });
      const answers = await Promise.all([1, 2, 3].map(() => refresh(app, spa, refresh_token)));
      const given = new Set(
        answers.filter(({ status }) => status === 200).map(({ body }) => body.refresh_token),
      );
      equal(given.size, 1);
      notEqual([...given][0], refresh_token);
    },
  },
]);
