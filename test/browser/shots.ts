// Screenshots of pages: phone and desktop, light and dark, in test-results/browser/. Slow, and so only with SHOTS=1 or LONG=1.
// Sideways scrolling is checked each time.
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const folder = fileURLToPath(new URL('../../test-results/browser/', import.meta.url));

export const areShotsWanted = process.env.SHOTS === '1' || process.env.LONG === '1';

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];

/** @param name of the files; leaves the page as it was */
export async function shoot(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of areShotsWanted ? (['light', 'dark'] as const) : []) {
      // A colour on its way to another would be in the picture.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // A frame for the new size and colours; scrolling boxes would be empty in the picture without it.
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      );
      const path = `${folder}${name}-${size.width}-${colorScheme}.png`;
      await page.screenshot({ path, fullPage: true });
    }
    const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    if (isWider) throw new Error(`${name} scrolls sideways at ${size.width}`);
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  if (before !== null) await page.setViewportSize(before);
}
