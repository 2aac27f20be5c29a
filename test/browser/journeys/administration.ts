// Administrators' work: people, settings, looks, and who did what.
import assert from 'node:assert/strict';
import { openAdmin } from './administrator.ts';
import type { Journey, Walk } from './walk.ts';

const table = (name: string): Buffer =>
  Buffer.from(`Username,E-mail,Full name\n${name}-a,${name}-a@acme.example,Ada ${name}\nwrong name,,\n`);

async function invite(walk: Walk): Promise<void> {
  const { say, page } = walk;
  await walk.follow(say('Invite'));
  await walk.arrive(say('Users'), say('Invitations'));
  await walk.write(say('E-mail'), `${walk.name}-i@acme.example`);
  await walk.tryOffline(say('Invite'), { [say('E-mail')]: `${walk.name}-i@acme.example` });
  await walk.press(say('Invite'));
  await page.locator('#made').waitFor();
  await walk.arrive(say('Users'), say('Invitations'));
}

async function importTable(walk: Walk): Promise<void> {
  const { say, page } = walk;
  await walk.follow(say('Import'));
  await walk.arrive(say('Users'), say('Import users'));
  await walk.upload(say('File'), {
    name: 'users.csv',
    mimeType: 'text/csv',
    buffer: table(walk.name),
  });
  await walk.press(say('Preview'));
  await walk.arrive(say('Users'), say('Import users'));
  await walk.press(page.locator('button[name=step][value=import]'));
  await page.getByRole('heading', { name: say('The import is done') }).waitFor();
  await walk.arrive(say('Users'), say('Import users'));
  await walk.follow(say('Go to users who never signed in'));
  await walk.arrive(say('Users'));
}

async function group(walk: Walk): Promise<void> {
  const { say, page } = walk;
  await walk.follow(say('Groups'));
  await walk.arrive(say('Groups'));
  await walk.follow(say('Add group'));
  await walk.write(say('Name in tokens'), `team-${walk.name}`);
  await walk.write(say('Name (optional)'), `Team ${walk.name}`);
  await walk.press(say('Add group'));
  await walk.arrive(`Team ${walk.name}`);
  await walk.write(say('Add a member'), `${walk.name}-a`);
  await walk.press(say('Add'));
  await walk.hear(`Team ${walk.name}`, say('Added to the group.'));
  await walk.follow(page.locator('tbody a.row'));
  await walk.arrive(`Ada ${walk.name}`);
}

export const people: Journey = {
  name: 'people',
  async make(walk) {
    const { say, page } = walk;
    await openAdmin(walk, '/users');
    await walk.arrive(say('Users'));
    await invite(walk);
    await importTable(walk);
    await group(walk);
    await walk.follow(say('Deactivate'));
    await walk.arrive(say('Deactivate {a}?', { a: `Ada ${walk.name}` }));
    await walk.press(say('Deactivate'));
    await walk.hear(`Ada ${walk.name}`, say('Deactivated. All sessions and tokens have ended.'));
    await walk.press(say('Undo'));
    await walk.arrive(`Ada ${walk.name}`);
    // Nothing but a way to sign in is missing, which an import does not bring.
    await page
      .locator('.verdict')
      .getByText(say('There is neither a password nor a passkey yet: send a set-up link.'))
      .waitFor();
  },
};

async function settings(walk: Walk): Promise<void> {
  const { say, page } = walk;
  const url = say('Help page');
  await walk.write(url, 'nowhere');
  if (walk.hasScripts) await page.locator('.diff li', { hasText: 'nowhere' }).waitFor();
  await walk.tryOffline(say('Save'), { [url]: 'nowhere' });
  await walk.press(say('Save'));
  await page.locator('#support_url-error:not(:empty)').waitFor();
  await walk.arrive(say('Settings'), say('{A} settings', { A: say('Branding') }));
  assert.equal(await page.getByLabel(url).inputValue(), 'nowhere');
  await walk.write(url, `https://help.example/${walk.name}`);
  await walk.look('diff');
  await walk.press(say('Save'));
  await walk.arrive(say('Settings'), say('{A} settings', { A: say('Branding') }));
  assert.equal(await page.getByLabel(url).inputValue(), `https://help.example/${walk.name}`);
}

export const looks: Journey = {
  name: 'looks',
  async make(walk) {
    const { say, page } = walk;
    await openAdmin(walk, '/settings/branding');
    await walk.arrive(say('Settings'), say('{A} settings', { A: say('Branding') }));
    await settings(walk);
    await walk.follow(say('Logo, colours, fonts, layout and texts of the pages'));
    await walk.arrive(say('Branding'));
    const before = await page.locator('#radius').inputValue();
    await walk.write(say('Corners'), before === '16' ? '18' : '16');
    await walk.press(say('Save'));
    await walk.hear(say('Branding'), say('Saved. Pages have it within a second.'));
    await walk.write(say('Corners'), '4');
    await walk.press(say('Save'));
    await walk.arrive(say('Branding'));
    await walk.press(page.locator('form[action$="/restore"] button').first());
    await walk.arrive(say('Branding'));
    assert.notEqual(await page.locator('#radius').inputValue(), '4');
  },
};

export const audit: Journey = {
  name: 'audit',
  async make(walk) {
    const { say, page, world } = walk;
    const person = await world.createPerson(`${walk.name}-p`, { name: `Ida ${walk.name}` });
    await openAdmin(walk, '/audit');
    await walk.arrive(say('Audit log'));
    await walk.write(say('Search events, names, addresses'), person.username);
    await walk.send();
    await walk.arrive(say('Audit log'));
    assert.match(await walk.download(say('Export CSV'), 'link'), /\.csv$/);
    assert.match(await walk.download(say('Export JSON lines'), 'link'), /\.jsonl$/);
    await walk.follow(page.locator('tbody a.row').first());
    await walk.arrive(say('User created'));
    await walk.follow(walk.link(`Ida ${walk.name}`));
    await walk.arrive(`Ida ${walk.name}`);
    await walk.follow(say('Events about them'));
    await walk.arrive(say('Audit log'));
  },
};
