// keycloak-js in a real Chromium, on a page of another site, at its defaults: init(), login(), updateToken(), loadUserInfo(),
// check-sso and logout(), by the foreign path layout (decision 0026).
import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../../pages/browser.ts';
import { PASSWORD, startApp, type TestApp } from '../../support/app.ts';
import { freePort } from '../../support/free-port.ts';

const LIBRARY = fileURLToPath(import.meta.resolve('keycloak-js'));

/** The application: one page per way to begin, and the page that keycloak-js wants for its silent check. */
const pageOf = (url: string, clientId: string, options: object): string => `<!doctype html><title>App</title>
<script type="module">
const { default: Keycloak } = await import(location.origin + '/keycloak.js');
window.keycloak = new Keycloak({ url: '${url}', realm: 'master', clientId: '${clientId}' });
window.ready = window.keycloak.init(${JSON.stringify(options)});
window.ready.then(() => { document.title = 'Ready'; }, (error) => { document.title = 'Failed: ' + error; });
</script>`;

const SILENT = '<!doctype html><script>parent.postMessage(location.href, location.origin)</script>';

let app: TestApp;
let browser: Browser;
let site: Server;
let origin: string;

before(async () => {
  const [library, started, launched, port] = await Promise.all([
    readFile(LIBRARY, 'utf8'),
    startApp({ store: 'sqlite' }),
    launch(),
    freePort(),
  ]);
  app = started;
  browser = launched;
  // Not the host of BASE_URL, so that cookies in frames are those of a third party.
  origin = `http://localhost:${port}`;
  const client = await app.register({
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${origin}/`, `${origin}/sso`, `${origin}/silent`],
    post_logout_redirect_uris: [`${origin}/`],
    keycloak_tokens: true,
  });
  await app.createUser('alice');
  const pages: Record<string, string> = {
    '/': pageOf(app.url, client.id, {}),
    '/sso': pageOf(app.url, client.id, {
      onLoad: 'check-sso',
      silentCheckSsoRedirectUri: `${origin}/silent`,
    }),
    '/silent': SILENT,
  };
  site = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', origin);
    const isScript = pathname === '/keycloak.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.statusCode = isScript || pathname in pages ? 200 : 404;
    response.end(isScript ? library : pages[pathname]);
  });
  await new Promise<void>((resolve) => site.listen(port, 'localhost', resolve));
});

after(async () => {
  await browser.close();
  site.closeAllConnections();
  site.close();
  await app.stop();
});

/** Once the page's init() has come to its end, over all redirects. */
async function isAuthenticated(page: Page): Promise<boolean> {
  await page.waitForFunction("document.title !== 'App' && location.hostname === 'localhost'");
  equal(await page.title(), 'Ready');
  return page.evaluate<boolean>('ready');
}

test('keycloak-js: init, login, updateToken, loadUserInfo, check-sso and logout', async () => {
  const context = await browser.newContext();
  context.setDefaultTimeout(45_000);
  const page = await context.newPage();
  await page.goto(`${origin}/`);
  equal(await isAuthenticated(page), false);

  await page.evaluate("void keycloak.login({ scope: 'openid profile roles' })");
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${origin}/**`);
  equal(await isAuthenticated(page), true);
  const of = <T>(expression: string): Promise<T> => page.evaluate<T>(expression);
  deepEqual(
    await of('[keycloak.tokenParsed.typ, keycloak.idTokenParsed.typ, keycloak.refreshTokenParsed.typ]'),
    ['Bearer', 'ID', 'Refresh'],
  );
  equal(await of('keycloak.tokenParsed.preferred_username'), 'alice');
  deepEqual(await of("[keycloak.hasRealmRole('user'), keycloak.hasRealmRole('admin')]"), [true, false]);
  equal(await of('keycloak.hasResourceRole("user")'), true);
  equal(await of('keycloak.sessionId === keycloak.tokenParsed.session_state'), true);

  const earlier = await of<string>('keycloak.refreshToken');
  equal(await of('keycloak.updateToken(-1)'), true);
  notEqual(await of('keycloak.refreshToken'), earlier);
  match(await of<string>('keycloak.loadUserInfo().then((info) => info.preferred_username)'), /^alice$/);

  await page.goto(`${origin}/sso`);
  equal(await isAuthenticated(page), true);

  await page.evaluate(`void keycloak.logout({ redirectUri: '${origin}/' })`);
  await page.waitForURL(`${origin}/`);
  equal(await isAuthenticated(page), false);
  await page.goto(`${origin}/sso`);
  equal(await isAuthenticated(page), false);
  await context.close();
});
