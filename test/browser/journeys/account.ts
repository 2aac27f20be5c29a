// One's own account: how one is called, where mails go, what protects it, who is signed in, what is held, and its end undone.
import assert from 'node:assert/strict';
import { codeOf, scan } from '../phone-steps.ts';
import { enter, loaded } from '../steps.ts';
import { openWindow } from '../window.ts';
import { signIn } from './sign-in.ts';
import type { Journey, Walk } from './walk.ts';

/** Somewhere else, this person is signed in as well. */
async function signInElsewhere({ world }: Walk, person: { username: string; password: string }) {
  const phone = await openWindow(world.browser, {
    userAgent: 'Mozilla/5.0 (iPhone) Version/18.0 Safari/605.1',
  });
  await phone.page.goto(`${world.server.origin}/account`);
  await loaded(phone.page, () => enter(phone.page, person));
  await phone.close();
}

async function changeName(walk: Walk): Promise<void> {
  const { t } = walk;
  await walk.follow(t('own_profile.title'));
  await walk.arrive(t('own_profile.title'));
  await walk.write(t('field.given_name'), 'Grace');
  await walk.write(t('field.family_name'), 'Hopper');
  await walk.select(t('field.zoneinfo'), 'Europe/Berlin');
  await walk.tryOffline(t('own_profile.submit'), {
    [t('field.given_name')]: 'Grace',
    [t('field.zoneinfo')]: 'Europe/Berlin',
  });
  await walk.press(t('own_profile.submit'));
  await walk.hear(t('account.title'), t('account.done_profile'));
}

async function changeEmail(walk: Walk): Promise<void> {
  const { t, world } = walk;
  const email = `${walk.name}@example.net`;
  await walk.follow(t('own_email.title'));
  await walk.arrive(t('own_email.title'));
  await walk.write(t('own_email.new'), email);
  await walk.press(t('own_email.submit'));
  await walk.hear(t('own_email.title'), t('own_email.done_sent'));
  await walk.open(await world.mailedLink(email));
  await walk.arrive(t('own_email.add_title'));
  await walk.press(t('own_email.add_submit'));
  await walk.hear(t('own_email.title'), t('own_email.done_added'));
  await walk.touch(t('own_email.make_primary_what', { email }));
  await walk.look('make-primary');
  await walk.press(t('own_email.make_primary_what', { email }));
  await walk.hear(t('own_email.title'), `${t('own_email.done_primary')} ${t('own_email.former_told')}`);
  await walk.follow(t('account.back'));
}

async function addApp(walk: Walk): Promise<URL> {
  const { t, page } = walk;
  await walk.follow(t('account.set_up_what', { what: t('second.app') }));
  await walk.arrive(t('enrol.title'));
  const app = await scan(page);
  await walk.enterCode(`2. ${t('enrol.code')}`, codeOf(app), t('enrol.submit'));
  await walk.arrive(t('recovery.title'));
  await walk.follow(t('recovery.saved'));
  await walk.arrive(t('second.title'));
  await walk.follow(t('account.back'));
  return app;
}

export const ownAccount: Journey = {
  name: 'account',
  async make(walk) {
    const { t, world, page } = walk;
    const person = await world.createPerson(walk.name);
    await signInElsewhere(walk, person);
    await walk.open(`${world.server.origin}/account`);
    await signIn(walk, person);
    await walk.arrive(t('account.title'));
    const device = t('account.device_on', { browser: 'Safari', system: 'iPhone' });
    await walk.press(t('account.sign_out_what', { device }));
    await walk.hear(t('account.title'), t('account.done_session'));
    await changeName(walk);
    await changeEmail(walk);
    const app = await addApp(walk);
    await walk.follow(t('action.download'));
    await walk.arrive(t('own_data.title'));
    assert.match(await walk.download(t('own_data.json'), 'button'), /\.json$/);
    await walk.follow(t('account.back'));
    await walk.follow(t('own_delete.title'));
    await walk.arrive(t('own_delete.title'));
    await walk.write(t('own_delete.type', { username: person.username }), 'someone else');
    await walk.press(t('own_delete.title'));
    await walk.arrive(t('own_delete.title'));
    await walk.write(t('own_delete.type', { username: person.username }), person.username);
    await walk.press(t('own_delete.title'));
    await walk.arrive(t('own_delete.done_later'));
    await walk.follow(t('leaving.keep'));
    await signIn(walk, person);
    await walk.enterCode(t('mfa.code'), codeOf(app, 1), t('action.continue'));
    await walk.arrive(t('leaving.title'));
    await walk.press(t('leaving.keep'));
    await walk.arrive(t('account.title'));
    assert.match((await page.locator('.self').textContent()) ?? '', /Grace Hopper/);
  },
};
