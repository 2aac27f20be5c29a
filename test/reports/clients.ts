// Registration, discovery and what MCP clients ask for, as other products got it wrong.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { createApi } from '../flows/api-support.ts';
import { basic, bearer, call, claimsOf, type Json, postForm, tokensOf } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI } from '../support/app.ts';
import { tried } from './report.ts';
import { alice, app } from './world.ts';

const LOOPBACK = 'http://127.0.0.1:33418/callback';
const agentMetadata = {
  client_name: 'Notes agent',
  redirect_uris: [LOOPBACK],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

const register = (metadata: Json, token?: string) =>
  call(app, 'POST', '/oauth2/register', {
    headers: { 'content-type': 'application/json', ...(token !== undefined && bearer(token)) },
    body: JSON.stringify(metadata),
  });
const vouched = async (metadata: Json = {}) => {
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'reports', uses: 1 });
  const answer = await register(
    { client_name: 'Newcomer', redirect_uris: [REDIRECT_URI], ...metadata },
    String(body.data.token),
  );
  equal(answer.status, 201, answer.text);
  return answer.body;
};
const manage = (client: Json, method: string, body?: Json) =>
  call(app, method, new URL(String(client.registration_client_uri)).pathname, {
    headers: { ...bearer(String(client.registration_access_token)), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
const discovery = async (path = '/.well-known/openid-configuration') => (await call(app, 'GET', path)).body;
const asked = (id: string, more: Record<string, string | undefined> = {}) =>
  new Agent(app).authorize({ ...codeRequest(id), redirect_uri: LOOPBACK, state: 's', ...more });

tried([
  {
    report: 'dozigden/boardoil#11',
    symptom: 'a registration without scope is refused',
    tries: async () => {
      const { status, body, text } = await register({ ...agentMetadata, application_type: 'native' });
      equal(status, 201, text);
      equal((await asked(String(body.client_id))).status, 200);
    },
  },
  {
    report: 'open-webui/open-webui#29967',
    symptom: 'the answer of registration leaves scope out',
    tries: async () => {
      const { body } = await register({ ...agentMetadata, scope: 'openid profile' });
      equal(body.scope, 'openid profile');
    },
  },
  {
    report: 'modelcontextprotocol/python-sdk#1636',
    symptom: 'an unknown scope costs the registration',
    tries: async () => {
      const { status, body } = await register({
        ...agentMetadata,
        scope: 'http://localhost:9001/.well-known/oauth-protected-resource/mcp openid',
      });
      equal(status, 201);
      ok(!String(body.scope).includes('http'));
    },
  },
  {
    report: 'formbricks/formbricks#8406',
    symptom: 'offline_access beyond the registered scopes is an error',
    tries: async () => {
      const { body } = await register({ ...agentMetadata, scope: 'openid' });
      equal((await asked(String(body.client_id), { scope: 'openid offline_access' })).status, 200);
    },
  },
  {
    report: 'anthropics/claude-code#41677',
    symptom: 'an unknown scope costs the sign-in',
    tries: async () => {
      const { body } = await register(agentMetadata);
      equal((await asked(String(body.client_id), { scope: 'openid user:mcp_servers' })).status, 200);
    },
  },
  {
    report: 'anthropics/claude-code#12077',
    symptom: 'no scope at authorize gives nothing of use',
    tries: async () => {
      const { body } = await register(agentMetadata);
      equal((await asked(String(body.client_id), { scope: undefined })).status, 200);
      equal((await asked(String(body.client_id), { scope: '' })).status, 200);
    },
  },
  {
    report: 'turnstonelabs/turnstone#1082',
    symptom: 'an unknown member costs the registration',
    tries: async () => {
      const { status, body } = await register({
        ...agentMetadata,
        resource: 'https://mcp.example/',
        x_y: { a: [1] },
        'client_name#de': 'Notizen',
      });
      deepEqual([status, body.resource], [201, undefined]);
    },
  },
  {
    report: 'can1357/oh-my-pi#5267',
    symptom: 'RFC 8414 metadata is not at the address with the path',
    tries: async () => {
      const own = await discovery();
      for (const path of [
        '/.well-known/oauth-authorization-server/oauth2',
        '/oauth2/.well-known/oauth-authorization-server',
        '/.well-known/oauth-authorization-server',
        '/.well-known/openid-configuration/oauth2',
      ])
        deepEqual(await discovery(path), own, path);
      ok(own.registration_endpoint);
    },
  },
  {
    report: 'modelcontextprotocol/python-sdk#1919',
    symptom: 'the issuer differs by a slash between places',
    tries: async () => {
      const { issuer } = await discovery();
      const client = await app.register();
      const tokens = await tokensOf(app, client, alice);
      const page = await new Agent(app).authorize({ ...codeRequest(client.id), prompt: 'none' });
      const told = [
        claimsOf(tokens.id_token).iss,
        claimsOf(tokens.access_token).iss,
        new URL(page.location ?? 'none:').searchParams.get('iss'),
      ];
      deepEqual(told, [issuer, issuer, issuer]);
    },
  },
  {
    report: 'casdoor/casdoor#3967',
    symptom: 'discovery has response modes that do not exist',
    tries: async () => {
      const { response_modes_supported: modes } = await discovery();
      const known = ['query', 'fragment', 'form_post', 'jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'];
      ok(Array.isArray(modes) && modes.every((mode) => known.includes(String(mode))));
    },
  },
  {
    report: 'better-auth/better-auth#3359',
    symptom: 'discovery leaves grants and methods out',
    tries: async () => {
      const told = JSON.stringify(await discovery());
      for (const word of [
        '"refresh_token"',
        '"authorization_code"',
        '"none"',
        '"client_secret_basic"',
        '"client_secret_post"',
        '"S256"',
        'device_code',
      ])
        ok(told.includes(word), word);
    },
  },
  {
    report: 'openstack-experimental/keystone#1252',
    symptom: 'discovery leads to other hosts by the Host header',
    tries: async () => {
      const { text } = await call(app, 'GET', '/.well-known/openid-configuration', {
        headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
      });
      ok(!text.includes('evil.example'));
    },
  },
  {
    report: 'keycloak/keycloak#31062',
    symptom: 'an update of a registration changes what tokens carry',
    tries: async () => {
      const made = await vouched({ scope: 'openid profile' });
      const client = { id: String(made.client_id), secret: String(made.client_secret) };
      const names = async () =>
        Object.keys(
          claimsOf((await tokensOf(app, client, alice, { scope: 'openid profile' })).id_token),
        ).sort();
      const before = await names();
      const { status } = await manage(made, 'PUT', {
        client_id: client.id,
        client_name: 'Renamed',
        redirect_uris: [REDIRECT_URI],
        scope: 'openid profile',
      });
      equal(status, 200);
      deepEqual(await names(), before);
    },
  },
  {
    report: 'keycloak/keycloak#23229',
    symptom: 'an update answers a wrong registration_client_uri',
    tries: async () => {
      const made = await vouched();
      const { body } = await manage(made, 'PUT', {
        client_id: made.client_id,
        client_name: 'Again',
        redirect_uris: [REDIRECT_URI],
      });
      equal(body.registration_client_uri, made.registration_client_uri);
      equal((await manage({ ...made, ...body }, 'GET')).status, 200);
    },
  },
  {
    report: 'keycloak/keycloak#4286',
    symptom: 'reading a registration changes its token',
    tries: async () => {
      const made = await vouched();
      for (let turn = 0; turn < 3; turn += 1) equal((await manage(made, 'GET')).status, 200);
    },
  },
  {
    report: 'keycloak/keycloak#11116',
    symptom: 'the secret is there after an update alone',
    tries: async () => {
      const made = await vouched();
      const client = { id: String(made.client_id), secret: String(made.client_secret) };
      ok(client.secret.length > 20);
      equal(made.client_secret_expires_at, 0);
      const { status } = await postForm(app, '/oauth2/revoke', { token: 'x' }, basic(client));
      equal(status, 200);
    },
  },
  {
    report: 'keycloak/keycloak#31444',
    symptom: 'an update of a public client gives it a secret',
    tries: async () => {
      const made = await vouched({ token_endpoint_auth_method: 'none' });
      equal(made.client_secret, undefined);
      const { body } = await manage(made, 'PUT', {
        client_id: made.client_id,
        client_name: 'Public',
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
      });
      deepEqual([body.client_secret, body.token_endpoint_auth_method], [undefined, 'none']);
    },
  },
  {
    report: 'zitadel/zitadel#9073',
    symptom: 'https on loopback is refused without a reason',
    tries: async () => {
      const { status, body } = await app.admin('POST', '/clients', {
        client_name: 'x',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['https://127.0.0.1:8443/cb'],
      });
      deepEqual([status, /127\.0\.0\.1/.test(body.error?.fields?.redirect_uris ?? '')], [400, true]);
      await app.register({ redirect_uris: ['https://localhost:8443/cb'] });
    },
  },
  {
    report: 'gravitee-io/issues#5990',
    symptom: 'PAR without client_id in the form fails unexplained',
    tries: async () => {
      const client = await app.register();
      const { client_id: _, ...rest } = codeRequest(client.id);
      const { status, body } = await postForm(app, '/oauth2/par', { ...rest, nonce: 'n' }, basic(client));
      equal(status, 400);
      match(String(body.error_description), /client_id/);
    },
  },
  {
    report: 'zitadel/zitadel#8489',
    symptom: 'a deactivated application goes on getting tokens',
    tries: async () => {
      const machine = await app.register({
        grant_types: ['client_credentials'],
        redirect_uris: [],
        scope: 'profile',
      });
      const ask = () => postForm(app, '/oauth2/token', { grant_type: 'client_credentials' }, basic(machine));
      const { body } = await ask();
      const { status, body: told } = await app.admin('PATCH', `/clients/${machine.id}`, { is_active: false });
      equal(status, 200, JSON.stringify(told));
      equal((await ask()).status, 401);
      const { text } = await postForm(
        app,
        '/oauth2/introspect',
        { token: String(body.access_token) },
        bearer('test-admin-token-0123456789-0123456789'),
      );
      equal(text, '{"active":false}');
    },
  },
  {
    report: 'anthropics/claude-code#52871',
    symptom: 'a slash that a client appends to resource is invalid_target',
    tries: async () => {
      for (const [identifier, resource] of [
        ['https://mcp.example', 'https://mcp.example/'],
        ['https://mcp-two.example/', 'https://mcp-two.example'],
      ] as const) {
        await createApi(app, { identifier });
        const client = await app.register();
        const { access_token } = await tokensOf(app, client, alice, { resource, scope: 'openid read' });
        equal(claimsOf(access_token).aud, identifier);
      }
    },
  },
  {
    report: 'wso2/product-is#27428',
    symptom: 'a refused consent by form_post is a redirect',
    tries: async () => {
      const third = await app.register({ skip_consent: false });
      const agent = new Agent(app);
      const request = { ...codeRequest(third.id), nonce: 'n', state: 's', response_mode: 'form_post' };
      const consent = await agent.submit(await agent.authorize(request), {
        username: 'alice',
        password: PASSWORD,
      });
      const { body } = await agent.submit(consent, { action: 'deny' });
      match(body, /name="error" value="access_denied"/);
      match(body, /name="state" value="s"/);
    },
  },
  {
    report: 'punkpeye/mcp-remote#241',
    symptom: 'a client that ignores registration_endpoint: a clear 404',
    tries: async () => {
      const { status, headers } = await call(app, 'POST', '/register', {
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(agentMetadata),
      });
      equal(status, 404);
      match(headers.get('content-type') ?? '', /json/);
    },
  },
]);
