// The snippets for a new client are valid programs, whatever was registered.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CreatedApplication } from '../../src/views/pages.ts';
import { createEnvironment } from '../../src/views/views.ts';

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-'));
});
after(() => rmSync(folder, { recursive: true }));

const entities: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' };
const decode = (html: string): string =>
  html.replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name?: string) =>
    code === undefined ? (entities[name ?? ''] ?? '') : String.fromCodePoint(Number(code)),
  );

const environment = createEnvironment({ isHtml: true });

/** As a page of the Admin UI shows it. */
const snippet = (created: CreatedApplication, issuer: string): string => {
  const page = '{% from "partials/snippet.njk" import snippet %}<code>{{ snippet(created, issuer) }}</code>';
  const html = environment.renderString(page, { created, issuer });
  return decode(/<code>([^<]*)<\/code>/.exec(html)?.[1] ?? assert.fail('no sample on the page'));
};

const check = (code: string): void => {
  const file = join(folder, 'sample.mjs');
  writeFileSync(file, code);
  execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
};

const secret = 'secret-not-real';
const hostile = 'https://a.example/cb?x="\'`$(exit 1)</code><script>&amp;\\';
const applications: CreatedApplication[] = [
  { clientId: 'id', clientSecret: secret, name: 'Web', type: 'web', redirectUri: hostile },
  { clientId: 'id', name: 'Native', type: 'native', redirectUri: 'http://127.0.0.1:8080/callback' },
  { clientId: 'id', name: 'Page', type: 'spa', redirectUri: hostile },
];

test('snippets: valid JavaScript with unchanged values for every kind of client', () => {
  for (const created of applications) {
    const code = snippet(created, 'https://id.example/oauth2');
    check(code);
    assert.ok(code.includes(JSON.stringify(created.redirectUri)), created.type);
    assert.equal(code.includes(secret), created.type === 'web');
    assert.equal(code.includes('allowInsecureRequests'), false);
  }
});

test('snippet: plain http issuer, with a warning', () => {
  const [web] = applications;
  assert.ok(web);
  const code = snippet(web, 'http://localhost:3000/oauth2');
  check(code);
  assert.match(code, /allowInsecureRequests\] \}, \/\/ plain http: for development only/);
});

test('snippet of a machine client: a token request', () => {
  const code = snippet(
    { clientId: 'id', clientSecret: secret, name: 'M', type: 'machine' },
    'https://id.example/oauth2',
  );
  assert.match(code, /^# .*\ncurl https:\/\/id\.example\/oauth2\/token \\\n {2}-u 'id:secret-not-real' \\\n/);
});
