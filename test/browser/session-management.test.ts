// Session management and front-channel logout in a real Chromium (decision 0026): the frame answers its application's origin alone,
// a sign-out in another tab is noticed, a foreign page cannot frame it, and keycloak-js watches the session at its defaults.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { codeRequest } from '../support/agent.ts';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
let browser: Browser;
let site: Server;
/** On the host of BASE_URL, so that its frames are of the same site. */
let own: string;
/** The same server under another name: another site. */
let foreign: string;
let client: { id: string };
let keycloak: { id: string };
let monitor: { id: string };
const seen: string[] = [];

/** The application's page: asks the frame, and keeps what it and anybody else says. */
const WATCH = (frame: string): string => `<!doctype html><title>Application</title>
<script>
window.heard = [];
addEventListener('message', ({ data, origin }) => heard.push([origin, data]));
window.ask = (message) => new Promise((resolve) => {
  addEventListener('message', ({ data }) => resolve(data), { once: true });
  setTimeout(() => resolve('silence'), 5000);
  document.querySelector('iframe').contentWindow.postMessage(message, '*');
});
</script><iframe src="${frame}"></iframe>`;

const KEYCLOAK = (url: string, id: string): string => `<!doctype html><title>Application</title>
<script type="module">
const { default: Keycloak } = await import(location.origin + '/keycloak.js');
window.keycloak = new Keycloak({ url: '${url}', realm: 'master', clientId: '${id}' });
window.lost = 0;
keycloak.onAuthLogout = () => { window.lost += 1; };
const options = { onLoad: 'check-sso', silentCheckSsoRedirectUri: location.origin + '/silent', checkLoginIframeInterval: 1 };
window.ready = keycloak.init(options);
ready.then((is) => { document.title = 'Ready ' + is; }, (error) => { document.title = 'Failed: ' + error; });
</script>`;
const MONITOR = (issuer: string, id: string): string => `<!doctype html><title>Application</title>
<script src="/oidc-client-ts.js"></script>
<script>
window.lost = 0;
window.manager = new oidc.UserManager({
  authority: '${issuer}', client_id: '${id}', redirect_uri: location.origin + '/monitor',
  silent_redirect_uri: location.origin + '/monitor-silent', scope: 'openid',
  monitorSession: true, checkSessionIntervalInSeconds: 1,
});
manager.events.addUserSignedOut(() => { lost += 1; });
if (location.pathname === '/monitor-silent') manager.signinSilentCallback();
else if (location.search) manager.signinCallback().then(() => { document.title = 'Signed in'; }, (error) => { document.title = String(error); });
</script>`;

const SILENT = '<!doctype html><script>parent.postMessage(location.href, location.origin)</script>';

before(async () => {
  const [library, generic, started, launched] = await Promise.all([
    readFile(fileURLToPath(import.meta.resolve('keycloak-js')), 'utf8'),
    readFile(
      fileURLToPath(import.meta.resolve('oidc-client-ts')).replace(
        /dist\/.*$/,
        'dist/browser/oidc-client-ts.min.js',
      ),
      'utf8',
    ),
    startApp({ store: 'sqlite' }),
    launch(),
  ]);
  app = started;
  browser = launched;
  site = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://site');
    seen.push(`${pathname}${search}`);
    const pages: Record<string, string> = {
      '/watch': WATCH(`${app.url}/oauth2/check_session`),
      '/keycloak': KEYCLOAK(app.url, keycloak.id),
      '/silent': SILENT,
      '/keycloak.js': library,
      '/oidc-client-ts.js': generic,
      '/monitor': MONITOR(app.issuer, monitor.id),
      '/monitor-silent': MONITOR(app.issuer, monitor.id),
    };
    response.setHeader('content-type', pathname.endsWith('.js') ? 'text/javascript' : 'text/html');
    response.end(pages[pathname] ?? '<!doctype html><title>Application</title>');
  });
  site.listen(0);
  await once(site, 'listening');
  const { port }: AddressInfo = Object(site.address());
  own = `http://127.0.0.1:${port}`;
  foreign = `http://localhost:${port}`;
  equal((await app.admin('PATCH', '/settings', { legacy_profiles: true })).status, 200);
  client = await app.register({
    profile: 'legacy',
    redirect_uris: [`${own}/cb`],
    post_logout_redirect_uris: [`${own}/bye`],
    frontchannel_logout_uri: `${own}/out`,
  });
  keycloak = await app.register({
    profile: 'legacy',
    keycloak_tokens: true,
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${own}/keycloak`, `${own}/silent`],
  });
  monitor = await app.register({
    profile: 'legacy',
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${own}/monitor`, `${own}/monitor-silent`],
  });
  await app.createUser('alice');
});

after(async () => {
  await browser.close();
  site.closeAllConnections();
  site.close();
  await app.stop();
});

async function inBrowser(act: (context: BrowserContext, page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ locale: 'en-GB' });
  context.setDefaultTimeout(120_000);
  try {
    await act(context, await context.newPage());
  } finally {
    await context.close();
  }
}

async function enter(page: Page): Promise<void> {
  await page.getByLabel('Username or e-mail').fill('alice');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** @returns the session_state of the answer */
async function signIn(page: Page): Promise<string> {
  const request = { ...codeRequest(client.id), redirect_uri: `${own}/cb` };
  await page.goto(`${app.url}/oauth2/authorize?${new URLSearchParams(request)}`);
  if (!page.url().startsWith(own)) await enter(page);
  await page.waitForURL(`${own}/cb**`);
  return new URL(page.url()).searchParams.get('session_state') ?? '';
}

const asks = (page: Page, message: unknown): Promise<unknown> =>
  page.evaluate(`ask(${JSON.stringify(message)})`);

test('frame: unchanged, changed after a sign-out in another tab, error for nonsense', async () => {
  await inBrowser(async (context, page) => {
    const state = await signIn(page);
    await page.goto(`${own}/watch`);
    equal(await asks(page, `${client.id} ${state}`), 'unchanged');
    equal(await asks(page, `other ${state}`), 'changed');
    equal(await asks(page, `${client.id} ${state}x`), 'changed');
    for (const nonsense of ['', client.id, `${client.id} a b`, ` ${state}`, 'x'.repeat(5000)])
      equal(await asks(page, nonsense), 'error', nonsense.slice(0, 20));
    equal(await asks(page, { client: 'id' }), 'silence');
    const tab = await context.newPage();
    await tab.goto(`${app.url}/oauth2/logout`);
    equal(await asks(page, `${client.id} ${state}`), 'changed');
    // Somebody else's session is another state.
    await signIn(tab);
    equal(await asks(page, `${client.id} ${state}`), 'changed');
    const origins = await page.evaluate<[string, string][]>('heard');
    deepEqual([...new Set(origins.map(([origin]) => origin))], [new URL(app.url).origin]);
  });
});

test('attack: another site cannot frame it, and a frame in its own page gets no answer', async () => {
  await inBrowser(async (_context, page) => {
    const state = await signIn(page);
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${foreign}/watch`);
    equal(await asks(page, `${client.id} ${state}`), 'silence');
    ok(
      complaints.some((text) => /frame-ancestors|X-Frame-Options|refused to/i.test(text)),
      complaints.join('\n'),
    );
    deepEqual(await page.evaluate('heard'), []);
    // Inside of the application's page a foreign frame may ask, too: it is not the allowed origin.
    await page.goto(`${own}/watch`);
    const stranger = await page.evaluate<string>(`new Promise((resolve) => {
      addEventListener('message', ({ data }) => resolve(String(data)), { once: true });
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts';
      frame.srcdoc = "<script>onmessage = ({ data }) => parent.postMessage('answered ' + data, '*');" +
        "parent.frames[0].postMessage('${client.id} ${state}', '*');" +
        "setTimeout(() => parent.postMessage('silence', '*'), 5000)<" + '/script>';
      document.body.append(frame);
    })`);
    equal(stranger, 'silence');
  });
});

test('sign-out: the application is told in a frame without referrer, and the page goes on', async () => {
  await inBrowser(async (context, page) => {
    await signIn(page);
    seen.length = 0;
    const referrers: (string | undefined)[] = [];
    context.on('request', (request) => {
      if (request.url().startsWith(`${own}/out`)) referrers.push(request.headers().referer);
    });
    const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: `${own}/bye` });
    await page.goto(`${app.url}/oauth2/logout?${query}`);
    await page.waitForURL(`${own}/bye`);
    const [told = ''] = seen.filter((url) => url.startsWith('/out'));
    match(told, /^\/out\?iss=[^&]+&sid=[\w-]+$/);
    deepEqual(referrers, [undefined]);
  });
});

test('keycloak-js: at its defaults it checks silently, watches the session and notices its end', async () => {
  await inBrowser(async (context, page) => {
    await page.goto(`${own}/keycloak`);
    await page.waitForFunction("document.title !== 'Application'");
    equal(await page.title(), 'Ready false');
    await page.evaluate('void keycloak.login()');
    await enter(page);
    await page.waitForFunction("document.title === 'Ready true'");
    equal(
      await page.evaluate("document.querySelector('iframe[title=keycloak-session-iframe]') !== null"),
      true,
    );
    // Found again without leaving the page.
    await page.goto(`${own}/keycloak`);
    await page.waitForFunction("document.title === 'Ready true'");
    await page.waitForTimeout(2500);
    equal(await page.evaluate('lost'), 0);
    const tab = await context.newPage();
    await tab.goto(`${app.url}/oauth2/logout`);
    await page.waitForFunction('lost > 0');
  });
});

test('oidc-client-ts: its session monitor stays quiet, and reports the sign-out of another tab', async () => {
  await inBrowser(async (context, page) => {
    await page.goto(`${own}/monitor`);
    await page.evaluate('void manager.signinRedirect()');
    await enter(page);
    await page.waitForFunction("document.title === 'Signed in'");
    ok(await page.evaluate('manager.getUser().then((user) => user.session_state)'));
    await page.waitForTimeout(2500);
    equal(await page.evaluate('lost'), 0);
    const tab = await context.newPage();
    await tab.goto(`${app.url}/oauth2/logout`);
    await page.waitForFunction('lost > 0');
  });
});
