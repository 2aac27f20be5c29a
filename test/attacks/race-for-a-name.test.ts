// Attack: two accounts of one name, created at once in different spellings (Keycloak CVE-2021-3754 and
// CVE-2026-19607, next-auth GHSA-7rqj-j65f-68wh).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PASSWORD, startApp, type TestApp } from '../support/app.ts';
import { atOnce, RACED, sized } from './sizes.ts';

const PARALLEL = 100;
const ROUNDS = sized(1, 20);

const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));

/** One name, written in every way that one person could be taken for another. */
const spellings = (name: string): string[] => {
  const cased = [name, name.toUpperCase(), name.toLowerCase()];
  const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'].flatMap((form) => cased.map((text) => text.normalize(form)));
  const dots = forms.flatMap((text) => [
    text,
    text.replaceAll('i', 'ı'),
    text.replaceAll('i', 'İ'),
    text.replaceAll('fi', 'ﬁ'),
    text.replaceAll('ß', 'ẞ'),
    text.replaceAll('ß', 'ss'),
    text.replaceAll('s', 'ſ'),
    text.replaceAll('Å', '\u212b'),
    fullWidth(text),
    `  ${text} `,
    `${text}\u3000`,
  ]);
  return [...new Set(dots)];
};

async function create(app: TestApp, fields: Record<string, string>): Promise<number> {
  const { status, body } = await app.admin('POST', '/users', { password: PASSWORD, ...fields });
  assert.ok([201, 400, 409].includes(status), `${status} ${JSON.stringify(body)}`);
  return status;
}

const count = (statuses: readonly number[], status: number): number =>
  statuses.filter((one) => one === status).length;

for (const store of RACED) {
  test(`race: ${PARALLEL} users of one name, ${ROUNDS} rounds, ${store}: one created`, async (t) => {
    const app = await startApp({ store });
    t.after(() => app.stop());
    for (let round = 0; round < ROUNDS; round += 1) {
      const names = spellings(`Åsa-Groß-fi${round}`);
      assert.ok(names.length >= 50);
      const statuses = await atOnce(PARALLEL, (index) =>
        create(app, { username: names[index % names.length] ?? '' }),
      );
      assert.deepEqual([count(statuses, 201), count(statuses, 409)], [1, PARALLEL - 1]);
      const { body } = await app.admin('GET', '/users?limit=1000');
      assert.equal(body.data.total, round + 1);
    }
  });

  test(`race: ${PARALLEL} users of one e-mail address, ${ROUNDS} rounds, ${store}: one created`, async (t) => {
    const app = await startApp({ store });
    t.after(() => app.stop());
    for (let round = 0; round < ROUNDS; round += 1) {
      const addresses = [
        `ana${round}@example.com`,
        `ANA${round}@Example.COM`,
        ` ana${round}@example.com `,
        `ana${round}＠example.com`,
        `${fullWidth(`ana${round}`)}@example.com`,
      ];
      const statuses = await atOnce(PARALLEL, (index) =>
        create(app, {
          username: `user-${round}-${index}`,
          email: addresses[index % addresses.length] ?? '',
        }),
      );
      assert.equal(count(statuses, 201), 1);
    }
  });
}

test('race: a username equal to another’s e-mail address; never two accounts for one name', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  for (let round = 0; round < 20; round += 1) {
    const address = `victim${round}@example.com`;
    await Promise.all([
      create(app, { username: address }),
      create(app, { username: `victim-${round}`, email: address }),
      create(app, { username: address, email: address }),
    ]);
    const { body } = await app.admin('GET', '/users?limit=1000');
    const owners = (body.data.items ?? []).filter(
      ({ username, email }) => username === address || email === address,
    );
    assert.equal(owners.length, 1, JSON.stringify(owners.map(({ username, email }) => [username, email])));
  }
});

test('race: many users renamed to one name; one succeeds, none loses its name', async (t) => {
  const app = await startApp({ store: 'sqlite' });
  t.after(() => app.stop());
  const users = await atOnce(20, (index) => app.createUser(`user-${index}`));
  const answers = await Promise.all(
    users.map(({ id }) => app.admin('PATCH', `/users/${id}`, { username: 'Wanted' })),
  );
  assert.equal(
    count(
      answers.map(({ status }) => status),
      200,
    ),
    1,
  );
  const { body } = await app.admin('GET', '/users?limit=1000');
  const names = (body.data.items ?? []).map(({ username }) => String(username).toLowerCase());
  assert.equal(new Set(names).size, 20);
  assert.equal(names.filter((name) => name === 'wanted').length, 1);
});
