// The first minutes of a product that nobody has used: an administrator, an application, its guide, a sign-in.
import assert from 'node:assert/strict';
import { type RunningServer, startSample, startServer } from '../processes.ts';
import { heading } from '../steps.ts';
import type { Journey, Walk } from './walk.ts';

const PASSWORD = 'plum trees in June';

async function onboard(walk: Walk, server: RunningServer): Promise<void> {
  const { t, say } = walk;
  await walk.open(`${server.origin}/`);
  await walk.arrive(t('onboard.title', { product: 'Latchkey' }));
  await walk.write(t('field.username'), 'ada');
  await walk.write(t('field.email'), 'ada@example.com');
  await walk.write(t('field.password'), PASSWORD);
  await walk.write(t('field.confirm_password'), PASSWORD);
  await walk.tryOffline(t('onboard.submit'), { [t('field.username')]: 'ada' });
  await walk.press(t('onboard.submit'));
  await walk.arrive(say('{1} is running', { 1: 'Latchkey' }), say('Overview'));
}

/** @returns its client ID and secret, as they are shown */
async function addApplication(walk: Walk, redirectUri: string): Promise<readonly [string, string]> {
  const { say, page } = walk;
  await walk.follow(say('Add your first application'));
  await walk.arrive(say('Add application'));
  await walk.follow(say('Web app with a server'));
  await walk.arrive(say('Add application'));
  await walk.write(say('Name'), 'Sample');
  await walk.write(say('Redirect URIs'), 'http://acme.example/callback');
  await walk.press(say('Add application'));
  await walk.arrive(say('Add application'));
  if (walk.hasScripts) await page.locator('.verdicts .no').waitFor();
  await walk.write(say('Redirect URIs'), redirectUri);
  await walk.press(say('Add application'));
  await walk.arrive(`Sample ${say('is ready')}`, 'Sample');
  const [id = '', secret = ''] = await page.locator('#client-id, #client-secret').allTextContents();
  return [id.trim(), secret.trim()];
}

/** Where scripts run, its button carries the text away. */
async function copy(walk: Walk, id: string): Promise<void> {
  const { page } = walk;
  const button = page.locator(`[data-copy="${id}"]`);
  if (!walk.hasScripts) return assert.equal(await button.isVisible(), false);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await walk.touch(button);
  await button.filter({ hasText: walk.t('action.copied') }).waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.equal(copied, ((await page.locator(`#${id}`).textContent()) ?? '').trim());
}

export const firstRun: Journey = {
  name: 'first-run',
  async make(walk) {
    const { t, page } = walk;
    const server = await startServer();
    const sample = await startSample(server.issuer);
    try {
      await onboard(walk, server);
      const [id, secret] = await addApplication(walk, `${sample.origin}/callback`);
      await copy(walk, 'client-secret');
      await walk.follow(page.locator('a.tile[href$="/connect/express"]').first());
      await walk.arrive('Express');
      await copy(walk, (await page.locator('pre code').first().getAttribute('id')) ?? '');
      await page.goto(`${sample.origin}/`);
      await walk.touch(page.getByText('Register it by hand'));
      await walk.write(page.getByLabel('Client ID'), id);
      await walk.write(page.getByLabel('Client secret'), secret);
      await walk.press(page.getByRole('button', { name: 'Connect' }));
      await walk.follow(page.getByRole('link', { name: 'Sign in' }));
      await walk.arrive(t('consent.title', { client: 'Sample' }));
      await walk.press(t('consent.allow'));
      assert.equal(await heading(page), 'Hello, ada');
    } finally {
      await Promise.all([sample.stop(), server.stop()]);
    }
  },
};
