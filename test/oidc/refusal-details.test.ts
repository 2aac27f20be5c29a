// What the library tells the operator alone about a refusal: its own source is read for every sentence, and each is in a row of
// src/model/refusals/, or is never said here. A version of the library with another sentence fails here, and names it.
import { deepEqual, ok } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { knownDetail, refusalRows } from '../../src/model/refusals/refusals.ts';

const root = new URL('../../', import.meta.url);

interface Source {
  readonly path: string;
  readonly text: string;
}

const sourcesOf = (folder: string, ending: string): Source[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => ({
      path: `${folder}/${name}`,
      text: readFileSync(new URL(`${folder}/${name}`, root), 'utf8'),
    }));

const library = sourcesOf('node_modules/oidc-provider/lib', '.js');
const ours = [...sourcesOf('src', '.ts'), ...sourcesOf('adapters', '.ts')];

/** Errors whose first argument is the detail; `ErrorClass` is one of them by name. */
const RAISED =
  /new (?:errors\.)?(?:InvalidGrant|InvalidToken|InvalidClientAuth|ErrorClass)\(\s*('(?:[^'\\]|\\.)*'|`[^`]*`|[^),]*)/g;

/** Of features that are off here (src/oidc/configuration.ts), and of errors that have their description twice. */
const NEVER_SAID: readonly RegExp[] = [
  /certificate|x5t#S256/,
  /client-attestation|OAuth-Client-Attestation/,
  /backchannel authentication request/,
  /pre-authorized code|tx_code|credential endpoint/,
  // Registration is an endpoint of ours.
  /^(?:registration|initial) access token|^invalid initial access token/,
];

/** Not a sentence of its own: the options that a function was given, or an error from below. */
const PASSED_ON = new Set(['{ cause }', 'options', 'undefined', 'errorDescription', 'mismatch']);

const literal = /^(['`])([\s\S]*)\1$/;

/** The kinds of codes and tokens that the library names in `${label} not found`. */
const labels = new Set(
  library.flatMap(({ text }) =>
    [
      ...text.matchAll(
        /(?:entityLabel: |(?:findGrantSource|consumeGrantSource|validateAccount)\((?:[^;']*?))'([a-z -]+)'/g,
      ),
    ].map(([, label = '']) => label),
  ),
);

function sentencesIn(sources: readonly Source[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, text } of sources)
    for (const [, argument = ''] of text.matchAll(RAISED)) {
      if (PASSED_ON.has(argument.trim())) continue;
      const [, , sentence] = literal.exec(argument.trim()) ?? [];
      ok(sentence !== undefined, `${path}: what is ${argument}?`);
      found.set(sentence, path);
    }
  return found;
}

/** With each name in place of the expression. */
const expanded = (sentence: string, names: Iterable<string>): string[] =>
  sentence.includes('${') ? [...names].map((name) => sentence.replace(/\$\{[^}]*\}/, name)) : [sentence];

const unknownOf = (sources: readonly Source[], names: Iterable<string>): string[] =>
  [...sentencesIn(sources)].flatMap(([sentence, path]) =>
    expanded(sentence, names)
      .filter((one) => knownDetail(one) === undefined && !NEVER_SAID.some((never) => never.test(one)))
      .map((one) => `${path}: ${one}`),
  );

test('details: every sentence of the library is in a row, or is never said here', () => {
  deepEqual([...labels].sort(), [
    'authorization code',
    'backchannel authentication request',
    'device code',
    'pre-authorized code',
    'refresh token',
  ]);
  ok(sentencesIn(library).size > 40, String(sentencesIn(library).size));
  deepEqual(unknownOf(library, labels), []);
});

test('details: a sentence that the library did not have before is named', () => {
  const planted = { path: 'lib/new.js', text: "throw new InvalidGrant('actor token is not valid');\n" };
  deepEqual(unknownOf([planted], labels), ['lib/new.js: actor token is not valid']);
});

test('details: what the library catches and hands on by its own errors is in a row', () => {
  const thrown = library
    .filter(({ path }) => /\/helpers\/(?:pkce|jwt)\.js$/.test(path))
    .flatMap(({ text }) =>
      [...text.matchAll(/new Error\('([^']+)'\)/g)].map(([, sentence = '']) => sentence),
    );
  ok(thrown.length > 12, thrown.join());
  // The authorization endpoint refuses other methods than S256; issuers of assertions are compared before.
  deepEqual(
    thrown.filter((sentence) => knownDetail(sentence) === undefined),
    ['jwt issuer invalid', 'unsupported code_challenge_method'],
  );
});

test('details: every sentence of ours that goes through errors of the library is in a row', () => {
  deepEqual(unknownOf(ours, ['AuthorizationCode', 'DeviceCode', 'RefreshToken']), []);
});

test('details: each is in one row, and is said', () => {
  const all = refusalRows.flatMap(({ details = [] }) => details);
  deepEqual(
    all.filter((sentence, index) => all.indexOf(sentence) !== index),
    [],
  );
  const kinds = [...labels, 'AuthorizationCode', 'DeviceCode', 'RefreshToken'];
  const said = new Set(
    [...sentencesIn(library), ...sentencesIn(ours)].flatMap(([sentence]) => expanded(sentence, kinds)),
  );
  const text = [...library, ...ours.filter(({ path }) => !path.startsWith('src/model/'))]
    .map((source) => source.text)
    .join('\n');
  // jose's own, which check the signature of an assertion.
  const ofSignatures = ['no applicable key found in the JSON Web Key Set', 'signature verification failed'];
  deepEqual(
    all.filter((one) => !said.has(one) && !ofSignatures.includes(one) && !text.includes(`'${one}'`)),
    [],
  );
});
