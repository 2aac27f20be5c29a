// Custom schemes without a dot (`cursor:`, `vscode:`), which any program on the machine may claim (RFC 8252 §8.6): registered by
// administrators, save an editor's own, matched exactly, with PKCE, and with a click of the user each time, first-party or not.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { editorUris } from '../../src/model/uris.ts';
import { bareUris, hostileUris } from '../clients/corpus.ts';
import { bearer, call, postForm } from '../flows/support.ts';
import { Agent, codeRequest, requestTokens, VERIFIER } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await app.createUser('alice');
const URI = 'cursor://anysphere.cursor-mcp/oauth/callback';
const editor = await app.register({
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  redirect_uris: [URI],
});
const request = { ...codeRequest(editor.id), redirect_uri: URI };

const register = (token: string, body: object) =>
  call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(token), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('scheme without a dot: signs in by PKCE, with a click each time', async () => {
  const agent = new Agent(app);
  let page = await agent.submit(await agent.authorize(request), { username: 'alice', password: PASSWORD });
  for (let time = 0; time < 2; time += 1) {
    deepEqual([page.status, page.location], [200, undefined], page.body);
    const done = await agent.submit(page, { action: 'allow' });
    const callback = new URL(done.location ?? '');
    equal(callback.href.split('?')[0], URI);
    const { status, body } = await requestTokens(app, editor, {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      redirect_uri: URI,
      code_verifier: VERIFIER,
    });
    equal(status, 200, JSON.stringify(body));
    page = await agent.authorize(request);
  }
  const silent = await agent.authorize({ ...request, prompt: 'none' });
  match(silent.location ?? '', /error=(?:interaction|consent)_required/);
});

test('attack: a scheme without a dot, nearly the registered one or without PKCE', async () => {
  const agent = new Agent(app);
  for (const sent of [
    'cursor://evil/callback',
    `${URI}/`,
    `${URI}?x=1`,
    URI.replace('cursor', 'cursor2'),
    'Cursor://x',
  ]) {
    const page = await agent.authorize({ ...request, redirect_uri: sent });
    deepEqual([page.status, page.location], [400, undefined], sent);
  }
  const { code_challenge: _, code_challenge_method: __, ...plain } = request;
  match((await agent.authorize(plain)).location ?? '', /error=invalid_request/);
});

test('attack: a stranger registers a scheme without a dot, or a registrant adds one', async () => {
  const { body } = await app.admin('POST', '/initial-access-tokens', { label: 'test', uses: 1 });
  // Strangers may have an editor's address as it is (decision 0026).
  for (const uri of bareUris.filter((one) => !editorUris.has(one))) {
    const refused = await register(String(body.data.token), {
      application_type: 'native',
      redirect_uris: [uri],
    });
    deepEqual([refused.status, refused.body.error], [400, 'invalid_redirect_uri'], uri);
  }
  const own = { application_type: 'native', redirect_uris: [URI] };
  const made = await register(ADMIN_TOKEN, own);
  equal(made.status, 201, made.text);
  const put = (uris: readonly string[]) =>
    call(app, 'PUT', new URL(String(made.body.registration_client_uri)).pathname, {
      headers: { ...bearer(String(made.body.registration_access_token)), 'content-type': 'application/json' },
      body: JSON.stringify({ ...own, client_id: made.body.client_id, redirect_uris: uris }),
    });
  equal((await put([URI])).status, 200);
  equal((await put([URI, 'cursor://evil/callback'])).status, 400);
});

test('attack: an administrator is talked into a scheme that browsers or systems act upon', async () => {
  for (const uri of hostileUris.filter((one) => !one.includes('\u0000'))) {
    const { status } = await app.admin('POST', '/clients', {
      application_type: 'native',
      redirect_uris: [uri],
    });
    equal(status, 400, JSON.stringify(uri));
  }
  const web = await app.admin('POST', '/clients', { client_name: 'Web', redirect_uris: [URI] });
  equal(web.status, 400);
});

test('another loopback port of a web client: the error names application_type', async () => {
  const local = await app.register({ redirect_uris: ['http://127.0.0.1:8080/callback'] });
  const agent = new Agent(app);
  const ask = (uri: string) => agent.authorize({ ...codeRequest(local.id), redirect_uri: uri });
  const page = await ask('http://127.0.0.1:49152/callback');
  deepEqual([page.status, page.location], [400, undefined]);
  match(page.body, /application_type native/);
  for (const other of ['http://127.0.0.1:49152/other', 'https://evil.example/callback']) {
    ok(!(await ask(other)).body.includes('application_type'), other);
  }
});

test('registration: empty grant_types or response_types are as if left out; not in PUT', async () => {
  const own = { redirect_uris: ['https://rp.example/callback'], grant_types: [], response_types: [] };
  const made = await register(ADMIN_TOKEN, own);
  deepEqual(
    [made.status, made.body.grant_types, made.body.response_types],
    [201, ['authorization_code', 'refresh_token'], ['code']],
    made.text,
  );
  const machine = await register(ADMIN_TOKEN, { grant_types: ['client_credentials'], response_types: [] });
  deepEqual(
    [machine.status, machine.body.grant_types, machine.body.response_types],
    [201, ['client_credentials'], []],
  );
  const other = await register(ADMIN_TOKEN, { ...own, redirect_uris: [] });
  equal(other.status, 400, other.text);
  const emptied = await call(app, 'PUT', new URL(String(made.body.registration_client_uri)).pathname, {
    headers: { ...bearer(String(made.body.registration_access_token)), 'content-type': 'application/json' },
    body: JSON.stringify({ ...own, client_id: made.body.client_id }),
  });
  deepEqual(
    [emptied.status, emptied.body.grant_types, emptied.body.response_types],
    [200, [], []],
    emptied.text,
  );
  equal((await postForm(app, '/oauth2/register', {}, bearer(ADMIN_TOKEN))).status, 415);
});
