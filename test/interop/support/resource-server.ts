// The lines that the Admin UI shows for an API's framework, taken from its page, run as a server of their own, and called with a
// token of each kind: none, one for another API, one for this provider, an ID token, forged ones, one whose scope is too small, and a
// right one.
import { deepEqual, ok } from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, decodeProtectedHeader, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { createApi, type TestApi } from '../../flows/api-support.ts';
import { basic, postForm, requestTokensOf } from '../../flows/support.ts';
import { Agent, redeem } from '../../support/agent.ts';
import { PASSWORD, startApp } from '../../support/app.ts';
import { athOf, proofKey, proofOf } from '../../support/dpop.ts';
import { freePort } from '../../support/free-port.ts';
import { startServer } from './server.ts';

export type Format = 'at+jwt' | 'jwt' | 'opaque';

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a right resource server answers; `ours` is for the provider itself, `small` lacks the scope. */
export const RIGHT = {
  none: 401,
  foreign: 401,
  ours: 401,
  id: 401,
  garbage: 401,
  forged: 401,
  unsigned: 401,
  symmetric: 401,
  small: 403,
  right: 200,
};

const app = await startApp({ store: 'sqlite' });
export const close = (): Promise<void> => app.stop();
const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
const web = await app.register();
const root = await app.createUser('root-admin', { role: 'admin' });
const admin = new Agent(app);
await admin.submit(await admin.follow(await admin.get('/admin')), {
  username: root.username,
  password: PASSWORD,
});

const machineToken = async (parameters: Record<string, string>): Promise<string> =>
  (await requestTokensOf(app, machine, { grant_type: 'client_credentials', ...parameters })).access_token;

export async function apiOf(format: Format): Promise<TestApi> {
  const fields = { access_token_format: format, machine_grants: { [machine.id]: ['read', 'write'] } };
  return createApi(app, fields);
}

const unescaped = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#96;', '`')
    .replaceAll('&#92;', '\\')
    .replaceAll('&amp;', '&');

/** @returns the lines that the page of this API shows under the id */
export async function linesOf(api: TestApi, id: string): Promise<string> {
  const { body } = await admin.get(`/admin/apis/${api.id}/connect`);
  const [, code] = new RegExp(`<code id="${id}">([\\s\\S]*?)</code>`).exec(body) ?? [];
  ok(code, `no ${id} on the page`);
  return unescaped(code);
}

/** Right in every claim, and named after a key of this provider, which did not sign them (RFC 8725 §2.1). */
async function forgeriesFor(api: TestApi, like: string) {
  const { kid, typ } = decodeProtectedHeader(like);
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: app.issuer,
    aud: api.identifier,
    sub: machine.id,
    client_id: machine.id,
    scope: 'read',
    jti: randomUUID(),
    iat: now,
    exp: now + 300,
  };
  const named = { ...(kid && { kid }), ...(typ && { typ }) };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const keys = createRemoteJWKSet(new URL(`${app.url}/.well-known/jwks.json`));
  const pem = await exportSPKI(await keys({ alg: 'RS256', ...named }));
  const strange = (await generateKeyPair('RS256')).privateKey;
  return {
    forged: await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', ...named }).sign(strange),
    unsigned: `${part({ alg: 'none', ...named })}.${part(claims)}.`,
    symmetric: await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', ...named })
      .sign(Buffer.from(pem)),
  };
}

async function tokensFor(api: TestApi): Promise<Record<keyof typeof RIGHT, string>> {
  const other = await apiOf('at+jwt');
  const signIn = await redeem(app, web, await new Agent(app).signIn(web.id, root));
  const right = await machineToken({ resource: api.identifier, scope: 'read' });
  const foreign = await machineToken({ resource: other.identifier, scope: 'read' });
  return {
    none: '',
    foreign,
    ours: await machineToken({}),
    id: String(signIn.body.id_token),
    garbage: `${right.slice(0, -8)}AAAAAAAA`,
    ...(await forgeriesFor(api, right.split('.').length === 3 ? right : foreign)),
    small: await machineToken({ resource: api.identifier, scope: 'write' }),
    right,
  };
}

/** What a server answers to a token that is bound to a key, sent as a bearer token, and with proofs. */
export async function checkBound(
  programFor: (api: TestApi, port: number) => Promise<Program>,
  format: Format = 'at+jwt',
): Promise<void> {
  const grants = { [machine.id]: ['read', 'write'] };
  const api = await createApi(app, {
    access_token_format: format,
    require_dpop: true,
    machine_grants: grants,
  });
  const [key, other] = [await proofKey(), await proofKey()];
  const asked = { grant_type: 'client_credentials', resource: api.identifier, scope: 'read' };
  const proof = await proofOf(key, 'POST', `${app.url}/oauth2/token`);
  const { body } = await postForm(app, '/oauth2/token', asked, { ...basic(machine), dpop: proof });
  const token = String(body.access_token);
  const port = await freePort();
  const url = `http://localhost:${port}/`;
  const { env = {}, ...program } = await programFor(api, port);
  const server = await startServer({ ...program, env: { PORT: String(port), ...env }, url });
  const ath = athOf(token);
  const kinds: Record<string, Record<string, string>> = {
    stolen: { authorization: `Bearer ${token}` },
    bare: { authorization: `DPoP ${token}` },
    foreign: { authorization: `DPoP ${token}`, dpop: await proofOf(other, 'GET', url, { ath }) },
    right: { authorization: `DPoP ${token}`, dpop: await proofOf(key, 'GET', url, { ath }) },
  };
  try {
    const answers: Record<string, boolean> = {};
    for (const [name, headers] of Object.entries(kinds)) answers[name] = (await fetch(url, { headers })).ok;
    deepEqual(answers, { stolen: false, bare: false, foreign: false, right: true }, server.said());
  } finally {
    await server.stop();
  }
}

/** Runs it, given its port, and checks what it answers. @param more calls, with a right token */
export async function check(
  api: TestApi,
  programOn: (port: number) => Program | Promise<Program>,
  more?: (url: string, token: string) => Promise<void>,
): Promise<void> {
  const port = await freePort();
  const url = `http://localhost:${port}/`;
  const { env = {}, ...program } = await programOn(port);
  const server = await startServer({ ...program, env: { PORT: String(port), ...env }, url });
  try {
    const answers: Record<string, number> = {};
    const tokens = await tokensFor(api);
    for (const [name, token] of Object.entries(tokens)) {
      const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
      const answer = await fetch(url, { headers });
      await answer.body?.cancel();
      answers[name] = answer.status;
    }
    deepEqual(answers, RIGHT, server.said());
    await more?.(url, tokens.right);
  } finally {
    await server.stop();
  }
}
