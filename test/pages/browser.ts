// The Chromium of a page test, with pages that report everything the browser complains about.
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** The browser with its settings. */
export const WHOLE = '/usr/bin/chromium';
/** The same engine without the browser's own windows, which nobody sees here and which take half of the time. */
const WITHOUT_WINDOWS = '/usr/bin/chromium-headless-shell';

export const launchOptions = {
  // With LONG=1, and where the other is not installed, the whole browser.
  executablePath: process.env.LONG !== '1' && existsSync(WITHOUT_WINDOWS) ? WITHOUT_WINDOWS : WHOLE,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

export const launch = (): Promise<Browser> => chromium.launch(launchOptions);

export interface Watched {
  readonly page: Page;
  /** Console errors (CSP violations are among them), exceptions, dialogs, requests to other hosts. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** The page's own status and a picture that cannot be fetched are no fault of the page. */
const expected = /the server responded with a status of [45]|net::ERR_/;

export const open = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Watched> => {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isLoud = message.type() === 'error' || message.type() === 'warning';
    if (isLoud && !expected.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!/^(?:http:\/\/127\.0\.0\.1:|data:)/.test(request.url()))
      complaints.push(`request to ${request.url()}`);
  });
  return { page, complaints, close: () => context.close() };
};
