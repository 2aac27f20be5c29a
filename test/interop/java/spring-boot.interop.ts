// Spring Boot by the lines of its guide, each version a process of its own. Spring waits half a second for jwks.json: on a
// machine too busy for that, its sign-in ends at its own page /login?error, and its back-channel logout with a 500.
import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { redirectUrisOf } from '../../../src/admin/guides/guide.ts';
import { guideOf, valuesFor } from '../../../src/admin/guides/list.ts';
import { stepsOf } from '../../../src/admin/guides/render.ts';
import { isActive } from '../../flows/support.ts';
import { freePort } from '../../support/free-port.ts';
import type { GuideName } from '../support/guide.ts';
import { type Browser, type Issuer, PERSON, startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import type { Installed } from '../support/toolchain.ts';
import { compiled, inJvm } from './build.ts';
import { guardsOf, jsonOf } from './server.ts';

/** The lines of the guide for Spring, as the Admin UI shows them. */
function snippet(
  { issuer, url }: Issuer,
  origin: string,
  client: { client_id: string; client_secret: string },
): string {
  const name: GuideName = 'guide:spring';
  const guide = guideOf(name.slice('guide:'.length));
  ok(guide);
  const redirectUris = redirectUrisOf(guide, origin);
  const application = { name: 'Spring', clientId: client.client_id, redirectUris };
  const [yaml = ''] = stepsOf(guide, valuesFor(guide, application, { issuer, baseUrl: url }))
    .flatMap(({ blocks }) => blocks)
    .filter(({ language }) => language === 'yaml')
    .map(({ code }) => code);
  return yaml.replace(/\$\{OIDC_CLIENT_SECRET\}/, client.client_secret);
}

interface World {
  readonly url: string;
  readonly issuer: Issuer;
  readonly browser: Browser;
}

async function inWorld(program: Installed, act: (world: World) => Promise<void>): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-spring-'));
  const issuer = await startIssuer({ env: { OUTBOUND_ALLOW: `127.0.0.1:${port}` } });
  try {
    const client = await issuer.registerClient({
      redirect_uris: [`${url}/login/oauth2/code/latchkey`],
      post_logout_redirect_uris: [`${url}/bye`],
      backchannel_logout_uri: `${url}/logout/connect/back-channel/latchkey`,
      grant_types: ['authorization_code', 'refresh_token'],
      // Spring refreshes what ends within a minute: here at every request.
      access_token_seconds: 50,
    });
    writeFileSync(join(folder, 'application.yml'), snippet(issuer, url, client));
    const server = await startServer({
      command: 'java',
      args: [
        ...inJvm(program, 'latchkey.SpringBootClient'),
        `--spring.config.additional-location=file:${folder}/`,
        `--spring.security.oauth2.resourceserver.jwt.issuer-uri=${issuer.issuer}`,
        '--server.address=127.0.0.1',
        `--server.port=${port}`,
      ],
      url: `${url}/bye`,
    });
    try {
      await act({ url, issuer, browser: issuer.newBrowser() });
    } catch (error) {
      throw new Error(`${issuer.refusals().join('')}\n${server.said()}`, { cause: error });
    } finally {
      await server.stop();
    }
  } finally {
    await issuer.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function signInAndOut({ url, issuer, browser }: World): Promise<void> {
  const first = jsonOf(await browser.visit(`${url}/me`));
  const info = first.userinfo;
  equal(typeof info === 'object' && info !== null && Reflect.get(info, 'email'), PERSON.email);
  const renewed = jsonOf(await browser.visit(`${url}/me`));
  equal(renewed.sub, first.sub);
  notEqual(renewed.access_token, first.access_token);
  const token = String(renewed.access_token);
  equal(await isActive(issuer.app, token), true);

  // Spring asks first, by a form with its own token.
  const bye = await browser.visit(`${url}/logout`, {});
  deepEqual([bye.url, bye.body], [`${url}/bye`, 'bye']);
  equal(await isActive(issuer.app, token), false);
}

async function endedByAdministrator({ url, issuer, browser }: World): Promise<void> {
  const { sid } = jsonOf(await browser.visit(`${url}/session`));
  const { body } = await issuer.app.admin('GET', '/sessions?is_active=true');
  for (const { id } of body.data.items ?? []) await issuer.app.admin('DELETE', `/sessions/${id}`);
  for (let tries = 0; tries < 100; tries += 1) {
    // Signed out there, the browser is sent here, where it signs in to a new session.
    if (jsonOf(await browser.visit(`${url}/session`)).sid !== sid) return;
    await wait(200);
  }
  throw new Error('Spring keeps the session that the provider has ended');
}

/** Boot's decoder takes only `typ: JWT`; the one that the documentation shows checks all of RFC 9068 §4. */
async function checksAccessToken({ url, browser }: World): Promise<void> {
  const { access_token, sub } = jsonOf(await browser.visit(`${url}/me`));
  const headers = { authorization: `Bearer ${access_token}` };
  const atDefaults = await fetch(`${url}/api/defaults/whoami`, { headers });
  equal(atDefaults.status, 401);
  match(atDefaults.headers.get('www-authenticate') ?? '', /typ/);
  const answer = await fetch(`${url}/api/whoami`, { headers });
  const text = await answer.text();
  equal(answer.status, 200, answer.headers.get('www-authenticate') ?? '');
  deepEqual(JSON.parse(text), { sub });
}

for (const [version, guards] of [
  ['3', ['nonce']],
  ['4', ['nonce', 'code_challenge']],
] as const) {
  const program = await compiled(`spring-boot-${version}`, 'spring-boot/SpringBootClient.java');
  test(`Spring Boot ${version}: as the documentation says, refresh and both ways of logout`, program, () =>
    inWorld(program, async (world) => {
      deepEqual(await guardsOf(`${world.url}/oauth2/authorization/latchkey`), guards);
      await signInAndOut(world);
      await endedByAdministrator(world);
      await checksAccessToken(world);
    }),
  );
}
