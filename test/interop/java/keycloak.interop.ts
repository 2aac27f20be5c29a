// Keycloak as a broker: an application signs in to Keycloak, which sends the person on to us. It is set up by its admin API, as
// its console does it: the endpoints come from our discovery document.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { claimsOf } from '../../flows/support.ts';
import { freePort } from '../../support/free-port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { type Browser, type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { install } from '../support/toolchain.ts';
import { MAVEN } from './build.ts';

const VERSION = '26.7.0';
const OPERATOR = { username: 'operator', password: 'operator-of-keycloak' };

const keycloak = await install({
  name: `java-keycloak-${VERSION}`,
  programs: ['mvn', 'java', 'bash'],
  pins: [],
  commands: () => [
    [
      ...MAVEN,
      'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack',
      `-Dartifact=org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`,
      '-DoutputDirectory=.',
      '-DmarkersDirectory=.markers',
    ],
  ],
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const value: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.status, body: typeof value === 'object' && value !== null ? { ...value } : {} };
}

const form = async (url: string, fields: Record<string, string>): Promise<Answer> =>
  answerOf(await fetch(url, { method: 'POST', body: new URLSearchParams(fields) }));

/** A realm with one application, and with us as its identity provider. */
async function setUp(url: string, application: string, issuer: Issuer): Promise<void> {
  const { body } = await form(`${url}/realms/master/protocol/openid-connect/token`, {
    grant_type: 'password',
    client_id: 'admin-cli',
    ...OPERATOR,
  });
  const post = async (path: string, json: unknown): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}/admin/realms${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${body.access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    const answer = await answerOf(response);
    ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await post('', { realm: 'home', enabled: true });
  await post('/home/clients', {
    clientId: 'application',
    publicClient: true,
    redirectUris: [`${application}/*`],
    attributes: { 'post.logout.redirect.uris': '+' },
  });
  const discovered = await post('/home/identity-provider/import-config', {
    providerId: 'oidc',
    fromUrl: `${issuer.issuer}/.well-known/openid-configuration`,
  });
  const endpoint = `${url}/realms/home/broker/latchkey/endpoint`;
  const client = await issuer.registerClient({
    redirect_uris: [endpoint],
    post_logout_redirect_uris: [`${endpoint}/logout_response`],
    backchannel_logout_uri: `${url}/realms/home/protocol/openid-connect/logout/backchannel-logout`,
    token_endpoint_auth_method: 'client_secret_post',
  });
  await post('/home/identity-provider/instances', {
    alias: 'latchkey',
    providerId: 'oidc',
    enabled: true,
    config: {
      ...discovered,
      clientId: client.client_id,
      clientSecret: client.client_secret,
      clientAuthMethod: 'client_secret_post',
      defaultScope: 'openid profile email',
    },
  });
}

/** Keycloak's own endpoints, as the application calls them. */
function applicationOf(url: string, application: string) {
  const openidConnect = `${url}/realms/home/protocol/openid-connect`;
  return {
    async signIn(browser: Browser): Promise<Record<string, unknown>> {
      const parameters = new URLSearchParams({
        client_id: 'application',
        redirect_uri: `${application}/callback`,
        response_type: 'code',
        scope: 'openid',
        kc_idp_hint: 'latchkey',
      });
      const page = await browser.visit(`${openidConnect}/auth?${parameters}`);
      const code = new URL(page.url).searchParams.get('code');
      ok(code, `${page.status} at ${page.url}: ${page.body.slice(0, 3000)}`);
      const { status, body } = await form(`${openidConnect}/token`, {
        grant_type: 'authorization_code',
        client_id: 'application',
        redirect_uri: `${application}/callback`,
        code,
      });
      equal(status, 200, JSON.stringify(body));
      return body;
    },

    /** @returns the path where the browser ends */
    async signOut(browser: Browser, idToken: unknown): Promise<string> {
      const parameters = new URLSearchParams({
        id_token_hint: String(idToken),
        post_logout_redirect_uri: `${application}/bye`,
      });
      return new URL((await browser.visit(`${openidConnect}/logout?${parameters}`)).url).pathname;
    },

    // A refresh token of Keycloak may be used often: it is not rotated by default.
    refresh: (token: unknown): Promise<Answer> =>
      form(`${openidConnect}/token`, {
        grant_type: 'refresh_token',
        client_id: 'application',
        refresh_token: String(token),
      }),
  };
}

async function activeSessions(issuer: Issuer): Promise<string[]> {
  const { body } = await issuer.app.admin('GET', '/sessions?is_active=true');
  return (body.data.items ?? []).map(({ id }) => String(id));
}

test('Keycloak: brokers a sign-in, signs out here too, and ends when we end', keycloak, async (t) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer({ env: { OUTBOUND_ALLOW: `127.0.0.1:${port}` } });
  t.after(() => issuer.close());
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const server = await startServer({
    command: 'bash',
    args: [
      `${keycloak.folder}/keycloak-${VERSION}/bin/kc.sh`,
      'start-dev',
      '--db=dev-mem',
      '--http-host=127.0.0.1',
      `--http-port=${port}`,
    ],
    env: {
      JAVA_OPTS_KC_HEAP: '-Xms64m -Xmx768m',
      JAVA_OPTS_APPEND: '-XX:TieredStopAtLevel=1',
      KC_BOOTSTRAP_ADMIN_USERNAME: OPERATOR.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: OPERATOR.password,
    },
    url: `${url}/realms/master`,
  });
  t.after(() => server.stop());
  const callback = `http://127.0.0.1:${receiver.port}`;
  await setUp(url, callback, issuer);
  const application = applicationOf(url, callback);

  try {
    const browser = issuer.newBrowser();
    const tokens = await application.signIn(browser);
    equal(claimsOf(String(tokens.id_token)).email, PERSON.email);
    equal((await activeSessions(issuer)).length, 1);
    equal(await application.signOut(browser, tokens.id_token), '/bye');
    equal((await activeSessions(issuer)).length, 0);

    const again = await application.signIn(issuer.newBrowser());
    equal((await application.refresh(again.refresh_token)).status, 200);
    for (const id of await activeSessions(issuer)) await issuer.app.admin('DELETE', `/sessions/${id}`);
    let answer = await application.refresh(again.refresh_token);
    for (let tries = 0; tries < 100 && answer.status === 200; tries += 1) {
      await wait(200);
      answer = await application.refresh(again.refresh_token);
    }
    deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
  } catch (error) {
    throw new Error(`${issuer.refusals().join('')}\n${server.said()}`, { cause: error });
  }
});
