// Which addresses may be registered.
import { equal, match, notEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { uriProblem } from '../../src/model/uris.ts';
import { isWithin } from '../support/patience.ts';
import { bareUris, goodUris, hostileLinks, hostileUris, privateUseUris } from './corpus.ts';

test('attack: hostile redirect URIs of web and native applications', () => {
  ok(hostileUris.length >= 60);
  for (const uri of hostileUris) {
    notEqual(uriProblem(uri, 'redirect', false), undefined, JSON.stringify(uri));
    notEqual(uriProblem(uri, 'redirect', true), undefined, `native: ${JSON.stringify(uri)}`);
    notEqual(
      uriProblem(uri, 'redirect', true, { mayBeBare: true }),
      undefined,
      `administrator: ${JSON.stringify(uri)}`,
    );
  }
});

test('attack: hostile links, images and callback addresses', () => {
  ok(hostileLinks.length >= 60);
  for (const uri of [...hostileLinks, ...privateUseUris]) {
    notEqual(uriProblem(uri, 'page', true), undefined, JSON.stringify(uri));
    notEqual(uriProblem(uri, 'fetched', true), undefined, JSON.stringify(uri));
  }
});

test('client URIs: a refusal gives its reason', () => {
  const notAscii = 'must be printable ASCII without spaces; percent-encode other characters';
  const problems: readonly (readonly [string, string])[] = [
    ['https://user@app.example.com/', 'must not contain a user name or password'],
    ['http://app.example.com/', 'must start with https:// (http:// only for localhost)'],
    ['https://app.example.com/#x', 'must not contain a fragment'],
    ['/callback', 'must be an absolute URI'],
    ['HTTPS://app.example.com/callback', 'must have its scheme in lower case'],
    ['HTTP://app.example.com/', 'must start with https:// (http:// only for localhost)'],
    ['https://bücher.example/cb', 'must name its host in ASCII: xn--bcher-kva.example'],
    ['HTTPS://bücher.example:8443', 'must name its host in ASCII: xn--bcher-kva.example'],
    ['https://app.example.com/bücher', notAscii],
    ['https://ü@app.example.com/', notAscii],
    ['https://bü cher.example/', notAscii],
  ];
  for (const [uri, problem] of problems) equal(uriProblem(uri, 'redirect', false), problem, uri);
  equal(uriProblem('Com.Example.App:/cb', 'redirect', true), 'must have its scheme in lower case');
  match(uriProblem('JavaScript:alert', 'redirect', true) ?? '', /browsers or systems act upon/);
});

test('client URIs: valid redirect URIs are accepted', () => {
  for (const uri of goodUris) {
    equal(uriProblem(uri, 'redirect', false), undefined, uri);
    equal(uriProblem(uri, 'redirect', true), undefined, uri);
    equal(uriProblem(uri, 'page', false), undefined, uri);
  }
});

test('client URIs: a private-use scheme with a dot is for native applications only', () => {
  for (const uri of privateUseUris) {
    equal(uriProblem(uri, 'redirect', true), undefined, uri);
    notEqual(uriProblem(uri, 'redirect', false), undefined, uri);
  }
});

test('client URIs: a scheme without a dot is for administrators, native redirects only', () => {
  for (const uri of bareUris) {
    equal(uriProblem(uri, 'redirect', true, { mayBeBare: true }), undefined, uri);
    notEqual(uriProblem(uri, 'redirect', true), undefined, uri);
    notEqual(uriProblem(uri, 'redirect', false, { mayBeBare: true }), undefined, uri);
    notEqual(uriProblem(uri, 'page', true, { mayBeBare: true }), undefined, uri);
  }
});

test('client URIs: those the server requests are never http, not even on loopback', () => {
  notEqual(uriProblem('http://localhost:3000/logout', 'fetched', false), undefined);
  notEqual(uriProblem('http://127.0.0.1/jwks', 'fetched', false), undefined);
  equal(uriProblem('https://app.example.com/jwks', 'fetched', false), undefined);
});

test('attack: long input of any one character is evaluated at once', () => {
  for (const character of 'a./:@%[]-0?&=+~( \\') {
    for (const text of [
      character.repeat(50_000),
      `https://${character.repeat(1990)}`,
      `a${character.repeat(1990)}`,
    ]) {
      const startedAt = performance.now();
      uriProblem(text, 'redirect', true);
      const ms = performance.now() - startedAt;
      ok(isWithin(ms, 50), `${JSON.stringify(character)} took ${ms} ms`);
    }
  }
});
