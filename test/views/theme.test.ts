// No accent colour makes a page unreadable or breaks out of its style sheet.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrast, defaultAccent, surfaces } from '../../src/views/palette.ts';
import { themeCss } from '../../src/views/theme.ts';

const read = (css: string): Record<string, string>[] =>
  css.split('@media').map((part) => {
    const found = part.matchAll(/--([a-z-]+):(#[0-9a-f]{6})/g);
    return Object.fromEntries([...found].map(([, name, color]) => [name, color]));
  });

const hex = (number: number): string => `#${number.toString(16).padStart(6, '0')}`;

// Every 0x2f2f3 is coprime to the grid: the steps wander through hue and lightness; the corners come on top.
const walk = Array.from({ length: 350 }, (_, index) => hex((index * 0x2f2f3) & 0xffffff));
const colors = [
  ...walk,
  '#000000',
  '#ffffff',
  '#ff0000',
  '#00ff00',
  '#0000ff',
  '#ffff00',
  '#777777',
  '#767676',
];

test('accent: readable buttons, links and shapes on light and dark surfaces', () => {
  for (const color of colors) {
    const schemes = read(themeCss(color));
    for (const [index, scheme] of (['light', 'dark'] as const).entries()) {
      const set = schemes[index] ?? {};
      const at = `${color} ${scheme}`;
      const of = (name: string): string => set[name] ?? assert.fail(`${at}: no --${name}`);
      assert.ok(contrast(of('on-accent'), of('accent')) >= 4.5, `${at}: text on the button`);
      assert.ok(contrast(of('on-accent'), of('accent-hover')) >= 4.5, `${at}: text on the hovered button`);
      for (const surface of surfaces[scheme]) {
        assert.ok(contrast(of('link'), surface) >= 4.5, `${at}: link on ${surface}`);
        assert.ok(contrast(of('accent-edge'), surface) >= 3, `${at}: edge of a button on ${surface}`);
      }
    }
  }
});

test('accent: a readable colour stays as chosen', () => {
  assert.match(themeCss('#1F6F5C'), /^:root\{--accent:#1f6f5c;/);
});

test('accent: an invalid colour is replaced by the default', () => {
  for (const hostile of ['red', '#fff', '', '#12345g', '#123456;}</style><script>', '#123456\n']) {
    assert.equal(themeCss(hostile), themeCss(defaultAccent), hostile);
  }
});

test('contrast: computed for the surfaces of the style sheet', () => {
  const css = readFileSync(new URL('../../templates/assets/latchkey.css', import.meta.url), 'utf8');
  const declared = [...css.matchAll(/--(page|surface): (#[0-9a-f]+);/g)].map(([, , color]) => color);
  const short = (color: string): string => (color === '#ffffff' ? '#fff' : color);
  assert.deepEqual(declared, [...surfaces.light, ...surfaces.dark].map(short));
});
