// Browser windows that record everything the browser complains about, in any tab.
import { deepEqual } from 'node:assert/strict';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors and warnings (violations of the Content-Security-Policy are among them), exceptions, dialogs. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** That a page has a status of 4xx is no fault of the page. */
const expected = /the server responded with a status of 4/;

export function watch(context: BrowserContext): string[] {
  const complaints: string[] = [];
  context.on('console', (message) => {
    const isLoud = message.type() === 'error' || message.type() === 'warning';
    const place = message.location().url;
    if (isLoud && !expected.test(message.text())) complaints.push(`${place}: ${message.text()}`);
  });
  context.on('weberror', (error) => complaints.push(String(error.error())));
  context.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  context.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol !== 'data:' && hostname !== 'localhost') complaints.push(`request to ${request.url()}`);
  });
  return complaints;
}

/** A window without history or cookies. */
export async function openWindow(browser: Browser, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1440, height: 900 },
    ...options,
  });
  // What does not happen in this time does not happen, however busy the machine is.
  context.setDefaultTimeout(120_000);
  const complaints = watch(context);
  return { context, page: await context.newPage(), complaints, close: () => context.close() };
}

/** Runs `act` in a window of its own; what the browser complains about fails the test. */
export async function withWindow(
  browser: Browser,
  act: (window: Window) => Promise<void>,
  options: BrowserContextOptions = {},
): Promise<void> {
  const window = await openWindow(browser, options);
  try {
    await act(window);
    deepEqual(window.complaints, []);
  } catch (error) {
    // The page it ended at says more than what was missed there.
    const seen = await window.page
      .locator('main')
      .innerText({ timeout: 1_000 })
      .catch(() => 'nothing');
    throw new Error(`at ${window.page.url()}:\n${seen}`, { cause: error });
  } finally {
    await window.close();
  }
}
