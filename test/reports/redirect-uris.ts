// Redirect URIs, state and response modes, as other products got them wrong.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { claimsOf, postForm } from '../flows/support.ts';
import { Agent, codeRequest, type Page, requestTokens, VERIFIER } from '../support/agent.ts';
import { tried } from './report.ts';
import { app } from './world.ts';

const browser = new Agent(app);
const client = await app.register();
await browser.signIn(client.id, { username: 'alice' });

const registered = (...redirect_uris: string[]) => app.register({ redirect_uris });
const ask = (id: string, redirect_uri: string, more: Record<string, string> = {}): Promise<Page> =>
  browser.authorize({ ...codeRequest(id), redirect_uri, nonce: 'n', ...more });
const codeOf = (page: Page): string => new URL(page.location ?? 'none:').searchParams.get('code') ?? '';

/** The whole way, silently: the browser is signed in. @returns where it came back */
async function comesBack(uri: string): Promise<string> {
  const { id, secret } = await registered(uri);
  const page = await ask(id, uri);
  ok(page.location, page.body);
  const { status, body } = await requestTokens(
    app,
    { id, secret },
    {
      grant_type: 'authorization_code',
      code: codeOf(page),
      redirect_uri: uri,
      code_verifier: VERIFIER,
    },
  );
  equal(status, 200, JSON.stringify(body));
  return page.location;
}

/** Registered the one, asked with the other: a page of ours, nobody is sent anywhere. */
async function isRefused(known: string, ...asked: string[]): Promise<void> {
  const { id } = await registered(known);
  for (const uri of asked) {
    const page = await ask(id, uri);
    deepEqual([page.status, page.location], [400, undefined], uri);
  }
}

const isNotRegistered = async (...uris: string[]): Promise<void> => {
  for (const uri of uris) {
    const { status } = await app.admin('POST', '/clients', { client_name: 'x', redirect_uris: [uri] });
    equal(status, 400, uri);
  }
};

const stateBack = async (state: string, more: Record<string, string> = {}): Promise<void> => {
  const page = await ask(client.id, 'https://rp.example/callback', { state, ...more });
  equal(new URL(page.location ?? 'none:').searchParams.get('state'), state);
};

tried([
  {
    report: 'keycloak/keycloak#22424',
    symptom: 'encoded curly brackets in the path are refused',
    tries: async () => {
      match(await comesBack('https://rp.example/%7B123%7D/'), /^https:\/\/rp\.example\/%7B123%7D\/\?/);
    },
  },
  {
    report: 'keycloak/keycloak#9450',
    symptom: 'a backslash in the query is refused without a reason',
    tries: async () => {
      const { body } = await app.admin('POST', '/clients', {
        client_name: 'x',
        redirect_uris: ['https://rp.example/cb?account=AD%5Cname'],
      });
      match(JSON.stringify(body), /backslash/);
    },
  },
  {
    report: 'keycloak/keycloak#49109',
    symptom: 'several @ hide the host',
    tries: async () => {
      await isNotRegistered('https://a@b@rp.example/cb', 'https://a@rp.example/cb');
      await isRefused(
        'https://rp.example/cb',
        'https://rp.example@evil.example/cb',
        'https://rp.example@@evil.example/cb',
      );
    },
  },
  {
    report: 'keycloak/keycloak#51286',
    symptom: 'answers planted in the registered address',
    tries: async () => {
      await isNotRegistered('https://rp.example/cb#code=planted');
      await isRefused(
        'https://rp.example/cb',
        'https://rp.example/cb?code=planted',
        'https://rp.example/cb#state=planted',
      );
    },
  },
  {
    report: 'keycloak/keycloak#8959',
    symptom: 'a # at the end breaks the answer',
    tries: async () => {
      await isNotRegistered('https://rp.example/app#', 'https://rp.example/#/app');
      await isRefused('https://rp.example/app', 'https://rp.example/app#', 'https://rp.example/app#/x');
    },
  },
  {
    report: 'kanidm/kanidm#3217',
    symptom: 'a fragment is refused with a wrong reason',
    tries: async () => {
      const { body } = await app.admin('POST', '/clients', {
        client_name: 'x',
        redirect_uris: ['https://vpn.example/#callback'],
      });
      match(JSON.stringify(body), /fragment|#/);
    },
  },
  {
    report: 'keycloak/keycloak#47718',
    symptom: 'a path climbs by ..; or ..',
    tries: () =>
      isRefused(
        'https://rp.example/app/cb',
        'https://rp.example/app/..;/app/cb',
        'https://rp.example/x/../app/cb',
        'https://rp.example/app/%2e%2e/app/cb',
        'https://rp.example/app//cb',
      ),
  },
  {
    report: 'keycloak/keycloak#48430',
    symptom: 'a host that begins with the registered one',
    tries: async () => {
      await isNotRegistered('https://app.example*', 'https://*.example/cb');
      await isRefused(
        'https://app.example',
        'https://app.example.evil.example',
        'https://app.example:443@evil.example',
      );
    },
  },
  {
    report: 'riok/Kreya#295',
    symptom: 'an origin alone, with and without its slash',
    tries: async () => {
      match(await comesBack('https://desk.example'), /^https:\/\/desk\.example\/?\?/);
      match(await comesBack('https://desk.example/'), /^https:\/\/desk\.example\/\?/);
    },
  },
  {
    report: 'panva/openid-client#791',
    symptom: 'asked as an origin, redeemed with a slash: told',
    tries: async () => {
      const { id, secret } = await registered('https://desk.example');
      const page = await ask(id, 'https://desk.example');
      const { status, body } = await requestTokens(
        app,
        { id, secret },
        {
          grant_type: 'authorization_code',
          code: codeOf(page),
          redirect_uri: 'https://desk.example/',
          code_verifier: VERIFIER,
        },
      );
      deepEqual([status, body.error], [400, 'invalid_grant']);
    },
  },
  {
    report: 'pocket-id/pocket-id#1510',
    symptom: 'a slash more in the path is another address',
    tries: () =>
      isRefused('https://rp.example/sso/cb', 'https://rp.example/sso/cb/', 'https://rp.example/SSO/cb'),
  },
  {
    report: 'zitadel/zitadel#1658',
    symptom: 'loopback addresses of native apps, IPv6 too',
    tries: async () => {
      const native = await app.register({
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/cb', 'http://[::1]/cb'],
      });
      for (const uri of ['http://127.0.0.1:51004/cb', 'http://[::1]:61023/cb']) {
        const page = await ask(native.id, uri);
        ok(page.status === 200 || page.location?.startsWith(uri), `${uri}: ${page.status}`);
      }
      for (const uri of [
        'http://127.0.0.1:51004/other',
        'http://127.0.0.2:51004/cb',
        'https://127.0.0.1:51004/cb',
      ])
        equal((await ask(native.id, uri)).status, 400, uri);
    },
  },
  {
    report: 'ory/hydra#4127',
    symptom: 'localhost with another port than registered',
    tries: async () => {
      const native = await app.register({
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://localhost:3000/callback'],
      });
      equal((await ask(native.id, 'http://localhost:51234/callback')).status, 200);
    },
  },
  {
    report: 'spring-attic/spring-authorization-server#875',
    symptom: 'a plus in state comes back as a space',
    tries: () => stateBack('awrD0+CnEc/UPF gm==%2B&x=1;y'),
  },
  {
    report: 'gravitee-io/issues#8761',
    symptom: 'a # in state comes back unencoded',
    tries: () => stateBack('a#b?c'),
  },
  {
    report: 'H2CK/oidc#36',
    symptom: 'a state with an address loses its parameters',
    tries: () => stateBack('MTIz:https://home.example/auth?a=1&b=2#c'),
  },
  {
    report: 'DuendeSoftware/products#96',
    symptom: 'a state of punctuation is changed',
    tries: async () => {
      await stateBack(`x238060'~/@~,,#>"=,-=|_>=\\&^.{~]);,;?`);
      await stateBack('grüße 🙂 \u2028');
    },
  },
  {
    report: 'keycloak/keycloak#10144',
    symptom: 'form_post without response_type answers by GET',
    tries: async () => {
      const page = await browser.authorize({
        ...codeRequest(client.id),
        response_type: undefined,
        response_mode: 'form_post',
        state: 's',
      });
      equal(page.location, undefined);
    },
  },
  {
    report: 'wso2/product-is#12693',
    symptom: 'errors by form_post come without state',
    tries: async () => {
      const page = await new Agent(app).authorize({
        ...codeRequest(client.id),
        response_mode: 'form_post',
        prompt: 'none',
        state: `s"'<&`,
      });
      equal(page.status, 200);
      match(page.body, /name="error" value="login_required"/);
      match(page.body, /name="state" value="s(&quot;|&#34;)(&#39;|&apos;|&#x27;|')(&lt;|&#60;)&amp;"/);
    },
  },
  {
    report: 'keycloak/keycloak#3029',
    symptom: 'state is encoded twice by form_post',
    tries: async () => {
      const page = await ask(client.id, 'https://rp.example/callback', {
        response_mode: 'form_post',
        state: 'a%2Fb/c d',
      });
      match(page.body, /name="state" value="a%2Fb\/c d"/);
    },
  },
  {
    report: 'spring-attic/spring-security-oauth#574',
    symptom: 'a redirect URI with a query of its own',
    tries: async () => {
      match(await comesBack('https://rp.example/cb?tenant=a&x=1'), /\?tenant=a&x=1&/);
    },
  },
  {
    report: 'keycloak/keycloak#40857',
    symptom: 'a very long login_hint breaks the sign-in',
    tries: async () => {
      const page = await new Agent(app).authorize({
        ...codeRequest(client.id),
        login_hint: 'x'.repeat(6_000),
      });
      equal(page.status, 200);
      match(page.body, /name="password"/);
      const there = await new Agent(app).authorize({
        ...codeRequest(client.id),
        login_hint: '"><script>x</script>',
      });
      ok(!there.body.includes('<script>x'));
    },
  },
  {
    report: 'ory/hydra#4013',
    symptom: 'ui_locales that no language has are an error',
    tries: async () => {
      for (const ui_locales of ['vn', 'xx_YY', '../de', '', 'de '.repeat(300)])
        equal(
          (await new Agent(app).authorize({ ...codeRequest(client.id), ui_locales })).status,
          200,
          ui_locales,
        );
    },
  },
  {
    report: 'DuendeArchive/IdentityServer4#4787',
    symptom: 'the error page and sign-out forget ui_locales',
    tries: async () => {
      const stranger = new Agent(app);
      const request = { ...codeRequest('nobody'), ui_locales: 'xx de' };
      for (const page of [
        await stranger.authorize(request),
        await stranger.authorize({ ...request, client_id: client.id, redirect_uri: 'https://evil.example' }),
        await stranger.get('/oauth2/logout?ui_locales=de'),
      ])
        match(page.body, /<html[^>]*lang="de"/);
    },
  },
  {
    report: 'lobehub/lobehub#9032',
    symptom: 'an empty nonce is written into the ID token',
    tries: async () => {
      const page = await ask(client.id, 'https://rp.example/callback', { nonce: '' });
      const { body } = await requestTokens(app, client, {
        grant_type: 'authorization_code',
        code: codeOf(page),
        redirect_uri: 'https://rp.example/callback',
        code_verifier: VERIFIER,
      });
      equal(claimsOf(body.id_token).nonce, undefined);
    },
  },
  {
    report: 'keycloak/keycloak#36716',
    symptom: 'a pushed request is lost by a reload of the page',
    tries: async () => {
      const { body } = await postForm(app, '/oauth2/par', {
        ...codeRequest(client.id),
        client_secret: client.secret,
        prompt: 'login',
      });
      const stranger = new Agent(app);
      const open = { client_id: client.id, request_uri: String(body.request_uri) };
      equal((await stranger.authorize(open)).status, 200);
      const again = await stranger.authorize(open);
      equal(again.status, 200, again.location);
      const back = await stranger.finish(again, { username: 'alice' });
      ok(back.searchParams.get('code'), back.href);
    },
  },
]);
