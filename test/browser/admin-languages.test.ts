// The Admin UI from right to left: nothing scrolls sideways, no accessibility violation, a silent console; dates and the
// language of scripts. With SHOTS=1 pictures in Arabic and German.
import { deepEqual, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createAxe } from '../pages/axe.ts';
import { type AdminWorld, startAdminWorld } from './admin-world.ts';
import { areShotsWanted, shoot } from './shots.ts';

const isLong = process.env.LONG === '1';
let world: AdminWorld;
let user: string;
let application: string;

before(async () => {
  world = await startAdminWorld();
  user = await world.createUser('grace.hopper', { email: 'grace@acme.example', name: 'Grace Hopper' });
  application = (await world.createApplication({})).id;
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

async function choose(language: string): Promise<void> {
  const { context } = world.admin;
  await context.addCookies([{ name: 'latchkey_language', value: language, url: world.server.origin }]);
}

test('Admin UI in Arabic: fits from right to left, no axe violation, silent console', async () => {
  await choose('ar');
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
  await choose('de');
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
