// Addresses from client metadata and settings neither run script nor widen a page's CSP.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formActionSource, safeImage, safeLink } from '../../src/views/safe-urls.ts';

const hostile = [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  '\u0000javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:x',
  'blob:https://a.example/1',
  'file:///etc/passwd',
  '//evil.example/',
  '/\\evil.example/',
  'https:\\evil.example',
  'https://',
  '',
];

test('attack: hostile addresses as links and pictures', () => {
  for (const url of [...hostile, undefined, null, 7, {}]) {
    assert.equal(safeLink(url), '', String(url));
    assert.equal(safeImage(url), '', String(url));
  }
});

test('URLs: safe addresses stay unchanged', () => {
  for (const url of [
    'https://a.example/?x=1#y',
    'http://localhost:3000/',
    '/oauth2/authorize?a=b',
    'com.example.app:/done',
    'mailto:a@b.example',
  ]) {
    assert.equal(safeLink(url), url);
  }
  for (const url of ['/assets/l.png', 'data:image/png;base64,AAAA']) {
    assert.equal(safeImage(url), url);
  }
  // From elsewhere: outside our img-src.
  for (const url of ['http://a.example/l.png', 'https://a.example/l.png']) assert.equal(safeImage(url), '');
});

test('attack: a redirect URI breaks out of its CSP source', () => {
  assert.equal(formActionSource('https://a.example/cb;script-src *'), 'https://a.example');
  assert.equal(formActionSource('https://a.example:8443/cb x'), 'https://a.example:8443');
  assert.equal(formActionSource('com.example.app:/cb'), 'com.example.app:');
  assert.equal(formActionSource('http://[::1]:4000/cb'), 'http:');
  // Hosts that URL parsers take: the first would be another directive, the second another policy.
  assert.equal(formActionSource('https://a;sandbox/cb'), 'https:');
  assert.equal(formActionSource('https://a,sandbox/cb'), 'https:');
  assert.equal(formActionSource('https://my_app.example/cb'), 'https://my_app.example');
  for (const url of [
    '*',
    "'unsafe-inline'",
    'nonsense; script-src *',
    'javascript:1',
    'data:text/html,x',
    '',
  ]) {
    assert.equal(formActionSource(url), '', url);
  }
});

test('form-action: a scheme covers its hosts, unless it could run script', () => {
  assert.equal(formActionSource('https:'), 'https:');
  assert.equal(formActionSource('Com.Example.App:'), 'com.example.app:');
  for (const scheme of [
    'javascript:',
    'DATA:',
    'https: https://evil.example',
    "https:;script-src 'unsafe-inline'",
  ]) {
    assert.equal(formActionSource(scheme), '', scheme);
  }
});
