// The guides for services and devices: their lines in a POSIX shell, with curl.
import { equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { decodeJwt } from 'jose';
import { handedOn } from '../../support/environment.ts';
import { useGuide } from '../support/guide.ts';
import { startIssuer } from '../support/issuer.ts';
import { need } from '../support/toolchain.ts';

const curl = need('curl');
const issuer = await startIssuer();
after(() => issuer.close());

/** @returns the answer, which is JSON */
async function run(lines: string | undefined, env: Record<string, string>): Promise<Record<string, unknown>> {
  ok(lines);
  const program = `curl() { command curl -s "$@"; }\n${lines}`;
  // Not in this thread: the provider that is asked runs in it.
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', program], {
    env: { ...handedOn(), ...env },
  });
  return { ...JSON.parse(stdout) };
}

test('guide: a service gets a token', curl, async () => {
  const use = await useGuide('guide:machine', issuer);
  const answer = await run(use.lines.get('sh 2'), { OIDC_CLIENT_SECRET: use.secret });
  equal(decodeJwt(String(answer.access_token)).sub, use.clientId);
});

test('guide: a device signs a person in', curl, async () => {
  const use = await useGuide('guide:device', issuer);
  const asked = await run(use.lines.get('sh 1'), {});
  match(String(asked.verification_uri), /\/oauth2\/device$/);
  const env = { DEVICE_CODE: String(asked.device_code) };
  equal((await run(use.lines.get('sh 2'), env)).error, 'authorization_pending');
  await issuer.newBrowser().approve(String(asked.verification_uri_complete));
  issuer.app.advance(6_000);
  const answer = await run(use.lines.get('sh 2'), env);
  equal(decodeJwt(String(answer.id_token)).preferred_username, 'grace', JSON.stringify(answer));
});
