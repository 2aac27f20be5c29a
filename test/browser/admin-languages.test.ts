// The Admin UI from right to left: nothing scrolls sideways, no accessibility violation, a silent console; dates and the
// language of scripts; no word of English. With SHOTS=1 pictures in Arabic and German, with LONG=1 every page in every language.
import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createAxe } from '../pages/axe.ts';
import { type AdminWorld, startAdminWorld } from './admin-world.ts';
import { foreignWords } from './foreign.ts';
import { choose, crawl, GIVEN, refuse, seedAdmin } from './language-walk.ts';
import { areShotsWanted, shoot } from './shots.ts';
import type { Language } from './vocabulary.ts';

const isLong = process.env.LONG === '1';
let world: AdminWorld;
let user: string;
let application: string;

before(async () => {
  world = await startAdminWorld();
  ({ user, application } = await seedAdmin(world));
});
after(() => world.stop());

const paths = (): readonly (readonly [string, string])[] => {
  const few = [
    ['users', '/users'],
    ['application', `/applications/${application}`],
  ] as const;
  const more = [
    ['overview', ''],
    ['user', `/users/${user}`],
    ['applications', '/applications'],
    ['new-application', '/applications/new'],
    ['apis', '/apis'],
    ['sessions', '/sessions'],
    ['groups', '/groups'],
    ['audit', '/audit'],
    ['keys', '/keys'],
    ['settings', '/settings'],
    ['settings-mail', '/settings/mail'],
    ['branding', '/branding'],
    ['api-reference', '/api-reference/users'],
    ['try', `/applications/${application}/try`],
  ] as const;
  return isLong || areShotsWanted ? [...few, ...more] : few;
};

test('Admin UI in Arabic: fits from right to left, no axe violation, silent console', async () => {
  await choose(world, 'ar');
  const axe = await createAxe(world.admin.page);
  const found: string[] = [];
  for (const [name, path] of paths()) {
    const page = await world.open(path);
    equal(await page.evaluate('document.documentElement.dir'), 'rtl', path);
    await shoot(page, `admin-ar-${name}`);
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      found.push(...(await axe.violations()).map((one) => `${name} ${width} ${one}`));
    }
  }
  deepEqual(found, []);
  deepEqual(world.admin.complaints, []);
});

test('Admin UI in German: times in tips as the language has them; the choice at the foot', async () => {
  await choose(world, 'de');
  for (const [name, path] of areShotsWanted ? paths() : [])
    await shoot(await world.open(path), `admin-de-${name}`);
  const page = await world.open('/users');
  match(
    (await page.locator('time[datetime]').first().getAttribute('title')) ?? '',
    /^\d{1,2}\.\d{1,2}\.\d{4}, /,
  );
  await page.locator('.foot summary').click();
  await page.getByRole('button', { name: 'Français' }).click();
  await page.waitForURL('**/admin/users');
  equal(await page.evaluate('document.documentElement.lang'), 'fr');
});

/** What each page says that is not in the language, with the first page that says it. */
async function foreign(language: Language, isWhole: boolean): Promise<string[]> {
  await choose(world, language);
  const found = new Map<string, string>();
  const read = async (page: Page, name: string): Promise<void> => {
    for (const one of await foreignWords(page, language, GIVEN)) found.set(one, found.get(one) ?? name);
  };
  if (isWhole) {
    await crawl(world, { user, application }, read);
    await refuse(world, read);
  } else
    for (const path of ['/audit', '/users', `/applications/${application}`])
      await read(await world.open(path), path);
  return [...found].map(([words, name]) => `${name}: ${words}`);
}

const few = ['ar', 'ja', 'de'] as const;
for (const language of isLong ? ([...few, 'es', 'fr', 'pt'] as const) : few)
  test(`Admin UI and account in ${language}: no word of English`, async () => {
    deepEqual(await foreign(language, isLong), []);
  });
