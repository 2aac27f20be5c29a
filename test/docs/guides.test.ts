// Guides: each is complete, its lines are of their language whatever an application is called, and it says no more of itself than
// a test shows.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exampleValues } from '../../scripts/docs/guides.ts';
import {
  type Guide,
  type GuideValues,
  postLogoutUrisOf,
  redirectUrisOf,
} from '../../src/admin/guides/guide.ts';
import { guides, valuesFor } from '../../src/admin/guides/list.ts';
import { stepsOf } from '../../src/admin/guides/render.ts';
import { checkMetadata } from '../../src/clients/metadata-rules.ts';
import { checkBlock } from '../support/guide-checks.ts';
import { root } from './markdown.ts';

const HOSTILE = {
  name: `Bad "& <co> </code><b>'\\ $(exit 1) \${x} \`y\` #{z} {{ 7*7 }} %2`,
  clientId: `id"'\\$(exit 1)\${x}\`y\`#{z};//`,
  redirectUris: ['https://a.example/callback?x=$(id)&y=%22%3C'],
};
const server = {
  issuer: 'https://id.example.com/o\'auth"2$x',
  baseUrl: "https://id.example.com/b'",
};

const hostileValues = (guide: Guide): GuideValues => valuesFor(guide, HOSTILE, server);

for (const guide of guides) {
  test(`guide ${guide.id}: complete, and of its languages with example and hostile values`, () => {
    for (const values of [exampleValues(guide), hostileValues(guide)]) {
      const steps = stepsOf(guide, values);
      assert.ok(steps.length > 0);
      for (const { title, text = '', blocks, fields } of steps) {
        assert.match(title, /^[A-Z]/);
        assert.doesNotMatch(text, /undefined|\[object/);
        assert.ok(blocks.length > 0 || fields.length > 0 || text !== '', title);
        for (const block of blocks) {
          assert.doesNotMatch(block.code, /undefined,|\[object|\t $/);
          assert.ok(!block.code.includes('```'), 'a fence within a fence');
          checkBlock(block);
        }
      }
    }
  });
}

test('attack: a command in the host of a redirect URI, in lines that are pasted into a shell', () => {
  for (const host of ['a$(touch owned).example', "a';touch owned;'.example", 'a&touch owned&.example']) {
    const named = { ...HOSTILE, redirectUris: [`https://${host.replace(' ', '$IFS')}/callback`] };
    for (const guide of guides)
      for (const { blocks } of stepsOf(guide, valuesFor(guide, named, server)))
        for (const { code, language } of blocks) {
          if (language !== 'sh') continue;
          const unquoted = code.replace(/'[^']*'|\\'/g, '');
          assert.doesNotMatch(unquoted, /touch/, `${guide.id}: ${code}`);
        }
  }
});

test('guides: what each registers is allowed by the rules of a registration', () => {
  for (const guide of guides) {
    const isNative = guide.kind === 'native' || guide.kind === 'agent';
    const { problems } = checkMetadata(
      {
        application_type: isNative ? 'native' : 'web',
        redirect_uris: redirectUrisOf(guide),
        post_logout_redirect_uris: postLogoutUrisOf(guide) ?? [],
        ...guide.metadata,
      },
      { kind: 'administrator' },
    );
    assert.deepEqual(problems, {}, guide.id);
  }
});

test('guides: the values of an application are found in its lines', () => {
  for (const guide of guides) {
    const values = { ...exampleValues(guide), clientId: 'the-very-client-id' };
    const shown = JSON.stringify(stepsOf(guide, values));
    assert.ok(shown.includes('the-very-client-id'), guide.id);
    assert.ok(shown.includes('https://id.example.com'), guide.id);
  }
});

test('guides: a redirect URI that is registered is taken, wherever the application is', () => {
  const [guide] = guides.filter(({ id }) => id === 'nextcloud');
  assert.ok(guide);
  const registered = 'https://x.example/cloud/index.php/apps/user_oidc/code';
  const at = (redirectUris: readonly string[]) =>
    valuesFor(guide, { name: 'x', clientId: 'y', redirectUris }, server);
  const found = at(['https://other.example/', 'https://x.example/cloud/apps/user_oidc/code']);
  assert.deepEqual([found.origin, found.isRegistered], ['https://x.example/cloud', true]);
  assert.deepEqual(
    [at([registered]).isRegistered, at([registered]).origin],
    [true, 'https://x.example/cloud/index.php'],
  );
  const missing = at(['https://known.example:8443/elsewhere']);
  assert.deepEqual(
    [missing.redirectUri, missing.isRegistered],
    ['https://known.example:8443/apps/user_oidc/code', false],
  );
});

test('guides: every variable that their code reads is set by their lines', () => {
  const read =
    /(?:process\.env\.|os\.environ\["|os\.Getenv\("|env::var\("|ENV\.fetch\('|\benv\('|\$\{|Configuration\["|"\$)([A-Z][A-Z_]+)/g;
  let found = 0;
  for (const guide of guides) {
    const blocks = stepsOf(guide, exampleValues(guide)).flatMap((step) => step.blocks);
    const shell = blocks.filter(({ language }) => language === 'sh').map(({ code }) => code);
    for (const { code } of blocks) {
      for (const [, name = ''] of code.matchAll(read)) {
        // Where it listens is up to whoever runs it; a device code comes out of the step before.
        if (name === 'PORT' || name === 'DEVICE_CODE') continue;
        found += 1;
        const isSet = shell.some((lines) => new RegExp(`^(?:export )?${name}=`, 'm').test(lines));
        assert.ok(isSet, `${guide.id}: ${name}`);
      }
    }
  }
  assert.ok(found >= 15, `${found}`);
});

/** All tests that real clients are in. */
const interop = readdirSync(join(root, 'test/interop'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.interop\.ts$/.test(entry.name))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  .join('\n');

test('guides: what is marked as run has a test that runs it, what is parsed one that parses it', () => {
  for (const { id, mark } of guides) {
    const isTested = interop.includes(`'guide:${id}'`);
    assert.equal(isTested, mark.how === 'run', `${id} is marked ${mark.how}`);
    if (mark.how !== 'run') assert.match(mark.from, /^https:\/\/[a-z]/);
  }
});

test('guides: the check of a block detects a broken one', () => {
  const broken: readonly (readonly [string, string])[] = [
    ['js', 'const a = ;'],
    ['ts', 'const a: = 1;'],
    ['jsx', 'const a = <p>;'],
    ['vue', '<script setup>\nconst a = ;\n</script>\n<template></template>'],
    ['svelte', '<script>\nlet a = ;\n</script>'],
    ['python', 'x = "open'],
    ['yaml', 'a: { b: c'],
    ['json', '{'],
    ['toml', 'a = "open'],
    ['ini', 'no section'],
    ['sh', "curl 'open"],
    ['go', 'func main() {'],
    ['ruby', "x = 'open"],
    ['php', '<?php f(['],
    ['nginx', 'server {'],
    ['caddyfile', 'a {'],
    ['xml', '<a><b></a>'],
    ['apache', '<Location "/">'],
    ['cobol', 'x'],
  ];
  for (const [language, code] of broken) assert.throws(() => checkBlock({ language, code }), Error, language);
});
