// Checks the lines of a guide, each by the tool of its language, or by strict parsing of what the guides use of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { transformSync } from 'esbuild';
import type { Block } from '../../src/admin/guides/render.ts';
import { checkApache, checkBrackets, checkJavaScript, checkPython, checkYaml } from './snippet-checks.ts';

/** Words of the shell that are not run here: what is checked is that the shell reads them. */
const checkShell = (code: string): void => {
  execFileSync('/bin/sh', ['-n', '-c', code], { stdio: 'pipe', env: { PATH: '' } });
};

function checkToml(code: string): void {
  for (const line of code.split('\n')) {
    const [, value = ''] = /^[a-z_]+ = (.+)$/.exec(line) ?? [];
    // Strings, booleans and lists of them are JSON, too.
    assert.doesNotThrow(() => JSON.parse(value), line);
  }
}

function checkIni(code: string): void {
  assert.match(code, /^\[[a-z._]+\]\n/);
  for (const line of code.split('\n'))
    assert.match(line, /^(?:|\[[a-z._]+\]|[a-z_]+ = (?:"""[^\n]*"""|[^"\n]+))$/, line);
}

function checkXml(code: string): void {
  const open: string[] = [];
  for (const [, slash, name = ''] of code.matchAll(/<(\/?)([A-Za-z]+)>/g)) {
    if (slash === '') open.push(name);
    else assert.equal(open.pop(), name, code);
  }
  assert.deepEqual(open, [], code);
  assert.doesNotMatch(code.replace(/<\/?[A-Za-z]+>/g, ''), /[<>&"]/, code);
}

/** What Node's own parser does not read: elements, and types with decorators. */
const checkBy =
  (loader: 'ts' | 'jsx') =>
  (code: string): unknown =>
    transformSync(code, {
      loader,
      logLevel: 'silent',
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    });

/** The script of a single-file component, and that its template closes. */
function checkComponent(code: string): void {
  const [, script = ''] = /<script(?: setup)?>\n([\s\S]*?)\n<\/script>/.exec(code) ?? [];
  assert.notEqual(script, '', code);
  checkJavaScript(script.replaceAll('$state(', 'state('));
}

/** Strings in single quotes, in which nothing but a backslash and a quote is special. */
function checkQuoted(code: string): void {
  const rest = code.replace(/'(?:[^'\\]|\\.)*'|\/\/[^\n]*|^<\?php\b/gm, '');
  assert.doesNotMatch(rest, /'/, 'a string without end');
  checkBrackets(rest);
}

const checks: Readonly<Record<string, (code: string) => unknown>> = {
  js: checkJavaScript,
  ts: checkBy('ts'),
  jsx: checkBy('jsx'),
  vue: checkComponent,
  svelte: checkComponent,
  python: checkPython,
  yaml: checkYaml,
  json: (code) => JSON.parse(code),
  toml: checkToml,
  ini: checkIni,
  sh: checkShell,
  xml: checkXml,
  apache: checkApache,
  go: checkBrackets,
  rust: checkBrackets,
  csharp: checkBrackets,
  kotlin: checkBrackets,
  swift: checkBrackets,
  dart: checkBrackets,
  ruby: checkQuoted,
  php: checkQuoted,
  nginx: checkBrackets,
  // Two slashes begin no comment there.
  caddyfile: (code) => checkBrackets(code.replaceAll('//', '')),
};

export function checkBlock({ language, code }: Pick<Block, 'language' | 'code'>): void {
  const check = checks[language];
  assert.ok(check, `no check for ${language}`);
  check(code);
}
