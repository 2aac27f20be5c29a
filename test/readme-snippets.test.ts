// Checks that the code in README.md and the other documents, which people copy, is code: every block is read by the tool of
// its language, and a language without one fails here.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { markdownFiles } from './docs/markdown.ts';
import { checkApache, checkJavaScript, checkPython, checkYaml, runCurls } from './support/snippet-checks.ts';

const scripts: Readonly<Record<string, unknown>> = Object(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
).scripts;

/** `npm …` alone: the script is one that there is. What starts containers is run by test/docs/commands.test.ts, as far as it can be. */
function checkShell(code: string): void {
  if (/^docker compose up$/m.test(code)) return;
  if (code.includes('curl')) {
    for (const words of runCurls(code)) {
      assert.ok(words.some((word) => URL.canParse(word)));
      const body = words[words.indexOf('-d') + 1] ?? '';
      if (words.includes('-d')) assert.ok(typeof JSON.parse(body) === 'object');
    }
    return;
  }
  for (const line of code.trim().split('\n')) {
    const [, name = ''] = /^npm (?:run )?([\w:-]+)(?: .*)?$/.exec(line.replace(/#.*/, '').trim()) ?? [];
    assert.ok(Object.hasOwn(scripts, name), line);
  }
}

const checks: Readonly<Record<string, (code: string) => unknown>> = {
  sh: checkShell,
  js: checkJavaScript,
  yaml: checkYaml,
  python: checkPython,
  apache: checkApache,
  json: (code) => JSON.parse(code),
};

// Recipes show excerpts, which test/docs/recipes.test.ts finds in their files; guides have test/docs/guides.test.ts.
const documents = markdownFiles.filter((path) => !/^docs\/(?:recipes|guides)\//.test(path));

for (const name of documents) {
  const text = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
  // A block without a language is a drawing, such as the tree of folders.
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)];
  for (const [index, [, language = '', code = '']] of blocks.entries()) {
    test(`${name}: block ${index + 1} (${language}) is valid`, () => {
      const check = checks[language];
      assert.ok(check, `no check for ${language}`);
      check(code);
    });
  }
}

test('README snippets: the checks detect broken ones', () => {
  const broken: readonly (readonly [(code: string) => unknown, string])[] = [
    [checkApache, '<Location "/">\n  AuthType openid-connect\n'],
    [checkApache, 'AuthType openid-connect\nRequire valid-user\n</Location>'],
    [checkApache, '&lt;Location "/"&gt;\n&lt;/Location&gt;'],
    [checkApache, 'OIDCClientID "open'],
    [checkApache, 'OIDCNoSuchThing x'],
    [checkPython, 'def f():\nreturn 1'],
    [checkPython, 'f(a, [b)]'],
    [checkPython, 'x = "open'],
    [checkPython, 'x = &quot;a&quot;'],
    [checkPython, '  x = 1'],
    [checkYaml, 'a: { b: c'],
    [checkYaml, 'a: "b" c'],
    [checkJavaScript, 'const a = ;'],
    [checkJavaScript, "import * as client from 'openid-client';\nclient.noSuchThing();"],
    [runCurls, "curl 'open"],
    [runCurls, 'echo nothing'],
  ];
  for (const [check, code] of broken) assert.throws(() => check(code), Error, `not found: ${code}`);
});
