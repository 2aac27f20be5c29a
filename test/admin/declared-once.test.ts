// Nothing in the lists of the Admin UI and of the audit log is declared twice.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminPages } from '../../src/admin/console/page-list.ts';
import { eventRows } from '../../src/model/events/events.ts';

const twice = (names: readonly string[]): string[] =>
  names.filter((name, index) => names.indexOf(name) !== index);

test('Admin UI: every page is declared once', () => {
  assert.deepEqual(twice(adminPages.map(({ method, path }) => `${method} ${path}`)), []);
});

test('audit: no two events have the same label', () => {
  assert.deepEqual(twice(Object.values(eventRows).map(({ label }) => label)), []);
});
