// Coming in: a new account, a password with a second factor, a forgotten password.
import assert from 'node:assert/strict';
import { codeOf, scan, type } from '../phone-steps.ts';
import { enter, heading, loaded } from '../steps.ts';
import { plugIn } from '../virtual-authenticator.ts';
import type { Journey, Walk } from './walk.ts';

const PASSWORD = 'correct horse battery staple';
const NEW_PASSWORD = 'seven green kettles on a shelf';

/** The sign-in page of the account, filled in and sent. */
export async function signIn(walk: Walk, person: { username: string; password: string }): Promise<void> {
  await walk.write(walk.t('field.login'), person.username);
  await walk.write(walk.t('field.password'), person.password);
  await walk.press(walk.t('action.sign_in'));
}

/** An authenticator app, set up in a window of its own. */
async function giveApp({ world }: Walk, person: { username: string; password: string }): Promise<URL> {
  let uri = new URL('about:blank');
  await world.inWindow(async (page) => {
    await page.goto(`${world.server.origin}/account/second-factor`);
    await loaded(page, () => enter(page, person));
    await loaded(page, () => page.getByRole('link', { name: 'Set up authenticator app' }).click());
    uri = await scan(page);
    await type(page, codeOf(uri));
  });
  return uri;
}

export const signUp: Journey = {
  name: 'sign-up',
  async make(walk) {
    const { t, world, page, condition } = walk;
    const email = `${walk.name}@example.com`;
    if (walk.hasScripts) await plugIn(page, { kind: 'platform' });
    await walk.open(`${world.server.origin}/account`);
    await walk.arrive(t('login.title_client', { client: 'Latchkey' }));
    await walk.follow(t('login.sign_up'));
    await walk.arrive(t('signup.title'));
    await walk.write(t('field.email'), email);
    await walk.write(t('field.username'), walk.name);
    await walk.write(t('field.password'), PASSWORD);
    await walk.write(t('field.confirm_password'), PASSWORD);
    await walk.look('filled');
    await walk.tryOffline(t('signup.submit'), {
      [t('field.email')]: email,
      [t('field.username')]: walk.name,
      [t('field.confirm_password')]: PASSWORD,
    });
    await walk.press(t('signup.submit'));
    await walk.arrive(t('mfa.title_email'));
    await walk.enterCode(t('mfa.code'), '000000', t('action.continue'));
    await walk.arrive(t('mfa.title_email'));
    await walk.enterCode(t('mfa.code'), await world.mailedCode(email), t('action.continue'));
    if (walk.hasScripts) {
      await walk.arrive(t('passkey.offer_title'));
      await walk.press(t(condition.width === 390 ? 'passkey.not_now' : 'passkey.create'));
    }
    await walk.arrive(t('account.title'));
  },
};

export const secondFactor: Journey = {
  name: 'second-factor',
  async make(walk) {
    const { t, world, page } = walk;
    const person = await world.createPerson(walk.name);
    const app = await giveApp(walk, person);
    await page.goto(`${world.sample.origin}/`);
    await walk.follow(page.getByRole('link', { name: 'Sign in' }));
    await walk.arrive(t('login.title_client', { client: 'Sample' }));
    await signIn(walk, { ...person, password: 'not this one' });
    await walk.hear(t('login.title_client', { client: 'Sample' }), t('alert.signin_failed'));
    await walk.write(t('field.password'), person.password);
    await walk.tryOffline(t('action.sign_in'), {
      [t('field.login')]: person.username,
      [t('field.password')]: person.password,
    });
    await walk.press(t('action.sign_in'));
    await walk.arrive(t('mfa.title_totp'));
    await walk.enterCode(t('mfa.code'), codeOf(app, 1), t('action.continue'));
    await walk.arrive(t('consent.title', { client: 'Sample' }));
    await walk.touch(t('consent.why'));
    await walk.look('why');
    await walk.press(t('consent.allow'));
    assert.equal(await heading(page), `Hello, ${walk.name}`);
  },
};

export const forgotPassword: Journey = {
  name: 'forgot-password',
  async make(walk) {
    const { t, world, page } = walk;
    const person = await world.createPerson(walk.name);
    await walk.open(`${world.server.origin}/account`);
    await walk.write(t('field.login'), person.email);
    await walk.press(t('login.forgot'));
    await walk.arrive(t('forgot.title'));
    // What was typed came along.
    assert.equal(await page.locator('#email').inputValue(), person.email);
    await walk.tryOffline(t('forgot.submit'), { [t('field.login')]: person.email });
    await walk.press(t('forgot.submit'));
    await walk.arrive(t('link_sent.title'));
    await walk.open(await world.mailedLink(person.email));
    await walk.arrive(t('reset.title'));
    await walk.write(t('field.new_password'), NEW_PASSWORD);
    await walk.write(t('field.confirm_password'), NEW_PASSWORD);
    await walk.press(t('reset.submit'));
    await walk.arrive(t('reset.done_title'));
    await walk.follow(page.locator('main a.button'));
    await walk.arrive(t('login.title_client', { client: 'Latchkey' }));
    await signIn(walk, { username: person.email, password: NEW_PASSWORD });
    await walk.arrive(t('account.title'));
  },
};
