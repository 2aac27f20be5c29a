// oidc-client-ts in Chromium, in a page of another origin: PKCE, silent renewal by the refresh token, CORS at every endpoint that
// it reads, sign-out. What the browser complains about fails the test.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { launch } from '../../pages/browser.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type Issuer, PERSON, startIssuer } from '../support/issuer.ts';

const LIBRARY = readFileSync(
  fileURLToPath(import.meta.resolve('oidc-client-ts')).replace(
    /dist\/.*$/,
    'dist/browser/oidc-client-ts.min.js',
  ),
  'utf8',
);

let browser: Browser;
let issuer: Issuer;
let site: Receiver;
let origin: string;
let page: Page;
const complaints: string[] = [];

/** The application: it signs in by itself at /callback, and shows what it is. */
const applicationPage = (
  clientId: string,
  path = '',
  more = '{}',
): string => `<!doctype html><title>loading</title>
<link rel="icon" href="data:,">
<script src="/oidc-client-ts.js"></script>
<script>
const manager = new oidc.UserManager({
  authority: ${JSON.stringify(issuer.issuer)},
  client_id: ${JSON.stringify(clientId)},
  redirect_uri: location.origin + '${path}/callback',
  post_logout_redirect_uri: location.origin + '/',
  scope: 'openid profile email',
  loadUserInfo: true,
  ...${more},
});
const failed = [];
manager.events.addSilentRenewError((error) => failed.push(String(error)));
const ready = location.pathname === '${path}/callback' ? manager.signinRedirectCallback() : manager.getUser();
ready.then((user) => { document.title = user ? 'user' : 'nobody'; }, (error) => { document.title = String(error); });
</script>`;

before(async () => {
  [browser, issuer] = await Promise.all([launch(), startIssuer()]);
  let document = '';
  let bound = '';
  site = await startReceiver((request, response) => {
    const isScript = request.url === '/oidc-client-ts.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? LIBRARY : request.url?.startsWith('/bound') ? bound : document);
  });
  origin = `http://localhost:${site.port}`;
  const { client_id } = await issuer.registerClient({
    client_name: 'A page',
    application_type: 'web',
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${origin}/callback`],
    post_logout_redirect_uris: [`${origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
    // It renews a minute before the end: at once.
    access_token_seconds: 63,
  });
  document = applicationPage(client_id);
  const { client_id: boundId } = await issuer.registerClient({
    client_name: 'A page with a key',
    application_type: 'web',
    token_endpoint_auth_method: 'none',
    redirect_uris: [`${origin}/bound/callback`],
    grant_types: ['authorization_code', 'refresh_token'],
    dpop_bound_access_tokens: true,
    skip_consent: true,
  });
  // Its own request to userinfo sends the token as Bearer (3.5.0), which a bound one is not.
  const dpop =
    '{ loadUserInfo: false, dpop: { bind_authorization_code: true, store: new oidc.IndexedDbDPoPStore() } }';
  bound = applicationPage(boundId, '/bound', dpop);
  page = await browser.newPage();
  page.setDefaultTimeout(45_000);
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
});
after(async () => {
  site?.close();
  await browser?.close();
  await issuer?.close();
});

const evaluate = async (script: string): Promise<string> => String(await page.evaluate(script));

/** The page itself says when it is ready; a title of its own is an error. */
async function titled(title: string): Promise<void> {
  await page.waitForURL((url) => url.origin === origin);
  await page.waitForFunction("document.title !== 'loading'");
  equal(await page.title(), title, issuer.refusals().join(''));
}

test('oidc-client-ts: sign-in, userinfo, silent renewal, revocation, sign-out', async () => {
  await page.goto(`${origin}/`);
  await titled('nobody');
  await Promise.all([page.waitForEvent('load'), page.evaluate('void manager.signinRedirect()')]);
  await page.getByLabel('Username or e-mail').fill(PERSON.username);
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await titled('user');
  const first = await evaluate('ready.then((user) => user.access_token)');
  equal(await evaluate('ready.then((user) => user.profile.email)'), PERSON.email);
  ok(await evaluate('ready.then((user) => user.refresh_token)'), 'a refresh token');

  // Its automaticSilentRenew, which is on.
  const second = await evaluate(`(async () => {
    for (let tries = 0; tries < 600; tries += 1) {
      const user = await manager.getUser();
      if (user.access_token !== ${JSON.stringify(first)}) return user.access_token;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return 'not renewed: ' + failed.join();
  })()`);
  match(second, /^ey/);
  notEqual(second, first);

  await page.evaluate('manager.stopSilentRenew()');
  await page.evaluate('manager.revokeTokens()');
  const dead = `fetch(${JSON.stringify(`${issuer.issuer}/userinfo`)}, { headers: { authorization: 'Bearer ${second}' } })`;
  equal(await evaluate(`${dead}.then((response) => response.status)`), '401');
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !/status of 401/.test(text)));

  await Promise.all([page.waitForURL(`${origin}/`), page.evaluate('void manager.signoutRedirect()')]);
  await titled('nobody');
  await page.goto(`${issuer.url}/account`);
  await page.getByLabel('Password', { exact: true }).waitFor();
  deepEqual(complaints, []);
});

test('oidc-client-ts with dpop: tokens bound to a key that the browser keeps, and renewed', async () => {
  // First away from the page before, whose own requests would be refused without its cookies.
  await page.goto(`${origin}/bound/`);
  await titled('nobody');
  await page.context().clearCookies();
  await Promise.all([page.waitForEvent('load'), page.evaluate('void manager.signinRedirect()')]);
  await page.getByLabel('Username or e-mail').fill(PERSON.username);
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await titled('user');
  equal(await evaluate('ready.then((user) => user.token_type)'), 'DPoP');
  const userinfo = JSON.stringify(`${issuer.issuer}/userinfo`);
  const person = await evaluate(`ready.then(async (user) => {
    const DPoP = await manager.dpopProof(${userinfo}, user);
    const response = await fetch(${userinfo}, { headers: { authorization: 'DPoP ' + user.access_token, DPoP } });
    return (await response.json()).email;
  })`);
  equal(person, PERSON.email);
  const renewed = await evaluate('manager.signinSilent().then((user) => user.token_type)');
  equal(renewed, 'DPoP');
  deepEqual(complaints, []);
});
