// Apache with libapache2-mod-auth-openidc, as Debian packages both.
import { deepEqual, equal, notEqual, ok } from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { guideOf, valuesFor } from '../../../src/admin/guides/list.ts';
import { stepsOf } from '../../../src/admin/guides/render.ts';
import type { Page } from '../../support/agent.ts';
import { freePort } from '../../support/free-port.ts';
import { type Browser, type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { need } from '../support/toolchain.ts';

const MODULES = '/usr/lib/apache2/modules';
const apache = need('apache2', `${MODULES}/mod_auth_openidc.so`);

interface World {
  /** Of Apache; everything but `/bye` needs a sign-in. */
  readonly url: string;
  readonly issuer: Issuer;
  readonly browser: Browser;
}

type Client = { readonly client_id: string; readonly client_secret: string };

/** The lines of 'guide:apache', as the Admin UI shows them. */
function documented(url: string, issuer: Issuer, client: Client): string {
  const guide = guideOf('apache');
  ok(guide);
  const application = { name: 'Apache', clientId: client.client_id, redirectUris: [`${url}/callback`] };
  const values = valuesFor(guide, application, { issuer: issuer.issuer, baseUrl: issuer.url });
  const [text = ''] = stepsOf(guide, values)
    .flatMap(({ blocks }) => blocks)
    .filter(({ language }) => language === 'apache')
    .map(({ code }) => code);
  return text
    .replace(/\$\{OIDC_CLIENT_SECRET\}/, client.client_secret)
    .replace(/\$\{OIDC_CRYPTO_PASSPHRASE\}/, 'a-passphrase-of-the-test');
}

/** The least that the module starts with: no PKCE, the scope `openid` alone. */
const least = (url: string, issuer: Issuer, client: Client): string => `
OIDCProviderMetadataURL ${issuer.url}/.well-known/openid-configuration
OIDCClientID ${client.client_id}
OIDCClientSecret ${client.client_secret}
OIDCRedirectURI ${url}/callback
OIDCCryptoPassphrase a-passphrase-of-the-test
<Location "/">
  AuthType openid-connect
  Require valid-user
</Location>
`;

const withOfflineAccess = (...given: Parameters<typeof least>): string =>
  `${least(...given)}OIDCScope "openid email offline_access"\n`;

const configuration = (folder: string, url: string, openidc: string): string => `
ServerName 127.0.0.1
ServerRoot ${folder}
DefaultRuntimeDir ${folder}
PidFile ${folder}/pid
Listen ${new URL(url).host}
ErrorLog ${folder}/error.log
User www-data
Group www-data
${['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'headers', 'dir', 'auth_openidc']
  .map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`)
  .join('\n')}
DocumentRoot ${folder}/pages
${openidc}
<Location "/">
  Header always set X-Subject "%{OIDC_CLAIM_sub}e"
  Header always set X-Email "%{OIDC_CLAIM_email}e"
  Header always set X-Session "%{OIDC_CLAIM_sid}e"
  Header always set X-Token "%{OIDC_access_token}e"
</Location>
<Location "/bye">
  AuthType None
  Require all granted
</Location>
`;

async function inWorld(snippet: typeof least, act: (world: World) => Promise<void>): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-apache-'));
  // Its processes are another user's.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'pages'));
  for (const page of ['index.html', 'bye']) writeFileSync(join(folder, 'pages', page), page);
  const issuer = await startIssuer({ env: { OUTBOUND_ALLOW: `127.0.0.1:${port}` } });
  try {
    const client = await issuer.registerClient({
      redirect_uris: [`${url}/callback`],
      post_logout_redirect_uris: [`${url}/bye`],
      backchannel_logout_uri: `${url}/callback?logout=backchannel`,
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const file = join(folder, 'apache.conf');
    writeFileSync(file, configuration(folder, url, snippet(url, issuer, client)));
    const server = await startServer({
      command: 'apache2',
      args: ['-d', folder, '-f', file, '-DFOREGROUND'],
      url: `${url}/bye`,
    });
    try {
      await act({ url, issuer, browser: issuer.newBrowser() });
    } catch (error) {
      const log = readFileSync(join(folder, 'error.log'), 'utf8').slice(-4000);
      throw new Error(`${issuer.refusals().join('')}\n${server.said()}\n${log}`, { cause: error });
    } finally {
      await server.stop();
    }
  } finally {
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const shown = ({ headers }: Page, name: string): string => headers.get(`x-${name}`) ?? '';

/** By its Redirect URI, as its documentation says: `?refresh=` and `?logout=`. */
async function signInRefreshSignOut({ url, issuer, browser }: World): Promise<Page> {
  const first = await browser.visit(`${url}/`);
  deepEqual([first.status, first.url, first.body], [200, `${url}/`, 'index.html']);
  notEqual(shown(first, 'subject'), '');

  const query = new URLSearchParams({ refresh: `${url}/`, access_token: shown(first, 'token') });
  const renewed = await browser.visit(`${url}/callback?${query}`);
  deepEqual([renewed.status, renewed.url], [200, `${url}/`]);
  notEqual(shown(renewed, 'token'), shown(first, 'token'));

  const bye = await browser.visit(`${url}/callback?${new URLSearchParams({ logout: `${url}/bye` })}`);
  deepEqual([bye.status, bye.url, bye.body], [200, `${url}/bye`, 'bye']);
  const { body } = await issuer.app.admin('GET', '/sessions?is_active=true');
  equal(body.data.total, 0);
  return first;
}

async function endedByAdministrator({ url, issuer, browser }: World): Promise<void> {
  const first = shown(await browser.visit(`${url}/`), 'session');
  equal(shown(await browser.visit(`${url}/`), 'session'), first);
  const { body } = await issuer.app.admin('GET', '/sessions?is_active=true');
  for (const { id } of body.data.items ?? []) await issuer.app.admin('DELETE', `/sessions/${id}`);
  for (let tries = 0; tries < 100; tries += 1) {
    // Signed out there, the browser is sent to the provider, where it signs in to a new session.
    if (shown(await browser.visit(`${url}/`), 'session') !== first) return;
    await wait(200);
  }
  throw new Error('Apache keeps the session that the provider has ended');
}

test('mod_auth_openidc: with the least configuration, all by its defaults', apache, () =>
  inWorld(least, async (world) => {
    await signInRefreshSignOut(world);
    await endedByAdministrator(world);
  }),
);

test('mod_auth_openidc: by the lines of its guide', apache, () =>
  inWorld(documented, async (world) => {
    const page = await signInRefreshSignOut(world);
    equal(shown(page, 'email'), PERSON.email);
  }),
);

test('mod_auth_openidc: a refresh repeats the scope offline_access that was left out', apache, () =>
  inWorld(withOfflineAccess, async (world) => {
    await signInRefreshSignOut(world);
  }),
);
