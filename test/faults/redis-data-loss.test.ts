// What a Redis without persistence, which docs/operations.md allows, may lose when killed: never that a client assertion was
// used, or its observers could use it again (RFC 7523 §3).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { millisecondsUntil, startDeployment } from './deployment.ts';
import { call } from './load.ts';

test('Redis restarted empty: a used client assertion stays refused by every process', async (t) => {
  const deployment = await startDeployment({ kind: 'split', redisConfig: ['appendonly no'] });
  t.after(() => deployment.stop());
  const { webs, redis, url } = deployment;
  assert.ok(redis);
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const { id } = await webs[0].register({
    redirect_uris: [],
    grant_types: ['client_credentials'],
    response_types: [],
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] },
  });
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: id, sub: id, aud: `${url}/oauth2`, jti: randomUUID(), iat: now, exp: now + 300 };
  const assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(privateKey);
  const present = async (web: { readonly url: string }): Promise<number> => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    });
    return (await call(`${web.url}/oauth2/token`, { method: 'POST', body })).status;
  };

  assert.equal(await present(webs[0]), 200);
  assert.equal(await present(webs[1]), 401);
  await redis.kill();
  await redis.start();
  for (const web of webs) {
    await millisecondsUntil(() => web.isReady());
    assert.equal(await present(web), 401);
  }
});
