// Resource servers that others wrote check tokens for an API by themselves: express-oauth2-jwt-bearer, fastify-jwt-jwks (which
// knows no scopes) and aws-jwt-verify.
import { deepEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApi } from '../../flows/api-support.ts';
import { requestTokensOf } from '../../flows/support.ts';
import { startApp } from '../../support/app.ts';
import { installPackages } from '../support/packages.ts';
import { apiOf, check, checkBound, close, linesOf } from '../support/resource-server.ts';

const HERE = fileURLToPath(new URL('resource-servers/', import.meta.url));
const installed = await installPackages(
  new URL('resource-servers/', import.meta.url),
  'node-resource-servers',
);
const app = await startApp({ store: 'sqlite' });
after(async () => {
  await app.stop();
  await close();
});

test('resource servers of npm: no token, a foreign, a too small and a sufficient one', {
  ...installed,
}, async () => {
  const machine = await app.register({ grant_types: ['client_credentials'], redirect_uris: [] });
  const api = await createApi(app, { machine_grants: { [machine.id]: ['read', 'write'] } });
  const other = await createApi(app, { machine_grants: { [machine.id]: ['read'] } });
  const tokenFor = async (parameters: Record<string, string>): Promise<string> =>
    (await requestTokensOf(app, machine, { grant_type: 'client_credentials', ...parameters })).access_token;
  const tokens = {
    none: '',
    foreign: await tokenFor({ resource: other.identifier }),
    ours: await tokenFor({}),
    small: await tokenFor({ resource: api.identifier, scope: 'read' }),
    sufficient: await tokenFor({ resource: api.identifier, scope: 'write' }),
  };
  copyFileSync(join(HERE, 'verify.mjs'), join(installed.folder, 'verify.mjs'));
  const env = {
    ...process.env,
    ISSUER: app.issuer,
    AUDIENCE: api.identifier,
    TOKENS: JSON.stringify(tokens),
  };
  const { stdout } = await promisify(execFile)(process.execPath, [join(installed.folder, 'verify.mjs')], {
    env,
  });
  deepEqual(JSON.parse(stdout), {
    none: [401, 401, 'JwtParseError'],
    foreign: [401, 401, 'JwtInvalidAudienceError'],
    ours: [401, 401, 'JwtInvalidAudienceError'],
    small: [403, 200, 'JwtInvalidScopeError'],
    sufficient: [200, 200, 'let in'],
  });
});

for (const [id, file, main] of [
  ['express', 'express.mjs', 'express.mjs'],
  ['fastify', 'fastify.mjs', 'fastify.mjs'],
  ['nest', 'guard.ts', 'nest.mjs'],
] as const)
  for (const format of ['at+jwt', 'jwt'] as const)
    test(`${id}: the lines of the Admin UI, tokens as ${format}`, { ...installed }, async () => {
      const api = await apiOf(format);
      writeFileSync(join(installed.folder, file), await linesOf(api, id));
      if (main !== file) copyFileSync(join(HERE, main), join(installed.folder, main));
      await check(api, () => ({ command: process.execPath, args: [join(installed.folder, main)] }));
    });

test('express: the lines of the Admin UI for an API that requires DPoP', { ...installed }, () =>
  checkBound(async (api) => {
    const file = join(installed.folder, 'express-bound.mjs');
    writeFileSync(file, await linesOf(api, 'express'));
    return { command: process.execPath, args: [file] };
  }),
);
