// Mailed links: for one purpose, account and address, once (R072, R097).
import assert from 'node:assert/strict';
import type { LinkPurpose } from '../../src/recovery/links.ts';
import { links as linksDefinition } from '../../src/store/collections.ts';
import { type Backend, goodPassword, withEachStore } from '../accounts/support.ts';
import { createFactorWorld } from '../second-factors/support.ts';

const purposes: readonly LinkPurpose[] = ['password_reset', 'email_verification', 'magic_link', 'invitation'];

async function createLinkWorld(backend: Backend) {
  const world = await createFactorWorld(backend);
  return {
    ...world,
    make: async (purpose: LinkPurpose, boundTo?: string) =>
      (await world.links.create({ account: await world.current(), purpose, ...(boundTo && { boundTo }) }))
        .token,
  };
}

withEachStore('mailed link: its page opens repeatedly, it is consumed once', async (backend) => {
  const { links, linksElsewhere, id, make } = await createLinkWorld(backend);
  for (const purpose of purposes) {
    const token = await make(purpose, purpose === 'magic_link' ? 'interaction' : undefined);
    const expected = {
      accountId: id,
      purpose,
      email: 'alice@example.com',
      ...(purpose === 'magic_link' && { boundTo: 'interaction' }),
    };
    assert.deepEqual(await links.find(token, purpose), expected);
    assert.deepEqual(await linksElsewhere.find(token, purpose), expected);
    assert.deepEqual(await linksElsewhere.consume(token, purpose), expected);
    assert.equal(await links.find(token, purpose), undefined);
    assert.equal(await links.consume(token, purpose), undefined);
  }
});

withEachStore('attack: a link used in parallel in two processes: one succeeds (R072)', async (backend) => {
  const { links, linksElsewhere, make } = await createLinkWorld(backend);
  for (const purpose of purposes) {
    const token = await make(purpose);
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? links : linksElsewhere).consume(token, purpose)),
    );
    assert.equal(results.filter((link) => link !== undefined).length, 1);
  }
});

withEachStore('attack: a link for another purpose; the attempt does not use it up', async (backend) => {
  const { links, make } = await createLinkWorld(backend);
  for (const purpose of purposes) {
    const token = await make(purpose);
    for (const other of purposes.filter((each) => each !== purpose)) {
      assert.equal(await links.find(token, other), undefined);
      assert.equal(await links.consume(token, other), undefined);
    }
    assert.notEqual(await links.consume(token, purpose), undefined);
  }
});

withEachStore('attack: an expired link, to the millisecond', async (backend) => {
  const { links, current } = await createLinkWorld(backend);
  const minutes = { password_reset: 30, email_verification: 1440, magic_link: 15, invitation: 7 * 1440 };
  for (const purpose of purposes) {
    const account = await current();
    const { token, expiresAt } = await links.create({ account, purpose });
    assert.equal(expiresAt, backend.now() + minutes[purpose] * 60_000);
    backend.advance(minutes[purpose] * 60_000 - 1);
    assert.notEqual(await links.find(token, purpose), undefined);
    backend.advance(1);
    assert.equal(await links.consume(token, purpose), undefined);
  }
});

withEachStore('attack: a link to an address the account no longer has', async (backend) => {
  const { accounts, links, id, make } = await createLinkWorld(backend);
  const tokens = await Promise.all(purposes.map((purpose) => make(purpose)));
  await accounts.changeAccountAsAdmin(id, { email: 'new@example.com' });
  for (const [n, purpose] of purposes.entries()) {
    assert.equal(await links.find(tokens[n] ?? '', purpose), undefined);
    assert.equal(await links.consume(tokens[n] ?? '', purpose), undefined);
  }
  await accounts.changeAccountAsAdmin(id, { email: null });
  const verification = tokens[purposes.indexOf('email_verification')] ?? '';
  assert.equal(await links.consume(verification, 'email_verification'), undefined);
});

withEachStore('attack: the link to an address meanwhile taken by another user', async (backend) => {
  const { accounts, links, id, make } = await createLinkWorld(backend);
  const token = await make('password_reset');
  await accounts.changeAccountAsAdmin(id, { email: 'new@example.com' });
  const bob = await accounts.create({
    username: 'bob',
    password: goodPassword,
    email: 'alice@example.com',
  });
  assert.equal(await links.consume(token, 'password_reset'), undefined);
  await accounts.removeAccountAsAdmin(bob.id);
  await accounts.changeAccountAsAdmin(id, { email: 'alice@example.com' });
  assert.equal(await links.consume(token, 'password_reset'), undefined);
});

withEachStore('attack: a reset link from before a new password or factor (R063)', async (backend) => {
  const { accounts, links, id, make, enrolTotp } = await createLinkWorld(backend);
  for (const change of [
    () => accounts.changeAccountAsAdmin(id, { password: 'nine low bridges' }),
    () => enrolTotp(),
    () => accounts.changeAccountAsAdmin(id, { totp_verified: false }),
  ]) {
    const tokens = [
      await make('password_reset'),
      await make('magic_link'),
      await make('invitation'),
    ] as const;
    const verification = await make('email_verification');
    await change();
    assert.equal(await links.consume(tokens[0], 'password_reset'), undefined);
    assert.equal(await links.consume(tokens[1], 'magic_link'), undefined);
    assert.equal(await links.consume(tokens[2], 'invitation'), undefined);
    // The mailbox is still theirs.
    assert.notEqual(await links.consume(verification, 'email_verification'), undefined);
  }
});

withEachStore('attack: a link of a deleted account', async (backend) => {
  const world = await createLinkWorld(backend);
  const { links, id, make, collection } = world;
  const token = await make('password_reset');
  const stored = await collection.find(id);
  assert.ok(stored);
  await collection.replace(id, stored.version, { ...stored.value, deletingAt: backend.now() });
  assert.equal(await links.consume(token, 'password_reset'), undefined);
  await collection.remove(id);
  assert.equal(await links.find(token, 'password_reset'), undefined);
});

withEachStore('attack: the digest from a copied database, or garbage, as the token', async (backend) => {
  const { links, id, make } = await createLinkWorld(backend);
  const token = await make('password_reset');
  const [stored] = await backend.store.collection(linksDefinition).findBy('account', id);
  assert.ok(stored);
  assert.equal(JSON.stringify(stored).includes(token), false);
  const wrong = [
    stored.id,
    '',
    token.slice(1),
    `${token}A`,
    token.toLowerCase(),
    '\0',
    'A'.repeat(1_000_000),
  ];
  for (const text of wrong) assert.equal(await links.consume(text, 'password_reset'), undefined);
  assert.notEqual(await links.consume(token, 'password_reset'), undefined);
});

withEachStore('mailed links: all of an account, or those of one purpose, can be revoked', async (backend) => {
  const { accounts, links, id, make } = await createLinkWorld(backend);
  const bob = await accounts.create({
    username: 'bob',
    password: goodPassword,
    email: 'bob@example.com',
    is_email_verified: true,
  });
  const bobs = (await links.create({ account: bob, purpose: 'password_reset' })).token;
  const tokens = await Promise.all(purposes.map((purpose) => make(purpose)));
  await make('password_reset');
  assert.equal(await links.removeAllOf(id, 'password_reset'), 2);
  assert.equal(await links.find(tokens[0] ?? '', 'password_reset'), undefined);
  assert.notEqual(await links.find(tokens[2] ?? '', 'magic_link'), undefined);
  assert.equal(await links.removeAllOf(id), 3);
  assert.equal(await links.removeAllOf(id), 0);
  assert.notEqual(await links.find(bobs, 'password_reset'), undefined);
});

withEachStore('mailed link: none without an address', async (backend) => {
  const { accounts, links } = await createLinkWorld(backend);
  const account = await accounts.create({ username: 'bob', password: goodPassword });
  await assert.rejects(links.create({ account, purpose: 'password_reset' }), TypeError);
});
