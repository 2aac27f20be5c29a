// Text in MongoDB is read as written and sorts by code point, whether a server compares UTF-8 bytes or UTF-16 units.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeOrdered, encodeOrdered } from '../../adapters/mongodb/text.ts';

// Around every border of the encoding, and pieces of what it writes itself.
const points = [
  0, 0x61, 0xe9, 0xfff, 0x1000, 0x100d, 0x110f, 0x1fff, 0xd7fe, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff,
  0xe000, 0xfffd, 0xffff, 0x10000, 0x1f600, 0xfffff, 0x10fffe, 0x10ffff,
];
const texts = [
  '',
  ...points.map((point) => String.fromCodePoint(point)),
  ...points.flatMap((first) =>
    points.map((second) => String.fromCodePoint(first) + String.fromCodePoint(second)),
  ),
];

const byCodePoint = (a: string, b: string): number => {
  const [left, right] = [[...a], [...b]].map((list) => list.map((one) => one.codePointAt(0) ?? 0));
  for (let at = 0; ; at += 1) {
    const [one, other] = [left?.[at] ?? -1, right?.[at] ?? -1];
    if (one !== other) return one - other;
    if (one === -1) return 0;
  }
};

test('MongoDB text: every string is read back, stays distinct, and is valid UTF-8', () => {
  const encoded = texts.map(encodeOrdered);
  assert.deepEqual(encoded.map(decodeOrdered), texts);
  assert.equal(new Set(encoded).size, new Set(texts).size);
  for (const text of encoded) assert.ok(text.isWellFormed());
});

test('MongoDB text: sorted by code point in both ways of comparing', () => {
  const expected = [...new Set(texts)].sort(byCodePoint);
  const encoded = expected.map(encodeOrdered);
  assert.deepEqual([...encoded].sort(), encoded);
  assert.deepEqual(
    [...encoded].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    encoded,
  );
});

test('MongoDB text: nearly all languages stay readable in the database', () => {
  for (const text of ['ada@example.com', 'ÄRGER', 'Владимир', '東京', '김철수', 'مريم']) {
    assert.equal(encodeOrdered(text), text);
  }
});
