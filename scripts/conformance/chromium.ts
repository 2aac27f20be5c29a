// The browser of a run: Chromium, where the suite's own scripted browser knows neither the style sheets nor the frames of today.
import { existsSync } from 'node:fs';
import type { Browser, BrowserContext } from 'playwright-core';
import { UsageError } from '../command-line.ts';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];

/** playwright-core is a development package, so a production installation does not have it. */
async function loadPlaywright() {
  try {
    return await import('playwright-core');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw error;
    throw new UsageError('The development packages are not installed: sh scripts/install.sh --dev');
  }
}

/** @param program where Chromium is @throws UsageError it is not there */
export async function launch(program: string): Promise<Browser> {
  const { chromium } = await loadPlaywright();
  if (!existsSync(program))
    throw new UsageError(
      `There is no program ${program}. Install Chromium, or say with --chromium where it is.`,
    );
  return chromium.launch({ executablePath: program, args: ARGUMENTS }).catch((error: unknown) => {
    throw new UsageError(`Chromium does not start (${program}): ${String(error).slice(0, 200)}`);
  });
}

/** A browser that has been nowhere, and goes nowhere but to these: the suite's pages load parts from elsewhere. */
export async function freshContext(browser: Browser, origins: readonly string[]): Promise<BrowserContext> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    locale: 'en',
    viewport: { width: 800, height: 700 },
  });
  await context.route('**/*', (route) => {
    const { protocol, origin } = new URL(route.request().url());
    return protocol === 'data:' || origins.includes(origin) ? route.continue() : route.abort();
  });
  return context;
}
