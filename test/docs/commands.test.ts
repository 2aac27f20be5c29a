// Documentation: commands that could lose a key, lock out or let in are run as they are written, as far as a machine without
// containers can, and the checks of a token that a page lists are those that tell a right token from a wrong one.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseEnv } from 'node:util';
import { createApi } from '../flows/api-support.ts';
import { claimsOf, tokensOf } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { enrolPhone } from '../support/phone.ts';
import { runCurls } from '../support/snippet-checks.ts';
import { markdownFiles, read } from './markdown.ts';

const app = await startApp();
after(() => app.stop());

const sectionOf = (page: string, title: string): string =>
  read(page)
    .split(/^## /m)
    .find((part) => part.startsWith(`${title}\n`)) ?? '';

const shellIn = (section: string): string => /^```sh\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '';

test('Dockerfile: its health check asks the address that HOST names', async () => {
  const [, command = ''] =
    /^HEALTHCHECK[\s\S]*?CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const [, ...args]: string[] = JSON.parse(command);
  const hasV6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  );
  for (const HOST of ['', '127.0.0.1', '127.0.0.2', '0.0.0.0', ...(hasV6 ? ['::1', '::'] : [])]) {
    const server = createServer((_, response) => response.end());
    await once(server.listen(0, HOST || '127.0.0.1'), 'listening');
    try {
      const address = server.address();
      const PORT = typeof address === 'object' ? `${address?.port}` : '';
      const asked = spawn(process.execPath, args, { env: { ...process.env, HOST, PORT } });
      assert.deepEqual(await once(asked, 'exit'), [0, null], HOST);
    } finally {
      server.close();
    }
  }
});

test('docs/operations.md: the key for containers is made once, kept, and private', () => {
  const [makeKey = '', up] = shellIn(sectionOf('docs/operations.md', 'Containers')).trim().split('\n');
  assert.equal(up, 'docker compose up');
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-env-'));
  const file = join(folder, '.env');
  const make = (): string => {
    execFileSync('/bin/sh', ['-c', makeKey], { cwd: folder });
    return readFileSync(file, 'utf8');
  };
  const first = make();
  assert.match(parseEnv(first).SECRET_KEY ?? '', /^[0-9a-f]{64}$/);
  assert.equal(make(), first);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });
});

test('documents: no command makes a key that nothing keeps, or opens a port to everybody', () => {
  for (const page of [...markdownFiles.filter((path) => path !== 'CHANGELOG.md'), 'compose.yaml']) {
    const text = read(page);
    assert.doesNotMatch(text, /\bSECRET_KEY=["']?\$\((?!cat )[^\n]*(?:docker|npm|compose)/, page);
    assert.doesNotMatch(text, /docker run [^\n`]*-p \d+:\d+/, page);
  }
});

test('docs/operations.md: the requests for locked-out administrators let one in again', async () => {
  const keeper = await app.createUser('keeper', { role: 'admin' });
  await app.admin('PATCH', '/settings', { mfa_mode: 'required' });
  const client = await app.register();
  const browser = new Agent(app);
  await enrolPhone(app, browser, await browser.authorize(codeRequest(client.id)), 'keeper');
  assert.equal((await app.admin('POST', `/users/${keeper.id}/deactivate`)).status, 409);
  const calls = runCurls(shellIn(sectionOf('docs/operations.md', 'No administrator can sign in')));
  let newPassword = '';
  for (const words of calls) {
    const optionOf = (option: string): string | undefined => words[words.indexOf(option) + 1 || words.length];
    const address = new URL(words.at(-1) ?? '');
    const path = `${address.pathname}${address.search}`.replace('/admin/api', '');
    const body: unknown = words.includes('-d') ? JSON.parse(optionOf('-d') ?? '') : undefined;
    if (typeof body === 'object' && body !== null && 'password' in body) newPassword = String(body.password);
    assert.ok(words.includes('Authorization: Bearer admin-token'));
    const answer = await app.admin(
      optionOf('-X') ?? 'GET',
      path.replace('the-id-of-that-list', keeper.id),
      body,
    );
    assert.equal(answer.status, 200, JSON.stringify([words, answer.body]));
    if (path.includes('role=admin')) assert.equal(answer.body.data.items?.[0]?.id, keeper.id);
  }
  const again = new Agent(app);
  const page = await again.submit(await again.authorize(codeRequest(client.id)), {
    username: 'keeper',
    password: newPassword,
  });
  assert.match(page.body, /data:image\/png;base64/, 'a new second factor is set up');
  assert.notEqual(newPassword, PASSWORD);
  await app.admin('PATCH', '/settings', { mfa_mode: 'optional' });
});

test('docs/errors.md, create-admin: an administrator who is locked out is sent to what works', () => {
  assert.match(read('docs/errors.md'), /`onboarding\.closed`.*operations\.md#no-administrator-can-sign-in/);
  assert.doesNotMatch(read('docs/errors.md'), /create-admin/);
  assert.match(read('scripts/create-admin.ts'), /“No administrator can sign in”/);
});

const CHECKS = ['signature', '`typ`', '`iss`', '`aud`', '`client_id`', '`exp`', '`scope`', '`cnf`'];

test('docs/applications.md: the checks of an access token tell tokens of others from right ones', async () => {
  const rows = [
    ...sectionOf('docs/applications.md', 'Checking access tokens in an API').matchAll(
      /^\| ([^|]+) \| ([^|]+) \|$/gm,
    ),
  ].slice(1);
  assert.deepEqual(
    rows.map(([, name = '']) => name),
    CHECKS,
  );
  const user = await app.createUser('reader');
  const [first, second] = [await createApi(app), await createApi(app)];
  const [ours, theirs] = [await app.register(), await app.register()];
  const claims = async (client: { id: string; secret: string }, extra: Record<string, string>) =>
    claimsOf((await tokensOf(app, client, user, { scope: 'read', ...extra })).access_token);
  const one = await claims(ours, { resource: first.identifier });
  const two = await claims(ours, { resource: second.identifier });
  const plain = await claims(ours, { scope: 'openid' });
  const stranger = await claims(theirs, { scope: 'openid' });
  // Whatever else is checked, only this tells them apart.
  assert.deepEqual([one.aud, two.aud], [first.identifier, second.identifier]);
  assert.equal(one.iss, two.iss);
  assert.deepEqual([plain.aud, stranger.aud], [app.issuer, app.issuer]);
  assert.deepEqual([plain.client_id, stranger.client_id], [ours.id, theirs.id]);
});

test('documents: where checks of an access token are listed, the audience is among them', () => {
  for (const page of markdownFiles.filter((path) => /^(?:README|docs\/)/.test(path)))
    for (const paragraph of read(page).split(/\n\n/)) {
      if (!/jwks/.test(paragraph) || !/`exp`/.test(paragraph)) continue;
      assert.match(paragraph, /`aud`|audience/, `${page}: ${paragraph}`);
    }
});
