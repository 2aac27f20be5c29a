// What moves on a page without anybody having touched it: the layout shifts that Chromium counts, with the elements that moved.
import type { Page } from 'playwright-core';

export interface Stillness {
  /** @returns what has moved on the page since it was opened, once its scripts have run */
  moved(): Promise<string[]>;
}

const OBSERVE = `
  globalThis.moved = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      moved.push(value + ' ' + sources.map(({ node, previousRect: was, currentRect: is }) =>
        (node?.outerHTML ?? node?.textContent ?? '').slice(0, 80) + ' at ' + [was.x, was.y, 'to', is.x, is.y].join(' ')).join(' | '));
  }).observe({ type: 'layout-shift', buffered: true });`;
/** Two frames: the second begins once the first has been painted. */
const PAINTED = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/**
 * Scripts come after the first picture, as over a slow line: on a fast one it is chance whether what they move has been seen
 * before.
 */
export async function watchStillness(page: Page): Promise<Stillness> {
  await page.addInitScript(OBSERVE);
  await page.route(/\/assets\/[^?]*\.js$/, async (route) => {
    // A page that has gone on asks no more.
    await page.evaluate(PAINTED).catch(() => undefined);
    await route.continue();
  });
  return {
    async moved() {
      await page.evaluate(PAINTED);
      return page.evaluate('moved');
    },
  };
}
