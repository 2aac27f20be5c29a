// Enrolment tickets: valid for one browser, an unchanged account, ten minutes.
import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { toAccount } from '../../src/accounts/account.ts';
import { blankAccount } from '../../src/accounts/changes.ts';
import { createTickets } from '../../src/registration/enrolment-tickets.ts';
import * as model from '../../src/store/collections.ts';
import { enrolments } from '../../src/store/signups.ts';

async function start() {
  let now = 1_800_000_000_000;
  const clock = (): number => now;
  const store = createMemoryStore({ clock });
  const accounts = store.collection(model.accounts);
  const record = { ...blankAccount(now), username: 'ada', usernameKey: 'ada' };
  const account = toAccount(await accounts.insert('a1', record));
  const tickets = createTickets({
    collection: store.ephemeral(enrolments),
    clock,
    findUsable: async (id) => {
      const stored = await accounts.find(id);
      return stored?.value.isActive ? toAccount(stored) : undefined;
    },
  });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { accounts, account, tickets, pass };
}

test('enrolment ticket: valid in its own browser only, repeatedly', async () => {
  const { tickets, account } = await start();
  await tickets.give('mine', account);
  for (let times = 0; times < 2; times += 1) equal((await tickets.find('mine'))?.id, account.id);
  for (const other of ['yours', '', 'min', 'mine ']) equal(await tickets.find(other), undefined);
});

test('enrolment ticket: expires after ten minutes', async () => {
  const { tickets, account, pass } = await start();
  await tickets.give('mine', account);
  pass(599_999);
  equal((await tickets.find('mine'))?.id, account.id);
  pass(1);
  equal(await tickets.find('mine'), undefined);
});

test('enrolment ticket: void after a security change or deactivation of the account', async () => {
  for (const change of [{ securityChangedAt: 1 }, { isActive: false }]) {
    const { tickets, account, accounts } = await start();
    await tickets.give('mine', account);
    const { id, version, ...value } = account;
    await accounts.replace(id, version, { ...value, ...change });
    equal(await tickets.find('mine'), undefined);
  }
});
