// Quarkus' OIDC extension as a web application: at its defaults it sends neither PKCE nor a nonce.
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import test from 'node:test';
import { isActive } from '../../flows/support.ts';
import { freePort } from '../../support/free-port.ts';
import { PERSON, startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { install } from '../support/toolchain.ts';
import { JVM, MAVEN, source } from './build.ts';
import { guardsOf, jsonOf } from './server.ts';

const files = [
  'pom.xml',
  'src/main/java/latchkey/QuarkusClient.java',
  'src/main/resources/application.properties',
].map((file) => source(`./quarkus/${file}`));
const quarkus = await install({
  name: 'java-quarkus',
  programs: ['mvn', 'java', 'javac'],
  pins: files,
  commands: () => [
    ['cp', '-R', `${source('./quarkus')}/.`, '.'],
    [...MAVEN, 'package', '-DskipTests'],
  ],
});

test('Quarkus: signs in, verifies the access token, refreshes, signs out', quarkus, async (t) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer();
  t.after(() => issuer.close());
  const client = await issuer.registerClient({
    redirect_uris: [`${url}/me`],
    post_logout_redirect_uris: [`${url}/bye`],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const server = await startServer({
    command: 'java',
    args: [...JVM, '-jar', `${quarkus.folder}/target/quarkus-app/quarkus-run.jar`],
    env: {
      ISSUER: issuer.issuer,
      CLIENT_ID: client.client_id,
      CLIENT_SECRET: client.client_secret,
      PORT: String(port),
    },
    url: `${url}/bye`,
  });
  t.after(() => server.stop());
  try {
    deepEqual(await guardsOf(`${url}/me`), []);
    const browser = issuer.newBrowser();
    const first = jsonOf(await browser.visit(`${url}/me`));
    deepEqual([first.name, first.email], [PERSON.username, PERSON.email]);
    const renewed = jsonOf(await browser.visit(`${url}/me`));
    equal(renewed.sub, first.sub);
    notEqual(renewed.access_token, first.access_token);
    const bye = await browser.visit(`${url}/logout`);
    deepEqual([new URL(bye.url).pathname, bye.body], ['/bye', 'bye']);
    equal(await isActive(issuer.app, String(renewed.access_token)), false);
  } catch (error) {
    throw new Error(`${issuer.refusals().join('')}\n${server.said()}`, { cause: error });
  }
});
