// Attack: markup and scripts in every text that the Admin UI shows, or in its addresses. All of it shows as text:
// no element, dialog or request, and nothing for the policy to block.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AdminWorld, PASSWORD, startAdminWorld } from './admin-world.ts';
import { enter, loaded } from './steps.ts';
import { openWindow } from './window.ts';

const MARK = `"><img src=x onerror=alert(1)><script>alert(2)</script>'{{7*7331}}`;

let world: AdminWorld;
let paths: string[];

before(async () => {
  world = await startAdminWorld();
  const { server, browser } = world;
  await server.admin('PATCH', '/settings', { product_name: '<b>Bad & co</b>' });
  const fields = ['name', 'given_name', 'family_name', 'nickname', 'locale', 'zoneinfo', 'gender'];
  const user = await world
    .createUser('<svg onload=alert(3)>', {
      email: '"a<b>c"@acme.example',
      ...Object.fromEntries(fields.map((name) => [name, MARK])),
    })
    .catch(() =>
      world.createUser(
        'hostile',
        Object.fromEntries(['name', 'nickname', 'given_name'].map((name) => [name, MARK])),
      ),
    );
  const application = await world
    .createApplication({
      client_name: MARK,
      software_id: MARK,
      client_uri: 'https://a.example/?q="><i>',
    })
    .catch(() => world.createApplication({ client_name: MARK }));
  const refused = { client_id: application.id, response_type: MARK, scope: `${MARK}`.replaceAll(' ', '') };
  for (const address of [
    `https://a.example/${MARK}`,
    `javascript:alert(1)//${MARK}`,
    MARK,
    'x'.repeat(7000),
  ]) {
    await fetch(`${server.issuer}/authorize?${new URLSearchParams({ ...refused, redirect_uri: address })}`);
  }
  await fetch(`${server.issuer}/par`, {
    method: 'POST',
    body: new URLSearchParams({ ...refused, client_secret: MARK, redirect_uri: MARK }),
  });
  const hostile = await openWindow(browser, { userAgent: `Mozilla ${MARK} Chrome/1 Windows` });
  const query = new URLSearchParams({
    client_id: application.id,
    response_type: 'code',
    redirect_uri: 'http://localhost:9/callback',
    scope: 'openid profile',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  await hostile.page.route('http://localhost:9/**', (route) => route.fulfill({ body: 'signed in' }));
  const { username } = await server.admin('GET', `/users/${user}`);
  for (const password of ['a wrong guess', PASSWORD]) {
    await hostile.page.goto(`${server.issuer}/authorize?${query}`);
    await loaded(hostile.page, () => enter(hostile.page, { username: String(username), password }));
  }
  await hostile.close();
  await server.admin('PATCH', `/users/${user}`, { name: `${MARK}2` });
  await server.admin('PATCH', `/clients/${application.id}`, { client_name: `${MARK}2` });
  await server.admin('POST', '/groups', { name: 'hostile', display_name: MARK, description: MARK });
  await server.admin('POST', '/groups/hostile/members', { user_id: user });
  await server.admin('PATCH', `/clients/${application.id}`, { allowed_groups: ['hostile'] });
  const api = await server.admin('POST', '/resources', {
    identifier: 'https://hostile.example',
    name: MARK,
    scopes: [{ name: 'hostile', description: MARK, groups: ['hostile'] }],
    clients: [application.id],
    machine_grants: { [application.id]: ['hostile'] },
  });
  const { id: key } = await server.admin('POST', '/api-keys', { name: MARK });
  await server.admin('POST', '/invitations', { email: "o'<b>x</b>@acme.example" }).catch(() => undefined);
  await server.admin('POST', '/invitations', { email: 'x@acme.example', client_id: application.id });
  const { items } = await server.admin('GET', '/audit');
  const events: unknown[] = Array.isArray(items) ? items : [];
  const { items: sessions } = await server.admin('GET', `/sessions?user_id=${user}`);
  const [session]: unknown[] = Array.isArray(sessions) ? sessions : [];
  const sessionId = String(Reflect.get(Object(session), 'id'));
  assert.notEqual(sessionId, 'undefined');
  const text = encodeURIComponent(MARK);
  paths = [
    '',
    '/users',
    `/users/${user}`,
    `/users/${user}/edit`,
    `/users/${user}/delete`,
    `/users/${user}/role`,
    '/applications',
    `/applications/${application.id}`,
    `/applications/${application.id}/delete`,
    `/applications/${application.id}?add_redirect_uri=${text}`,
    `/applications/${application.id}?add_post_logout_redirect_uri=${text}`,
    `/applications/${application.id}/connect`,
    `/applications/${application.id}/connect/nextjs`,
    `/applications/${application.id}/connect/grafana`,
    `/applications/new/grafana?name=${text}&redirect_uris=${text}&return_to=${text}`,
    `/applications/${application.id}/try?login_hint=${text}&prompt=${text}&scope=${text}`,
    `/applications/${application.id}/claims?asked=1&user=hostile&scope=profile&scope=${text}`,
    `/applications/${application.id}/claims?asked=1&user=${text}&resource=${text}`,
    `/applications/try/callback?error=${text}&error_description=${text}&state=${text}`,
    '/apis',
    `/apis?search=${text}`,
    `/apis/${String(api.id)}`,
    `/apis/${String(api.id)}/delete`,
    `/apis/${String(api.id)}/scopes/hostile`,
    `/apis/${String(api.id)}/scopes/hostile/remove`,
    `/apis/${String(api.id)}/scopes/${text}`,
    `/apis/${String(api.id)}/machines?client_id=${text}`,
    `/apis/${String(api.id)}/machines?client_id=${application.id}`,
    '/sessions',
    `/sessions/${sessionId}`,
    `/sessions/${text}`,
    `/sessions?user_id=${text}`,
    '/branding',
    '/branding/texts',
    `/applications/${application.id}/looks/texts`,
    '/groups',
    '/groups/hostile',
    '/groups/hostile/edit',
    '/groups/hostile/delete',
    `/groups/hostile?search=${text}`,
    `/groups/${text}`,
    `/users?group=${text}`,
    '/api-keys',
    `/api-keys/${String(key)}`,
    `/api-keys/${String(key)}/revoke`,
    '/tokens',
    `/tokens?user_id=${user}`,
    `/tokens?client_id=${application.id}`,
    `/tokens?user=${text}`,
    `/tokens?client_id=${text}`,
    `/tokens?kind=${text}`,
    '/invitations',
    '/invitations/many',
    `/invitations?search=${text}`,
    '/users/import',
    '/users/import/csv',
    '/settings/import',
    '/keys',
    `/keys/${text}`,
    '/audit',
    ...events.slice(0, 12).map((event) => `/audit/${String(Reflect.get(Object(event), 'id'))}`),
    '/outbox',
    '/settings/branding',
    `/search?q=${text}`,
    '/search?q=img',
    `/users?search=${text}`,
    `/audit?actor_id=${text}&at_from=${text}`,
    `/users?${text}=1`,
    `/users?sort=${text}`,
    `/users?done=${text}`,
    `/${text}`,
    `/users/${text}`,
    `/settings/${text}`,
    `/settings?q=${text}`,
    `/api-reference/${text}`,
  ];
});
after(() => world?.stop());

test('attack: stored XSS; every stored text and address is shown as text', async () => {
  const { page, complaints } = world.admin;
  let shown = 0;
  for (const path of paths) {
    await page.goto(`${world.server.origin}/admin${path}`);
    const elements = await page.evaluate<number>(
      'document.querySelectorAll("img[src=x], script:not([src]), svg[onload], main i, .brand b").length',
    );
    assert.equal(elements, 0, path);
    const handlers = await page.evaluate<number>(
      '[...document.querySelectorAll("*")].filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on"))).length',
    );
    assert.equal(handlers, 0, path);
    const text = await page.evaluate<string>(
      'document.body.innerText + [...document.querySelectorAll("input, textarea")].map(({ value }) => value).join()',
    );
    assert.ok(!text.includes("'51317"), `${path}: a template ran`);
    if (text.includes('<img src=x onerror=alert(1)>')) shown += 1;
  }
  assert.deepEqual(complaints, []);
  // The texts were really there.
  assert.ok(shown >= 10, String(shown));
});

test('attack: XSS by names and claims in a test sign-in result', async () => {
  const { page, complaints } = world.admin;
  const { items } = await world.server.admin('GET', '/users?search=ada');
  const [ada]: unknown[] = Array.isArray(items) ? items : [];
  const adaId = String(Reflect.get(Object(ada), 'id'));
  await world.server.admin('PATCH', `/users/${adaId}`, { name: MARK });
  await world.server.admin('POST', '/groups/hostile/members', { user_id: adaId });
  await page.goto(
    `${world.server.origin}/admin${paths.find((path) => path.includes('/try?'))?.split('?')[0]}`,
  );
  await page.evaluate('document.querySelector("form[target]").removeAttribute("target")');
  await loaded(page, () => page.getByRole('button', { name: 'Start test sign-in' }).click());
  assert.match((await page.locator('.verdict').textContent()) ?? '', /Signed in as ada/);
  assert.equal(await page.locator('img[src=x], script:not([src])').count(), 0);
  const text = (await page.locator('main').textContent()) ?? '';
  assert.ok(text.split('<img src=x onerror=alert(1)>').length > 3);
  assert.ok(!text.includes("'51317"));
  assert.deepEqual(complaints, []);
});

test('attack: XSS by a refused form that returns its input', async () => {
  const { page, complaints } = world.admin;
  await page.goto(`${world.server.origin}/admin/users/new`);
  await page.getByLabel('Username').fill(MARK);
  await page.getByLabel('Password', { exact: true }).fill('short');
  await loaded(page, () => page.getByRole('button', { name: 'Add user' }).click());
  assert.equal(await page.getByLabel('Username').inputValue(), MARK);
  await page.goto(`${world.server.origin}/admin/users/import`);
  const row = JSON.stringify({ username: MARK, [MARK]: MARK });
  await page.locator('#rows').fill(`${row}\n${MARK}`);
  await loaded(page, () => page.getByRole('button', { name: 'Import' }).click());
  assert.match((await page.locator('.results').textContent()) ?? '', /<img src=x onerror/);
  assert.equal(await page.locator('#rows').inputValue(), `${row}\n${MARK}`);
  await page.goto(`${world.server.origin}/admin/settings/import`);
  for (const values of [{ [MARK]: 1 }, { product_name: MARK, support_url: 'https://a.example/?"><i>' }]) {
    await page.locator('#json').fill(JSON.stringify({ values }));
    await loaded(page, () => page.getByRole('button', { name: 'Review changes' }).click());
    assert.match((await page.locator('main').textContent()) ?? '', /<img src=x onerror|product_name/);
    assert.equal(await page.locator('main i, main img').count(), 0);
  }
  await page.goto(`${world.server.origin}/admin/applications/new/web`);
  await page.getByLabel('Name').fill(MARK);
  await page.getByLabel('Redirect URIs', { exact: true }).fill('javascript:alert(1)');
  await loaded(page, () => page.getByRole('button', { name: 'Add application' }).click());
  assert.equal(await page.getByLabel('Name').inputValue(), MARK);
  assert.deepEqual(complaints, []);
});
