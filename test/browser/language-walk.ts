// Every page of the Admin UI and of the account in the states that the kit knows: links are followed from a few pages, and forms
// are sent with something wrong in them.
import type { Page } from 'playwright-core';
import type { AdminWorld } from './admin-world.ts';
import { loaded } from './steps.ts';

/** Names that the test gives to people and things: they stay, whatever the language of the page. */
export const GIVEN: readonly string[] = [
  ...[
    'Grace',
    'Hopper',
    'grace',
    'ada',
    'Acme',
    'Analytics',
    'Orders',
    'Engineering',
    'engineering',
    'Robot',
  ],
  ...['Warehouse', 'localhost', 'nobody', 'nowhere'],
  // What providers of mail call the user of their SMTP (src/model/mail-providers.ts).
  ...['apikey', 'resend'],
];

/** A page, and what is sent there; of each field, by its name. */
const REFUSED: readonly (readonly [
  path: string,
  fields: Readonly<Record<string, string>>,
  button: string,
])[] = [
  ['/users/new', { username: 'a', email: 'no@x', password: 'x' }, 'form.panel .primary, main form .primary'],
  ['/groups/new', { name: 'engineering' }, 'main form .primary'],
  ['/users/import', { rows: '{"username":"a"}\nnowhere' }, 'main form .primary'],
  ['/invitations', { email: 'nowhere@x' }, 'main form .primary'],
];
const FOUND = [
  '/users?search=nobody',
  '/audit?search=nowhere',
  '/audit?by=nobody',
  '/audit?application=o',
  '/tokens?user_id=nobody',
  '/tokens?client_id=nobody&resource=nowhere',
  '/sessions?user_id=nobody',
  '/users?created_at_from=2026-11-01T00:00:00Z',
  '/users?group=engineering&username=nobody&is_active=true',
  '/search?q=nobody',
  '/nowhere',
];

export async function choose({ admin, server }: AdminWorld, language: string): Promise<void> {
  await admin.context.addCookies([{ name: 'latchkey_language', value: language, url: server.origin }]);
}

export interface Seeds {
  readonly user: string;
  readonly application: string;
}

export async function seedAdmin(world: AdminWorld): Promise<Seeds> {
  const { admin } = world.server;
  const user = await world.createUser('grace.hopper', {
    email: 'grace@acme.example',
    name: 'Grace Hopper',
  });
  await admin('POST', '/groups', { name: 'engineering', display_name: 'Engineering' });
  await admin('POST', '/resources', {
    identifier: 'https://orders.acme.example',
    name: 'Orders',
    scopes: [{ name: 'orders.read', description: 'Warehouse' }],
  });
  const { id } = await world.createApplication({});
  await world.createApplication({
    client_name: 'Robot',
    redirect_uris: [],
    grant_types: ['client_credentials'],
  });
  await admin('POST', '/invitations', { email: 'ida@acme.example' });
  return { user, application: id };
}

const shapeOf = (path: string): string =>
  path
    .replaceAll(/\/(?=[^/]*\d)[\w-]{12,}(?=\/|$)/g, '/:id')
    .replace(/\/connect\/[\w-]+$/, '/connect/:guide')
    .replace(/\/applications\/new\/[\w-]+$/, '/applications/new/:kind')
    .replace(/\/mails\/(?!import)[\w-]+\/\w+$/, '/mails/:mail/:language')
    .replace(/\/settings\/(?!import|export)[\w-]+$/, '/settings/:group')
    .replace(/\/api-reference\/[\w-]+$/, '/api-reference/:group');

/** Of pages that differ by what they are about only some are read. */
const mostOf = (shape: string): number =>
  shape.endsWith('/settings/:group') ? 40 : shape === '/audit/:id' ? 6 : shape.includes(':') ? 2 : 1;

const LEFT_OUT =
  /^\/(?:admin\/(?:branding\/sample|audit\/live|api\/|api-reference)|assets|oauth2)|\/export\b|\/download|sign-out/;

export async function crawl(
  world: AdminWorld,
  seeds: Seeds,
  visit: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  const { page } = world.admin;
  const seen = new Map<string, number>();
  const waiting = [
    '/admin',
    `/admin/users/${seeds.user}`,
    `/admin/applications/${seeds.application}`,
    '/account',
  ];
  const known = new Set(waiting);
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    const shape = shapeOf(path.replace(/^\/admin/, '').replace(/\?.*/, ''));
    const count = seen.get(shape) ?? 0;
    if (count >= mostOf(shape)) continue;
    seen.set(shape, count + 1);
    const response = await page.goto(`${world.server.origin}${path}`);
    if (!(response?.headers()['content-type'] ?? '').startsWith('text/html')) continue;
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    await visit(page, path);
    const links = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href]:not([download])')].map((one) => one.href).filter((one) => one.startsWith(location.origin))`,
    );
    for (const link of links) {
      const { pathname, search } = new URL(link);
      const isQuery = /^\?(?:actor|target)=/.test(search);
      const to = isQuery ? pathname + search : pathname;
      if (!/^\/(?:admin|account)(?:\/|$)/.test(pathname) || LEFT_OUT.test(pathname) || known.has(to))
        continue;
      known.add(to);
      waiting.push(to);
    }
  }
}
/** What refuses: forms with something wrong in them, searches that find nothing, addresses that lead nowhere. */
export async function refuse(
  { admin: { page }, server }: AdminWorld,
  visit: (page: Page, name: string) => Promise<void>,
): Promise<void> {
  for (const path of FOUND) {
    await page.goto(`${server.origin}/admin${path}`);
    await visit(page, path);
  }
  for (const [path, fields, button] of REFUSED) {
    await page.goto(`${server.origin}/admin${path}`);
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    // Not the browser is to refuse, nor the page by its words: these are in the browser's language.
    await page.evaluate(
      'for (const one of document.forms) one.noValidate = true; for (const one of document.querySelectorAll("input")) { one.required = false; one.removeAttribute("pattern"); if (one.type === "email") one.type = "text"; }',
    );
    for (const [name, value] of Object.entries(fields))
      await page.locator(`[name="${name}"]`).first().fill(value);
    await loaded(page, () => page.locator(button).filter({ visible: true }).first().click());
    await visit(page, `${path} refused`);
  }
}
