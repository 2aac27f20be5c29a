// Looks at a page at which a person has just arrived: what is wrong with it there, whoever comes.
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Axe, createAxe } from '../../pages/axe.ts';
import { watchStillness } from '../../pages/stillness.ts';
import { PAGE_BYTES, putOnScales, SIGN_IN_BYTES } from '../../pages/weigh.ts';
import { foreignWords } from '../foreign.ts';
import type { Condition } from './conditions.ts';

const isLong = process.env.LONG === '1';
const folder = join(tmpdir(), 'latchkey-journeys');

/** Where the keyboard is, when the page says where it belongs; the focus comes with the first frame. */
const FOCUS = `(() => {
  const wanted = [...document.querySelectorAll('[autofocus]')].find((one) => one.checkVisibility());
  const at = document.activeElement;
  const alert = document.querySelector('main [role=alert]');
  if (wanted && wanted !== at) return 'the focus is not at ' + wanted.outerHTML.slice(0, 80) + ' but at ' + at.outerHTML.slice(0, 80);
  if (!alert?.checkVisibility() || !alert.textContent.trim() || alert.contains(at)) return '';
  return at.getAttribute('aria-describedby')?.includes(alert.id) ? '' : 'the alert has no focus';
})()`;

/** Things to press that are smaller than WCAG 2.5.8 asks, links within sentences apart. */
const SMALL = `[...document.querySelectorAll('button, a, summary, input:not([type=hidden]), select, textarea')]
  .filter((one) => one.checkVisibility() && !one.closest('p, li, dd, td, th, small, .unseen, .skip, label') && !one.matches('.skip, .unseen'))
  .filter((one) => { const { width, height } = one.getBoundingClientRect(); return width > 0 && (height < 24 || width < 24); })
  .map((one) => 'too small to press: ' + one.outerHTML.slice(0, 100))`;

/** What makes the page wider. What scrolls within itself may be wider, and is named last; what is placed can be outside of it. */
const SIDEWAYS = `(() => {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const holderOf = (one) => getComputedStyle(one).position === 'absolute' ? one.offsetParent : one.parentElement;
  const isHeld = (one) => { for (let above = holderOf(one); above && above !== document.body; above = holderOf(above)) if (getComputedStyle(above).overflowX !== 'visible') return true; return false; };
  const wide = [...document.querySelectorAll('body *')].filter((one) => { const { left, right } = one.getBoundingClientRect(); return right > innerWidth + 1 || left < -1; });
  const named = wide.toSorted((one, other) => isHeld(one) - isHeld(other)).slice(0, 3).map((one) => one.outerHTML.slice(0, 100));
  return (named.length ? named : [document.documentElement.scrollWidth]).map((one) => 'wider than the window: ' + one);
})()`;

/** Names that journeys give to people and things. */
const GIVEN: readonly string[] = [
  ...['Acme', 'Ada', 'ada', 'Grace', 'Hopper', 'Ida', 'Sample', 'Team', 'Television', 'localhost', 'nowhere'],
];

const LANGUAGE = `(() => {
  const { lang, dir } = document.documentElement;
  return { lang, dir, isDark: matchMedia('(prefers-color-scheme: dark)').matches };
})()`;

/** What has moved on a page that had no script to notice it; scripts change its looks when they are allowed. */
const movedBefore = (now: number): string => `new Promise((resolve) => {
  const moved = [];
  new PerformanceObserver((list) => {
    for (const { value, sources, startTime } of list.getEntries()) if (startTime < ${now}) moved.push(value + ' ' + sources.map(({ node }) => (node?.outerHTML ?? '').slice(0, 80)).join(' | '));
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(resolve, 50, moved);
})`;

export interface Witness {
  /** @returns what is wrong. Where someone has just arrived, the focus is where the page says. */
  look(name: string, isArrival?: boolean): Promise<string[]>;
}

/** A page without scripts can be judged by them all the same: its own were left out when it was read, and never run. */
async function createEyes(page: Page, hasScripts: boolean) {
  const session = await page.context().newCDPSession(page);
  const disable = (value: boolean) => session.send('Emulation.setScriptExecutionDisabled', { value });
  if (!hasScripts) await disable(true);
  return async <Found>(act: () => Promise<Found>): Promise<Found> => {
    if (hasScripts) return act();
    await disable(false);
    try {
      return await act();
    } finally {
      await disable(true);
    }
  };
}

async function waitForFocus(page: Page): Promise<string[]> {
  for (let tries = 0; ; tries += 1) {
    const problem = await page.evaluate<string>(FOCUS);
    if (problem === '') return [];
    if (tries === 20) return [problem];
    await page.waitForTimeout(50);
  }
}

/** Each look of the page that was not opened for it. */
async function violations(page: Page, axe: Axe, scheme: Condition['scheme']): Promise<string[]> {
  const found = await axe.violations();
  if (!isLong) return found;
  const other = scheme === 'light' ? 'dark' : 'light';
  await page.emulateMedia({ colorScheme: other });
  const inOther = await axe.violations('colours');
  await page.emulateMedia({ colorScheme: scheme });
  return [...found, ...inOther.map((one) => `${other}: ${one}`)];
}

export async function createWitness(page: Page, condition: Condition, journey: string): Promise<Witness> {
  const { width, scheme, language, means } = condition;
  const eyes = await createEyes(page, means !== 'no-script');
  const [axe, scales, stillness] = [await createAxe(page), putOnScales(page), await watchStillness(page)];
  let count = 0;

  async function shoot(name: string): Promise<void> {
    if (process.env.SHOTS !== '1') return;
    mkdirSync(join(folder, journey), { recursive: true });
    for (const one of isLong ? (['light', 'dark'] as const) : [scheme]) {
      await page.emulateMedia({ colorScheme: one });
      const file = `${String(count).padStart(2, '0')}-${name}-${width}-${one}-${language}-${means}.png`;
      await page.screenshot({ path: join(folder, journey, file), fullPage: true });
    }
    await page.emulateMedia({ colorScheme: scheme });
  }

  /** What needs no script to be seen. */
  async function standing(isArrival: boolean): Promise<string[]> {
    const { lang, dir, isDark } = await page.evaluate<{ lang: string; dir: string; isDark: boolean }>(
      LANGUAGE,
    );
    return [
      ...(isArrival ? await waitForFocus(page) : []),
      ...(isDark === (scheme === 'dark') ? [] : ['not in this scheme']),
      ...(lang === language && dir === (language === 'ar' ? 'rtl' : 'ltr') ? [] : [`is in ${lang}, ${dir}`]),
      ...(await page.evaluate<string[]>(SIDEWAYS)),
      ...(await page.evaluate<string[]>(SMALL)),
      ...(language === 'en' ? [] : await foreignWords(page, language, GIVEN)),
    ];
  }

  const moved = (now: number): Promise<string[]> =>
    means === 'no-script' ? page.evaluate<string[]>(movedBefore(now)) : stillness.moved();

  return {
    async look(name, isArrival = true) {
      count += 1;
      const bytes = await scales.weight();
      const { pathname } = new URL(page.url());
      const most = pathname === '/oauth2/login' ? SIGN_IN_BYTES : PAGE_BYTES;
      const atOnce = await standing(isArrival);
      const now = await page.evaluate<number>('performance.now()');
      const found = await eyes(async () => [
        // What people do moves things.
        ...(isArrival ? await moved(now) : []).map((one) => `moves: ${one}`),
        ...(await violations(page, axe, scheme)),
      ]);
      await shoot(name);
      return [...(isArrival && bytes > most ? [`weighs ${bytes} bytes`] : []), ...atOnce, ...found].map(
        (one) => `${name}: ${one}`,
      );
    },
  };
}
