// Code shown in the Admin UI is complete and valid in its language, whatever the application is called, and none of it becomes an
// element of the page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { guideOf, valuesFor } from '../../src/admin/guides/list.ts';
import { stepsOf } from '../../src/admin/guides/render.ts';
import { checkBlock } from '../support/guide-checks.ts';
import {
  checkBrackets,
  checkEnvironment,
  checkJavaScript,
  checkPython,
  checkTypeScript,
  checkYaml,
  runCurls,
} from '../support/snippet-checks.ts';
import { type AdminWorld, startAdminWorld } from './admin-world.ts';

const NAME = `Bad "& <co> </code><b>'\\ $(exit 1) \${x}`;
const REDIRECT = 'https://a.example/cb?x=1&y=%22%3C&lt=2';

let world: AdminWorld;
before(async () => {
  world = await startAdminWorld();
  await world.admin.context.grantPermissions(['clipboard-read', 'clipboard-write']);
});
after(() => world?.stop());

/** Presses every copy button of the page. @returns what was in the clipboard, by the id of its source */
async function copied(path: string): Promise<Map<string, string>> {
  const page = await world.open(path);
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
  const found = new Map<string, string>();
  for (const button of await page.locator('button.copy:visible').all()) {
    const id = (await button.getAttribute('data-copy')) ?? '';
    await button.click();
    await page.locator(`button.copy[data-copy="${id}"]`, { hasText: 'Copied' }).waitFor();
    const text = String(await page.evaluate('navigator.clipboard.readText()'));
    const source = page.locator(`[id="${id}"]`);
    assert.equal(await source.locator('*').count(), 0, `${id}: markup of the sample became elements`);
    assert.equal(text, ((await source.textContent()) ?? '').trim(), id);
    assert.doesNotMatch(text, /&(?:lt|gt|amp|quot|#\d+);/, id);
    found.set(id, text);
  }
  return found;
}

/** Takes what must be there, so that what is left over has no check. */
function take(snippets: Map<string, string>, id: string): string {
  const text = snippets.get(id);
  assert.ok(text, `no ${id} on the page`);
  snippets.delete(id);
  return text;
}

const guidesOf: Readonly<Record<string, readonly string[]>> = {
  web: ['express', 'django', 'spring', 'nginx', 'apache', 'grafana', 'gitlab', 'immich'],
  spa: ['react', 'vue'],
  native: ['flutter', 'mcp'],
  machine: ['machine'],
};

/** @returns every copied text of a guide, with the language of its file */
async function checkGuide(id: string, name: string): Promise<void> {
  const snippets = await copied(`/applications/${id}/connect/${name}`);
  const guide = guideOf(name);
  assert.ok(guide);
  const server = { issuer: world.server.issuer, baseUrl: world.server.origin };
  const { redirect_uris: uris } = await world.server.admin('GET', `/clients/${id}`);
  const application = { name: NAME, clientId: id, redirectUris: Array.isArray(uris) ? uris.map(String) : [] };
  const steps = stepsOf(guide, valuesFor(guide, application, server));
  const expected = steps.flatMap(({ blocks, fields }) => [
    ...blocks.map(({ code }) => code.trim()),
    ...fields.map(([, value]) => value),
  ]);
  assert.deepEqual([...snippets.values()], expected, name);
  for (const block of steps.flatMap(({ blocks }) => blocks)) checkBlock(block);
}

test('guides: what is copied from the page is what the tests run and parse', async () => {
  const isPublic = { token_endpoint_auth_method: 'none' };
  const fields: Readonly<Record<string, Record<string, unknown>>> = {
    web: { redirect_uris: [REDIRECT] },
    spa: { ...isPublic, application_type: 'web', redirect_uris: [REDIRECT] },
    native: { ...isPublic, application_type: 'native', redirect_uris: ['app.example:/cb'] },
    machine: { grant_types: ['client_credentials'], redirect_uris: [] },
  };
  for (const [kind, names] of Object.entries(guidesOf)) {
    const { id } = await world.createApplication({ client_name: NAME, ...fields[kind] });
    const values = await copied(`/applications/${id}/connect`);
    assert.equal(take(values, 'client-id'), id);
    assert.equal(take(values, 'issuer'), world.server.issuer);
    assert.ok(take(values, 'discovery').endsWith('/.well-known/openid-configuration'));
    const environment = checkEnvironment(take(values, 'environment'));
    assert.deepEqual([environment.OIDC_CLIENT_ID, environment.OIDC_ISSUER], [id, world.server.issuer]);
    if (kind === 'web') assert.equal(environment.OIDC_REDIRECT_URI, REDIRECT);
    for (const name of names) await checkGuide(id, name);
  }
});

async function apiPage(fields: Record<string, unknown>) {
  const scopes = [{ name: 'orders:read', description: NAME }];
  const made = await world.server.admin('POST', '/resources', { name: NAME, scopes, ...fields });
  const [id, clientId] = [String(made.id), String(made.introspection_client_id)];
  return { id, clientId, snippets: await copied(`/apis/${id}/connect`) };
}

test('snippets of an API: complete, valid in their language, with its values', async () => {
  const identifier = "https://api.example/o'rders/$x&y(1)";
  const { clientId, snippets } = await apiPage({ identifier });
  const checks: Readonly<Record<string, (code: string) => unknown>> = {
    express: checkJavaScript,
    fastify: checkJavaScript,
    nest: checkTypeScript,
    fastapi: checkPython,
    django: checkPython,
    'spring-code': checkBrackets,
    aspnet: checkBrackets,
    go: checkBrackets,
    rust: checkBrackets,
    envoy: checkYaml,
    kong: checkYaml,
    aws: checkYaml,
  };
  for (const [id, check] of Object.entries(checks)) {
    const code = take(snippets, id);
    check(code);
    assert.ok(code.includes(JSON.stringify(identifier)), code);
    assert.ok(code.includes('orders:read'), code);
  }
  const laravel = take(snippets, 'laravel');
  checkBrackets(laravel);
  assert.ok(laravel.includes(JSON.stringify(identifier).replace('$', '\\$')), laravel);
  const nginx = take(snippets, 'nginx');
  checkBrackets(nginx);
  assert.ok(nginx.includes(`"${clientId}:"`), nginx);
  const spring = JSON.stringify(checkYaml(take(snippets, 'spring-opaque')));
  assert.ok(spring.includes(`"client-id":"${clientId}"`), spring);
  assert.deepEqual(runCurls(take(snippets, 'introspection')), [
    [
      `${world.server.issuer}/introspect`,
      '-u',
      `${clientId}:api-secret`,
      '--data-urlencode',
      'token=a-token',
    ],
  ]);
  assert.deepEqual([...snippets.keys()], []);
});

test('snippets of an API of other formats: what fits its tokens', async () => {
  const jwt = await apiPage({ identifier: 'https://jwt.example', access_token_format: 'jwt' });
  const spring = checkYaml(take(jwt.snippets, 'spring-config'));
  assert.ok(JSON.stringify(spring).includes('"audiences":"https://jwt.example"'), JSON.stringify(spring));
  assert.doesNotMatch(take(jwt.snippets, 'spring-code'), /at\+jwt/);
  assert.match(take(jwt.snippets, 'aspnet'), /ValidTypes = \["JWT"\]/);
  const opaque = await apiPage({ identifier: 'https://opaque.example', access_token_format: 'opaque' });
  assert.deepEqual([...opaque.snippets.keys()], ['nginx', 'spring-opaque', 'introspection']);
});

test('snippets of an API that requires DPoP: what does not check the proof is named', async () => {
  const bound = await apiPage({ identifier: 'https://bound.example', require_dpop: true });
  const express = take(bound.snippets, 'express');
  checkJavaScript(express);
  assert.match(express, /dpop: \{ enabled: true, required: true \}/);
  const note = world.admin.page.locator('.note', { hasText: 'bound to a key' });
  assert.match((await note.textContent()) ?? '', /only those for Express and Spring Boot/);
});

test('curl snippets for a machine’s token: a shell asks for it at the API', async () => {
  const { id } = await world.createApplication({ grant_types: ['client_credentials'], redirect_uris: [] });
  const identifier = "https://machines.example/o'rders";
  const api = await apiPage({ identifier, machine_grants: { [id]: ['orders:read'] } });
  const snippets = await copied(`/apis/${api.id}/try`);
  const request = ['-d', 'grant_type=client_credentials', '--data-urlencode', `resource=${identifier}`];
  assert.deepEqual(runCurls(take(snippets, 'machine-1')), [
    [`${world.server.issuer}/token`, '-u', `${id}:client-secret`, ...request],
  ]);
  const posts = { grant_types: ['client_credentials'], redirect_uris: [] };
  const other = await world.createApplication({ ...posts, token_endpoint_auth_method: 'client_secret_post' });
  const grants = { [other.id]: ['orders:read'] };
  const second = await apiPage({ identifier: 'https://posts.example', machine_grants: grants });
  const secret = [
    '--data-urlencode',
    `client_id=${other.id}`,
    '--data-urlencode',
    'client_secret=client-secret',
  ];
  assert.deepEqual(runCurls(take(await copied(`/apis/${second.id}/try`), 'machine-1')), [
    [`${world.server.issuer}/token`, ...secret, ...request.slice(0, 3), 'resource=https://posts.example'],
  ]);
});

test('curl snippets beside forms: a shell sends exactly what the form says', async () => {
  const { id } = await world.createApplication({ client_name: NAME });
  const user = await world.createUser('grace', { name: NAME });
  for (const path of [`/applications/${id}`, `/users/${user}/edit`, '/users/new', '/settings']) {
    const snippets = await copied(path);
    const [words = []] = runCurls(take(snippets, 'api-call'));
    assert.ok(words[0]?.startsWith(`${world.server.origin}/admin/api/`), path);
    assert.ok(words.includes('Authorization: Bearer admin-token'), path);
    const body: unknown = JSON.parse(words[words.indexOf('--data-raw') + 1] ?? '');
    assert.ok(typeof body === 'object' && body !== null, path);
    if (path.startsWith('/applications')) assert.equal(Reflect.get(body, 'client_name'), NAME);
  }
});
