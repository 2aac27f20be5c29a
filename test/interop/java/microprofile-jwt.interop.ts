// MicroProfile JWT, as Quarkus' SmallRye JWT has it, before an API: who it is and what they may comes from the access token alone.
import { deepEqual, equal } from 'node:assert/strict';
import test from 'node:test';
import { bearer, call, tokensOf } from '../../flows/support.ts';
import { freePort } from '../../support/free-port.ts';
import { startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { install } from '../support/toolchain.ts';
import { JVM, MAVEN, source } from './build.ts';

const files = [
  'pom.xml',
  'src/main/java/latchkey/MicroProfileApi.java',
  'src/main/resources/application.properties',
].map((file) => source(`./microprofile-jwt/${file}`));
const api = await install({
  name: 'java-microprofile-jwt',
  programs: ['mvn', 'java', 'javac'],
  pins: files,
  commands: () => [
    ['cp', '-R', `${source('./microprofile-jwt')}/.`, '.'],
    [...MAVEN, 'package', '-DskipTests'],
  ],
});

for (const { from, options, answers } of [
  { from: 'groups', options: [], answers: ['hello hedy', 403] },
  { from: 'roles', options: ['-Dsmallrye.jwt.path.groups=roles'], answers: [403, 'hello hedy'] },
])
  test(`MicroProfile JWT: the person's name, and what they may by ${from}`, api, async (t) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const issuer = await startIssuer();
    t.after(() => issuer.close());
    const { app } = issuer;
    await app.admin('POST', '/groups', { name: 'staff' });
    const person = await app.createUser('hedy');
    await app.admin('POST', '/groups/staff/members', { user_id: person.id });
    const client = await app.register({});
    const tokens = await tokensOf(app, client, person, { scope: 'openid profile roles groups' });
    const { body: discovery } = await call(app, 'GET', '/.well-known/openid-configuration');
    const server = await startServer({
      command: 'java',
      args: [...JVM, ...options, '-jar', `${api.folder}/target/quarkus-app/quarkus-run.jar`],
      env: { ISSUER: issuer.issuer, JWKS_URI: String(discovery.jwks_uri), PORT: String(port) },
      url: `${url}/open`,
    });
    t.after(() => server.stop());
    const ask = async (path: string, token: string): Promise<string | number> => {
      const answer = await fetch(`${url}/${path}`, { headers: bearer(token) });
      const text = await answer.text();
      return answer.ok ? text : answer.status;
    };
    try {
      const seen = [await ask('staff', tokens.access_token), await ask('user', tokens.access_token)];
      deepEqual(seen, answers);
      equal(await ask('user', tokens.id_token), 401);
    } catch (error) {
      throw new Error(server.said(), { cause: error });
    }
  });
