// Checks code that is shown to be copied, each language by its own tool or, where no package has one, by strict parsing of the
// subset that the samples use. Every check throws an AssertionError.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import * as openidClient from 'openid-client';
import { parseDocument } from 'yaml';

/** Node's own parser, as an ES module; and every name used of openid-client is one that it has. */
export function checkJavaScript(code: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-'));
  try {
    const file = join(folder, 'snippet.mjs');
    writeFileSync(file, code);
    execFileSync(process.execPath, ['--check', file], { stdio: 'pipe' });
  } finally {
    rmSync(folder, { recursive: true });
  }
  const [, namespace] = /import \* as (\w+) from 'openid-client'/.exec(code) ?? [];
  if (namespace === undefined) return;
  const names = [...code.matchAll(new RegExp(`\\b${namespace}\\.(\\w+)`, 'g'))].map(([, name = '']) => name);
  assert.ok(names.length > 0, 'nothing of openid-client is used');
  for (const name of names) assert.ok(Object.hasOwn(openidClient, name), `openid-client has no ${name}`);
}

/** @returns what it says */
export function checkYaml(code: string): Record<string, unknown> {
  const document = parseDocument(code, { strict: true });
  assert.deepEqual([...document.errors, ...document.warnings].map(String), []);
  const value: unknown = document.toJS();
  assert.ok(typeof value === 'object' && value !== null, 'not a mapping');
  return { ...value };
}

/**
 * A POSIX shell runs it, with a `curl` that notes its words instead of calling anyone.
 * @returns the words of each call
 */
export function runCurls(code: string): string[][] {
  const program = `set -eu\ncurl() { printf '%s\\0' curl "$@"; printf '\\0'; }\n${code}\n`;
  const secrets = { CLIENT_SECRET: 'client-secret', API_CLIENT_SECRET: 'api-secret', TOKEN: 'a-token' };
  const env = { ADMIN_TOKEN: 'admin-token', ...secrets, PATH: '' };
  const output = execFileSync('/bin/sh', ['-c', program], { encoding: 'utf8', env, stdio: 'pipe' });
  const calls = output.split('\0\0').filter((call) => call !== '');
  assert.ok(calls.length > 0, 'no call of curl');
  return calls.map((call) => {
    const [program, ...words] = call.split('\0');
    assert.equal(program, 'curl');
    return words;
  });
}

/** As a file of variables: what Node's --env-file reads is what was meant. */
export function checkEnvironment(code: string): NodeJS.Dict<string> {
  for (const line of code.trim().split('\n')) assert.match(line, /^[A-Z_]+=/);
  return parseEnv(code);
}

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const PYTHON_TOKEN =
  /\s+|#[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|\d+|[=!+]=|[()[\]{},.:=@|*+]/y;

/** Brackets, strings and indentation of Python (Language Reference §2); anything outside of its few tokens is an error. */
export function checkPython(code: string): void {
  const open: string[] = [];
  const levels = [0];
  let mustIndent = false;
  for (const line of code.split('\n')) {
    const [indent = ''] = /^ */.exec(line) ?? [];
    const text = line.slice(indent.length);
    const tokens: string[] = [];
    PYTHON_TOKEN.lastIndex = 0;
    while (PYTHON_TOKEN.lastIndex < text.length) {
      const at = PYTHON_TOKEN.lastIndex;
      const match = PYTHON_TOKEN.exec(text);
      assert.ok(match, `not Python at ${at}: ${line}`);
      if (!/^[\s#]/.test(match[0])) tokens.push(match[0]);
    }
    if (tokens.length === 0) continue;
    if (open.length === 0) {
      if (mustIndent) levels.push(indent.length);
      assert.ok(!mustIndent || indent.length > (levels.at(-2) ?? 0), `not indented: ${line}`);
      while (indent.length < (levels.at(-1) ?? 0)) levels.pop();
      assert.equal(indent.length, levels.at(-1), `unexpected indent: ${line}`);
    }
    for (const token of tokens) {
      if (CLOSING[token] !== undefined) open.push(CLOSING[token]);
      else if (/^[)\]}]$/.test(token)) assert.equal(open.pop(), token, `brackets: ${line}`);
    }
    mustIndent = open.length === 0 && tokens.at(-1) === ':';
  }
  assert.deepEqual([open, mustIndent], [[], false], 'unfinished');
}

/** Node's own parser, types stripped. */
export const checkTypeScript = (code: string): void => checkJavaScript(stripTypeScriptTypes(code));

const WITHOUT_BRACKETS = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`|\/\/[^\n]*|#(?!\[)[^\n]*/g;

/** Strings and brackets of languages that no package here parses; the tests of real clients compile and run these. */
export function checkBrackets(code: string): void {
  const open: string[] = [];
  for (const [character] of code.replace(WITHOUT_BRACKETS, '').matchAll(/[()[\]{}]/g)) {
    if (CLOSING[character] !== undefined) open.push(CLOSING[character]);
    else assert.equal(open.pop(), character, code);
  }
  assert.deepEqual(open, [], 'unfinished');
  assert.doesNotMatch(code.replace(WITHOUT_BRACKETS, ''), /["`]/, 'a string without end');
}

const APACHE_DIRECTIVES = new Set([
  'OIDCProviderMetadataURL',
  'OIDCClientID',
  'OIDCClientSecret',
  'OIDCRedirectURI',
  'OIDCCryptoPassphrase',
  'OIDCPKCEMethod',
  'OIDCScope',
  'OIDCRemoteUserClaim',
  'AuthType',
  'Require',
]);
const APACHE_WORDS = /^(?: +(?:"(?:[^"\\]|\\.)*"|[^\s"'<>&;]+))+$/;

/** Apache's configuration syntax: sections that close, known directives, words that are whole. @returns the sections */
export function checkApache(code: string): string[] {
  const open: string[] = [];
  const seen: string[] = [];
  for (const line of code.split('\n').map((text) => text.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const [, section, words = ''] = /^<([A-Z]\w+)((?: .*)?)>$/.exec(line) ?? [];
    const [, closed] = /^<\/([A-Z]\w+)>$/.exec(line) ?? [];
    if (section !== undefined) {
      assert.match(words, APACHE_WORDS, line);
      open.push(section);
      seen.push(section);
    } else if (closed !== undefined) assert.equal(open.pop(), closed, line);
    else {
      const [name = ''] = line.split(' ', 1);
      assert.ok(APACHE_DIRECTIVES.has(name), `unknown directive: ${line}`);
      assert.match(line.slice(name.length), APACHE_WORDS, line);
    }
  }
  assert.deepEqual(open, [], 'a section is left open');
  return seen;
}
