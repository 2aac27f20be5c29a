// The looks of every Admin UI page: no sideways scrolling on a phone, nothing that moves by itself, no weight, silent console, no
// accessibility violation, light and dark. Screenshots go to test-results/browser/.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Axe, createAxe } from '../pages/axe.ts';
import { watchStillness } from '../pages/stillness.ts';
import { PAGE_BYTES, putOnScales } from '../pages/weigh.ts';
import { type AdminWorld, PASSWORD, startAdminWorld } from './admin-world.ts';
import { choose } from './language-walk.ts';
import { shoot } from './shots.ts';
import { enter, loaded } from './steps.ts';
import { openWindow, type Window } from './window.ts';

let world: AdminWorld;
const ORDERS = 'https://orders.internal.a-rather-long-name.acme.example/v2/orders';
const ids = {
  user: '',
  locked: '',
  application: '',
  asking: '',
  machine: '',
  api: '',
  mail: '',
  event: '',
  session: '',
};

before(async () => {
  world = await startAdminWorld();
  const { server, browser } = world;
  ids.user = await world.createUser('grace.hopper', {
    email: 'grace@acme.example',
    name: 'Grace Hopper',
    is_email_verified: true,
    phone_number: '+1 202 555 0117',
    locale: 'en-US',
    zoneinfo: 'America/New_York',
  });
  ids.locked = await world.createUser('edsger', { email: 'edsger@acme.example', name: 'Edsger Dijkstra' });
  await world.createUser('barbara.liskov', { email: 'barbara@acme.example', role: 'admin' });
  const gone = await world.createUser('former.colleague', { email: 'former@acme.example' });
  await server.admin('POST', `/users/${gone}/deactivate`);
  for (const name of ['alan', 'margaret', 'katherine', 'donald']) {
    await world.createUser(name, { email: `${name}@acme.example`, is_email_verified: true });
  }
  ids.application = (
    await world.createApplication({ post_logout_redirect_uris: ['http://localhost:9/'] })
  ).id;
  ids.asking = (await world.createApplication({ client_name: 'Partner portal', skip_consent: false })).id;
  const machine = { client_name: 'Nightly export', grant_types: ['client_credentials'], response_types: [] };
  // Requests that its page explains: with long and foreign values, and one that was repeated.
  const client = { client_id: ids.application };
  const refuse = (path: string, fields: Record<string, string>): Promise<Response> =>
    fetch(`${server.issuer}${path}`, { method: 'POST', body: new URLSearchParams(fields) });
  await refuse('/token', {
    ...client,
    client_secret: 'wrong',
    grant_type: 'refresh_token',
    refresh_token: 'x',
  });
  await refuse('/token', {
    ...client,
    client_secret: 'wrong',
    grant_type: 'refresh_token',
    refresh_token: 'x',
  });
  for (const address of ['http://localhost:9/callbak', `http://localhost:9/${'long'.repeat(60)}`]) {
    await fetch(
      `${server.issuer}/authorize?${new URLSearchParams({ ...client, response_type: 'code', redirect_uri: address })}`,
    );
  }
  await refuse('/introspect', { ...client, token: 'x' });
  await refuse('/logout', { ...client, post_logout_redirect_uri: 'http://localhost:9/somewhere' });
  ids.machine = (await world.createApplication({ ...machine, redirect_uris: [] })).id;
  await server.admin('POST', `/users/${ids.user}/send-password-reset`);
  const signIn = async (username: string, password: string, userAgent?: string): Promise<void> => {
    const { page, close } = await openWindow(browser, userAgent === undefined ? {} : { userAgent });
    const query = new URLSearchParams({
      client_id: ids.application,
      response_type: 'code',
      redirect_uri: 'http://localhost:9/callback',
      scope: 'openid profile',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    await page.route('http://localhost:9/**', (route) => route.fulfill({ body: 'signed in' }));
    await page.goto(`${server.issuer}/authorize?${query}`);
    await loaded(page, () => enter(page, { username, password }));
    await close();
  };
  await signIn('grace.hopper', PASSWORD);
  await signIn(
    'grace.hopper',
    PASSWORD,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  );
  for (let round = 0; round < 5; round += 1) await signIn('edsger', `wrong ${round} guess`);
  await server.admin('POST', '/invitations', { email: 'ida.rhodes@subsidiary.acme.example' });
  await server.admin('POST', '/keys/rotate');
  const mails = await server.admin('GET', '/mails');
  ids.mail = firstId(mails);
  await server.admin('POST', '/groups', {
    name: 'engineering',
    display_name: 'Engineering',
    description: 'Builds it.',
  });
  await server.admin('POST', '/groups', { name: 'on-call' });
  // The administrator, too: the trial below has to come to its end.
  const ada = firstId(await server.admin('GET', '/users?search=ada'));
  for (const user_id of [ids.user, ids.locked, ada]) {
    await server.admin('POST', '/groups/engineering/members', { user_id });
  }
  await server.admin('PATCH', `/clients/${ids.application}`, {
    allowed_groups: ['engineering'],
    // Not to be called, which the page says, as it says what became of a test.
    backchannel_logout_uri: 'https://10.1.2.3:8443/a-long-path/where/sign-outs/are/received',
  });
  await server.admin('POST', `/clients/${ids.application}/test-logout`);
  const api = await server.admin('POST', '/resources', {
    identifier: ORDERS,
    name: 'Orders and invoices',
    scopes: [
      { name: 'orders:read', description: 'See your orders and what became of them', is_default: true },
      {
        name: 'orders.administration:write-everything',
        description: 'Change orders of all customers',
        roles: ['admin'],
        groups: ['engineering', 'on-call'],
      },
    ],
    clients: [ids.application],
    machine_grants: { [ids.machine]: ['orders:read', 'orders.administration:write-everything'] },
  });
  ids.api = String(api.id);
  await server.admin('POST', '/api-keys', { name: 'Nightly backup' });
  ids.session = firstId(await server.admin('GET', `/users/${ids.user}/sessions`));
  ids.event = firstId(await server.admin('GET', '/audit?event=user.created'));
});
after(() => world?.stop());

const firstId = ({ items }: Record<string, unknown>): string => {
  const [first]: unknown[] = Array.isArray(items) ? items : [];
  return typeof first === 'object' && first !== null ? String(Reflect.get(first, 'id')) : '';
};

const pages = (): Readonly<Record<string, string>> => ({
  overview: '',
  users: '/users',
  'users-none': '/users?search=nobody-like-this',
  'user-new': '/users/new',
  user: `/users/${ids.user}`,
  'user-locked': `/users/${ids.locked}`,
  'user-edit': `/users/${ids.user}/edit`,
  'user-delete': `/users/${ids.user}/delete`,
  'user-role': `/users/${ids.user}/role`,
  applications: '/applications',
  'application-kinds': '/applications/new',
  'application-new': '/applications/new/web',
  'application-new-product': '/applications/new/nextcloud',
  application: `/applications/${ids.application}`,
  'application-machine': `/applications/${ids.machine}`,
  'application-machine-claims': `/applications/${ids.machine}/claims?itself=1&resource=${encodeURIComponent(ORDERS)}`,
  'application-connect': `/applications/${ids.application}/connect`,
  'application-guide': `/applications/${ids.application}/connect/express`,
  'application-guide-product': `/applications/${ids.application}/connect/jellyfin`,
  'application-claims': `/applications/${ids.application}/claims?asked=1&user=grace.hopper&scope=profile&scope=email&scope=phone`,
  'application-asked': `/applications/${ids.application}?add_redirect_uri=https%3A%2F%2Fother.example%2Fcallback&add_redirect_uri=javascript%3A1`,
  'application-asked-after': `/applications/${ids.application}?add_post_logout_redirect_uri=https%3A%2F%2Fother.example%2Fbye`,
  'application-try': `/applications/${ids.application}/try`,
  'application-try-nothing': `/applications/${ids.machine}/try`,
  'application-rotate': `/applications/${ids.application}/rotate-secret`,
  'registration-tokens': '/registration-tokens',
  apis: '/apis',
  'api-new': '/apis/new',
  api: `/apis/${ids.api}`,
  'api-scope-new': `/apis/${ids.api}/scopes`,
  'api-scope': `/apis/${ids.api}/scopes/orders.administration:write-everything`,
  'api-scope-remove': `/apis/${ids.api}/scopes/orders:read/remove`,
  'api-machine-new': `/apis/${ids.api}/machines`,
  'api-machine': `/apis/${ids.api}/machines?client_id=${ids.machine}`,
  'api-delete': `/apis/${ids.api}/delete`,
  'api-connect': `/apis/${ids.api}/connect`,
  'api-try': `/apis/${ids.api}/try`,
  agents: '/agents',
  sessions: '/sessions',
  session: `/sessions/${ids.session}`,
  groups: '/groups',
  group: '/groups/engineering',
  branding: '/branding',
  'branding-texts': '/branding/texts',
  looks: `/applications/${ids.application}/looks`,
  'branding-import': '/branding/import',
  gallery: '/branding/gallery?group=E-mails',
  'mail-texts': '/branding/mails',
  'mail-texts-import': '/branding/mails/import',
  'mail-text': '/branding/mails/invitation/ar',
  'api-keys': '/api-keys',
  'api-key-new': '/api-keys/new',
  tokens: `/tokens?user_id=${ids.user}`,
  invitations: '/invitations',
  'invitations-many': '/invitations/many',
  'users-import': '/users/import',
  'users-import-csv': '/users/import/csv',
  keys: '/keys',
  'keys-rotate': '/keys/rotate',
  audit: '/audit',
  'audit-filtered': '/audit?event=signin.failure&outcome=failure',
  'audit-search': '/audit?search=grace',
  'audit-pick': '/audit?by=a&application=nothing-like-this',
  event: `/audit/${ids.event}`,
  outbox: '/outbox',
  mail: `/outbox/${ids.mail}`,
  settings: '/settings',
  'settings-mail': '/settings/mail',
  'settings-tokens': '/settings/tokens',
  'settings-found': '/settings?q=password',
  'settings-found-nothing': '/settings?q=nothing-like-this',
  'settings-second-factor': '/settings/second-factor',
  'settings-import': '/settings/import',
  search: '/search?q=ac',
  'api-reference': '/api-reference',
  'api-reference-groups': '/api-reference/groups',
});

/** Where an auditor sees something else than an administrator: values in the place of forms. */
const auditorPages = (): Readonly<Record<string, string>> => ({
  'auditor-application': `/applications/${ids.application}`,
  'auditor-api': `/apis/${ids.api}`,
  'auditor-settings': '/settings/mail',
});

const isLong = process.env.LONG === '1';
let heaviest = { name: '', weight: 0 };

type View = readonly ['light' | 'dark', number];
const VIEWS: readonly View[] = [
  ['light', 390],
  ['dark', 1440],
];
const OTHER_VIEWS: readonly View[] = [
  ['dark', 390],
  ['light', 1440],
];
/** Neighbours in the list are made of the same parts: every other page in each width and scheme; with LONG=1 each page in all. */
const viewsOf = (turn: number): readonly View[] =>
  isLong ? [...VIEWS, ...OTHER_VIEWS] : VIEWS.filter((_, index) => index === turn % VIEWS.length);

async function violationsOf(page: Page, axe: Axe, name: string, views: readonly View[]): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, width] of views) {
    await page.setViewportSize({ width, height: 900 });
    // A colour on its way to another would be judged as it is then.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    for (const one of await axe.violations()) found.push(`${name} ${width} ${colorScheme} ${one}`);
  }
  return found;
}

test('Admin UI pages: fit, nothing moves, 60 kB at most, silent console, no axe violation', async (t) => {
  const { admin, browser, server } = world;
  await world.createUser('auditor', { role: 'auditor' });
  const auditor = await openWindow(browser);
  await auditor.page.goto(`${server.origin}/admin`);
  await loaded(auditor.page, () => enter(auditor.page, { username: 'auditor', password: PASSWORD }));
  const found = [...(await judge(admin, pages())), ...(await judge(auditor, auditorPages()))];
  assert.deepEqual(found, []);
  assert.deepEqual([...admin.complaints, ...auditor.complaints], []);
  assert.ok(heaviest.weight > 10_000);
  t.diagnostic(`heaviest: ${heaviest.name}, ${heaviest.weight} bytes`);
  await auditor.close();
});

/** @returns what is wrong with the pages in that window */
async function judge({ page }: Window, paths: Readonly<Record<string, string>>): Promise<string[]> {
  const axe = await createAxe(page);
  const stillness = await watchStillness(page);
  const scales = putOnScales(page);
  const found: string[] = [];
  for (const [turn, [name, path]] of Object.entries(paths).entries()) {
    for (const width of isLong ? [390, 1440] : [1440]) {
      await page.setViewportSize({ width, height: 900 });
      await scales.weight();
      const response = await page.goto(`${world.server.origin}/admin${path}`);
      assert.equal(response?.status(), 200, path);
      found.push(...(await stillness.moved()).map((one) => `${name} moves at ${width}: ${one}`));
      const weight = await scales.weight();
      if (weight > PAGE_BYTES) found.push(`${name} weighs ${weight}`);
      if (weight > heaviest.weight) heaviest = { name, weight };
    }
    await shoot(page, `admin-${name}`);
    await page.setViewportSize({ width: 390, height: 844 });
    const cut = await page.evaluate<number>(
      '[...document.querySelectorAll(".sheet")].filter((one) => one.scrollWidth > one.clientWidth).length',
    );
    if (cut > 0) found.push(`${name}: a table is cut off on a phone`);
    found.push(...(await violationsOf(page, axe, name, viewsOf(turn))));
    await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  }
  return found;
}

test('Admin UI: usable at 375 pixels and at 200 % text', async () => {
  for (const path of [`/users/${ids.locked}`, '/sessions', `/users/${ids.user}/deactivate`]) {
    const page = await world.open(path);
    await page.setViewportSize({ width: 375, height: 667 });
    await page.evaluate('document.documentElement.style.fontSize = "200%"');
    assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, path);
  }
});

test('test sign-in result: looks like every other page', async () => {
  const { admin } = world;
  const axe = await createAxe(admin.page);
  const found: string[] = [];
  for (const [turn, prompt] of ['', 'none'].entries()) {
    const page = await world.open(`/applications/${prompt === '' ? ids.application : ids.asking}/try`);
    await page.evaluate('document.querySelector("form[target]").removeAttribute("target")');
    await page.getByLabel('Prompt').selectOption(prompt);
    await loaded(page, () => page.getByRole('button', { name: 'Start test sign-in' }).click());
    for (const summary of await page.locator('summary').all()) await summary.click();
    const name = prompt === '' ? 'try-outcome' : 'try-outcome-refused';
    await shoot(page, `admin-${name}`);
    found.push(...(await violationsOf(page, axe, name, viewsOf(turn))));
  }
  assert.deepEqual(found, []);
  assert.deepEqual(admin.complaints, []);
});

test('overview from right to left: the bars run as their axis does', async () => {
  const page = await world.open('');
  const runOf = (selector: string): Promise<number> =>
    page.evaluate(`(() => {
      const all = [...document.querySelector('.plot').parentElement.querySelectorAll(${JSON.stringify(selector)})];
      const middleOf = (one) => { const { left, right } = one.getBoundingClientRect(); return (left + right) / 2; };
      return Math.sign(middleOf(all.at(-1)) - middleOf(all[0]));
    })()`);
  assert.deepEqual([await runOf('.hit'), await runOf('.axis > span')], [1, 1]);
  await choose(world, 'ar');
  await page.reload();
  assert.deepEqual([await runOf('.hit'), await runOf('.axis > span')], [-1, -1]);
});
