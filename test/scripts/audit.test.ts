// Holds `npm run audit`: what it finds ends it with 1, and what it could not ask it says.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Outcome, run } from './run.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-audit-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** With a registry of this test's own. */
async function auditAt(registry: RequestListener, args: readonly string[] = []): Promise<Outcome> {
  const server = createServer(registry).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const env = {
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(folder, 'cache'),
    npm_config_fetch_retries: '0',
    npm_config_update_notifier: 'false',
  };
  try {
    return await run('scripts/audit.ts', args, { env });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const answering =
  (status: number, body: object): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

test('audit: a registry without advisories is reported as skipped; licences are allowed', async () => {
  const { code, stdout } = await auditAt(answering(405, {}));
  assert.match(stdout, /^licences: \d+ packages, all allowed$/m);
  assert.match(stdout, /^skipped: advisories, the registry is not available \(.*405/m);
  assert.equal(code, 0);
});

test('audit: an advisory against a production package ends with 1', async () => {
  const advisory = {
    id: 1,
    title: 'Requests are smuggled',
    url: 'https://example.com/advisory',
    severity: 'high',
    vulnerable_versions: '*',
    cwe: [],
    cvss: { score: 0, vectorString: null },
  };
  const { code, stdout } = await auditAt((request, response) => {
    const path = decodeURIComponent(request.url?.slice(1) ?? '');
    if (path.endsWith('/advisories/bulk')) return answering(200, { koa: [advisory] })(request, response);
    // npm reads the versions of it and of what needs it, to say which are concerned.
    const versions = { '0.0.1': { name: path, version: '0.0.1' } };
    return answering(200, { name: path, versions })(request, response);
  });
  assert.match(stdout, /^advisory: koa \(high\): Requests are smuggled https:\/\/example\.com\/advisory$/m);
  assert.equal(code, 1);
});

test('audit: no advisory is reported as such', async () => {
  const { code, stdout } = await auditAt(answering(200, {}));
  assert.match(stdout, /^advisories: none known$/m);
  assert.equal(code, 0);
});

test('audit: a licence that is not allowed ends with 1, one of a development package does not', async () => {
  const lock = join(folder, 'package-lock.json');
  const packages = {
    '': { license: 'Apache-2.0' },
    'node_modules/fine': { license: '(GPL-3.0 OR MIT)' },
    'node_modules/both': { license: 'MIT AND GPL-3.0' },
    'node_modules/a/node_modules/@b/nested': {},
    'node_modules/tool': { license: 'GPL-3.0', dev: true },
  };
  await writeFile(lock, JSON.stringify({ packages }));
  const { code, stdout } = await auditAt(answering(405, {}), ['--lock', lock]);
  assert.deepEqual(stdout.match(/^licence: .*$/gm), [
    'licence: both has MIT AND GPL-3.0',
    'licence: @b/nested has no licence',
  ]);
  assert.equal(code, 1);
});
