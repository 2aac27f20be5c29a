// Password rules that would weaken passwords (NIST SP 800-63B-4 §3.1.1.2): only length counts, from 8 to at
// least 64 characters of any kind; no forced change, and password managers work.
import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { later, tokensOf } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
let people = 0;

async function create(password: string): Promise<{ status: number; username: string }> {
  people += 1;
  const username = `person-${people}`;
  const { status } = await app.admin('POST', '/users', { username, password });
  return { status, username };
}

const taken: Readonly<Record<string, string>> = {
  'eight characters': 'tzvq mhk',
  'small letters alone': 'wanderingtortoise',
  'digits alone': '8203957164',
  'blanks around and between': '  seven  tall  lanterns  ',
  'no letter of this alphabet': 'пароль из леса 🦔🦦',
  '128 characters': 'a wide river bends '.repeat(7).slice(0, 126).concat('x7'),
};
for (const [name, password] of Object.entries(taken)) {
  test(`password of ${name}: accepted, and signs in as typed`, async () => {
    const { status, username } = await create(password);
    equal(status, 201, password);
    ok((await tokensOf(app, client, { username, password }, { scope: 'openid' })).access_token);
    const cut = await new Agent(app).authorize(codeRequest(client.id));
    equal(cut.status, 200);
    const agent = new Agent(app);
    const typed = { username, password: password.slice(0, -1) };
    equal(
      (await agent.submit(await agent.authorize(codeRequest(client.id)), typed)).status,
      401,
      'cut short',
    );
  });
}

test('password of seven characters: refused, and no setting allows it', async () => {
  equal((await create('tzvq mh')).status, 400);
  for (const password_min_length of [7, 1, 0, -1]) {
    const { status, body } = await app.admin('PATCH', '/settings', { password_min_length });
    deepEqual([status, Object.keys(body.error?.fields ?? {})], [400, ['password_min_length']]);
  }
});

test('password of five years ago: signs in, no change is forced by age', async () => {
  const password = 'seven tall lanterns';
  const { username } = await create(password);
  const tokens = await later(5 * 365 * 24 * 3_600_000, () =>
    tokensOf(app, client, { username, password }, { scope: 'openid' }),
  );
  ok(tokens.access_token);
});

test('password fields: managers may fill and users may paste, on every page', async () => {
  const root = join(import.meta.dirname, '..', '..');
  let fields = 0;
  for await (const path of glob('templates/**/*.njk', { cwd: root })) {
    // Its secret is the mail server's, not a person's.
    if (path.endsWith('admin/settings.njk')) continue;
    const text = await readFile(join(root, path), 'utf8');
    doesNotMatch(
      text,
      /onpaste|autocomplete="off"[^>]*type="password"|type="password"[^>]*autocomplete="off"/,
      path,
    );
    doesNotMatch(text, /security_?question/i, path);
    fields += (text.match(/type='password'|type="password"/g) ?? []).length;
  }
  const page = await new Agent(app).authorize(codeRequest(client.id));
  const [input = ''] = /<input[^>]*name="password"[^>]*>/.exec(page.body) ?? [];
  match(input, /autocomplete="current-password"/);
  doesNotMatch(input, /maxlength|minlength|pattern=|onpaste/);
  ok(fields >= 4, `${fields} fields: the pattern fits no more`);
});
