// A user's steps with a phone on the second-factor pages: scanning, typing codes, saving recovery codes.
import assert from 'node:assert/strict';
import decoder from 'jsqr';
import { generateSync } from 'otplib';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { shoot } from './shots.ts';
import { heading, loaded } from './steps.ts';

const STEP_SECONDS = 30;

/** What a phone reads off the screen: the pixels, not the page. */
export async function scan(page: Page): Promise<URL> {
  const source = (await page.locator('img.qr').getAttribute('src')) ?? '';
  const [, base64 = ''] = /^data:image\/png;base64,(.+)$/.exec(source) ?? [];
  const { data, width, height } = PNG.sync.read(Buffer.from(base64, 'base64'));
  const found = decoder.default(new Uint8ClampedArray(data), width, height);
  return new URL(found?.data ?? 'about:blank');
}

/** @param ahead steps from now; a step that was used is never good again, and the window reaches one ahead */
export const codeOf = (uri: URL, ahead = 0): string =>
  generateSync({
    secret: uri.searchParams.get('secret') ?? '',
    epoch: Math.floor(Date.now() / 1000) + ahead * STEP_SECONDS,
  });

/** As people type it. The page sends it by itself once it is complete. */
export const type = (page: Page, code: string): Promise<void> =>
  loaded(page, () => page.locator('#code').pressSequentially(code));

export const spaced = (code: string): string => `${code.slice(0, 3)} ${code.slice(3)}`;

/** From the page with the QR code to the application. */
export async function enrol(page: Page, shots?: string): Promise<{ uri: URL; recovery: string[] }> {
  assert.equal(await heading(page), 'Add a second step');
  if (shots !== undefined) await shoot(page, `${shots}-enrol`);
  const uri = await scan(page);
  await type(page, codeOf(uri));
  assert.equal(await heading(page), 'Save your recovery codes');
  if (shots !== undefined) await shoot(page, `${shots}-recovery-codes`);
  const recovery = await page.locator('#codes code').allTextContents();
  await loaded(page, () => page.getByRole('button', { name: 'I’ve saved my codes' }).click());
  return { uri, recovery };
}

export async function useRecoveryCode(page: Page, code: string): Promise<void> {
  await loaded(page, () => page.getByRole('link', { name: 'Use a recovery code' }).click());
  await page.getByLabel('Recovery code').fill(code);
  await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
}
