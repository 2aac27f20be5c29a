// Documentation: CHANGELOG.md has the form of Keep a Changelog, and package.json a version that it doesn't give to anything else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from './markdown.ts';

const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
const sections = read('CHANGELOG.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [heading = '', ...lines] = section.split('\n');
    return { heading, kinds: lines.filter((line) => line.startsWith('### ')).map((line) => line.slice(4)) };
  });

test('changelog: Unreleased first, then versions with a date, newest first', () => {
  const [unreleased, ...versions] = sections.map(({ heading }) => heading);
  assert.equal(unreleased, '[Unreleased]');
  for (const heading of versions) assert.match(heading, /^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
  const dates = versions.map((heading) => heading.slice(-10));
  assert.deepEqual(dates, [...dates].sort().reverse());
});

test('changelog: what is unreleased has a version of its own, a release its section', () => {
  const { version }: { version: string } = JSON.parse(read('package.json'));
  const released = sections.flatMap(({ heading }) => /^\[(\d[^\]]*)\] - /.exec(heading)?.[1] ?? []);
  const isUnreleased = sections.some(({ heading, kinds }) => heading === '[Unreleased]' && kinds.length > 0);
  assert.equal(released.includes(version), !isUnreleased, version);
  const [newest = ''] = released;
  assert.ok(version.localeCompare(newest, 'en', { numeric: true }) >= 0, `${version} after ${newest}`);
});

test('changelog: each section has only known kinds of changes, once and in order', () => {
  for (const { heading, kinds } of sections) {
    assert.deepEqual(
      kinds,
      KINDS.filter((kind) => kinds.includes(kind)),
      heading,
    );
    assert.ok(kinds.length > 0, heading);
  }
});
