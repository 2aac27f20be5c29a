// Whatever colours an administrator picks, what pages have of them can be read: 1,000 random palettes by the formula of WCAG 2.2,
// written here once more, by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrastsOf, type Picked, paletteOf, surfaces } from '../../src/views/palette.ts';
import { randomPalettes } from './random-palettes.ts';

/** WCAG 2.2, "relative luminance" and "contrast ratio". */
function ratio(one: string, other: string): number {
  const luminance = (color: string): number => {
    const channel = (at: number): number => {
      const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  };
  const [first, second] = [luminance(one), luminance(other)];
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
}

const blend = (from: string, to: string, share: number): string =>
  `#${[1, 3, 5]
    .map((at) => {
      const [start, end] = [
        Number.parseInt(from.slice(at, at + 2), 16),
        Number.parseInt(to.slice(at, at + 2), 16),
      ];
      return Math.round(start + (end - start) * share)
        .toString(16)
        .padStart(2, '0');
    })
    .join('')}`;

function violationsOf(picked: Picked): string[] {
  const palette = paletteOf(picked);
  return (['light', 'dark'] as const).flatMap((name) => {
    const scheme = palette[name];
    const found: string[] = [];
    const need = (what: string, color: string, on: readonly string[], least: number): void => {
      for (const background of on)
        if (ratio(color, background) < least) found.push(`${name}: ${what} ${color} on ${background}`);
    };
    need('text of a button', scheme.onAccent, [scheme.accent, scheme.accentHover], 4.5);
    need('edge of a button', scheme.accentEdge, surfaces[name], 3);
    need('link', scheme.link, surfaces[name], 4.5);
    need('focus ring', scheme.link, surfaces[name], 3);
    const { backdrop } = scheme;
    if (backdrop) {
      const all = Array.from({ length: 21 }, (_, at) => blend(backdrop.from, backdrop.to, at / 20));
      need('text on the background', backdrop.ink, all, 4.5);
    }
    return found;
  });
}

const palettes = [
  ...randomPalettes(1000),
  ...[
    '#000000',
    '#ffffff',
    '#ffff00',
    '#00ff00',
    '#0000ff',
    '#767676',
    '#777777',
    '#ffd400',
    '#ffc0cb',
    '#0b1f3a',
  ].map((accent): Picked => ({ accent, background: accent, isGradient: true })),
];

test('palettes: 1,000 random ones have no contrast violation', () => {
  const found = palettes.flatMap((picked) =>
    violationsOf(picked).map((one) => `${JSON.stringify(picked)} ${one}`),
  );
  assert.deepEqual(found, []);
});

test('palettes: what the form says of each pair is what the formula says', () => {
  for (const picked of palettes) {
    for (const { color, on, ratio: said, least } of contrastsOf(picked)) {
      assert.ok(Math.abs(said - ratio(color, on)) < 1e-9);
      assert.ok(said >= least, `${JSON.stringify(picked)} ${color} on ${on}`);
    }
  }
});

test('palettes: a readable colour stays as picked, in its own scheme', () => {
  const { light, dark } = paletteOf({ accent: '#1F6F5C', accentDark: '#7fd1bd' });
  assert.deepEqual([light.accent, light.accentEdge, light.link], ['#1f6f5c', '#1f6f5c', '#1f6f5c']);
  assert.deepEqual([dark.accent, dark.accentEdge, dark.link], ['#7fd1bd', '#7fd1bd', '#7fd1bd']);
});

test('palettes: a light accent keeps its colour on buttons, which get an edge', () => {
  const { light } = paletteOf({ accent: '#ffd400' });
  assert.deepEqual([light.accent, light.onAccent], ['#ffd400', '#000000']);
  assert.notEqual(light.accentEdge, light.accent);
});
