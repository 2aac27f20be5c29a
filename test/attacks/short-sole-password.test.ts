// Attack: guessing a short password that is the only factor (decision 0012, NIST SP 800-63B-4 §3.1.1.2): with
// `auth_mode` `password` and `mfa_mode` `off` a new password has at least 15 characters, wherever it is set.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { openMailbox } from '../support/mailbox.ts';
import { begin, openSignup } from '../support/signup.ts';

const app = await startApp({ store: 'sqlite' });
const mailbox = await openMailbox(app);
after(async () => {
  await app.stop();
  await mailbox.close();
});
const client = await app.register();
const FOURTEEN = 'tzvq mhk wpf x';
const FIFTEEN = 'tzvq mhk wpf xg';
const ALONE = { auth_mode: 'password', mfa_mode: 'off' };
let admin: Agent;

const set = async (values: Record<string, unknown>): Promise<void> =>
  equal((await app.admin('PATCH', '/settings', values)).status, 200);
const twice = (password: string) => ({ password, confirm_password: password });
let people = 0;
const nextName = (): string => {
  people += 1;
  return `person-${people}`;
};
async function person() {
  const name = nextName();
  return app.createUser(name, { email: `${name}@example.com`, is_email_verified: true });
}
async function enter(username: string, password = PASSWORD, path = '/account/password'): Promise<Agent> {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get(path));
  equal((await agent.submit(page, { username, password })).status, 200);
  return agent;
}

before(async () => {
  // Fifteen are asked for from the very first account on.
  await set({ ...ALONE, allow_self_signup: true, signup_require_verified_email: false });
  admin = new Agent(app);
  const page = await admin.get('/onboard');
  match(page.body, /at least 15 characters/i);
  match(page.body, /minlength="15"/);
  const first = { username: 'root-admin', email: 'root@example.com' };
  equal((await admin.submit(page, { ...first, ...twice(FOURTEEN) })).status, 400);
  equal((await admin.submit(page, { ...first, ...twice(PASSWORD) })).status, 200);
  admin = await enter('root-admin', PASSWORD, '/admin');
});

interface Door {
  /** The page with the form, as it is shown; none: an API. */
  readonly page?: Page;
  readonly give: (password: string) => Promise<{ readonly status: number }>;
}

const doors: Readonly<Record<string, () => Promise<Door>>> = {
  'sign-up': async () => {
    const agent = new Agent(app);
    const page = await openSignup(app, client.id, agent);
    const username = nextName();
    const fields = { username, email: `${username}@example.com` };
    return { page, give: (password) => agent.submit(page, { ...fields, ...twice(password) }) };
  },
  'an invitation': async () => {
    const username = nextName();
    const { body } = await app.admin('POST', '/invitations', { email: `${username}@example.com` });
    const agent = new Agent(app);
    const page = await agent.get(String(body.data.url));
    return { page, give: (password) => agent.submit(page, { username, ...twice(password) }) };
  },
  'an enrolment link': async () => {
    const { id, username } = await person();
    equal((await app.admin('POST', `/users/${id}/send-enrolment-link`)).status, 200);
    const agent = new Agent(app);
    const page = await agent.get(await mailbox.linkTo(`${username}@example.com`));
    return { page, give: (password) => agent.submit(page, twice(password)) };
  },
  'a reset': async () => {
    const { username } = await person();
    const agent = new Agent(app);
    await agent.submit(await agent.get('/oauth2/forgot-password'), { email: `${username}@example.com` });
    const page = await agent.get(await mailbox.linkTo(`${username}@example.com`));
    return { page, give: (password) => agent.submit(page, twice(password)) };
  },
  'the account page': async () => {
    const agent = await enter((await person()).username);
    const page = await agent.get('/account/password');
    const fields = { ...hiddenFields(page.body), current_password: PASSWORD };
    return {
      page,
      give: async (password) =>
        agent.follow(await agent.post('/account/password', { ...fields, ...twice(password) })),
    };
  },
  'the Admin UI': async () => {
    const page = await admin.get('/admin/users/new');
    const fields = { ...hiddenFields(page.body), username: nextName() };
    return {
      page,
      give: async (password) =>
        admin.follow(await admin.post('/admin/users/new', { ...fields, password, role: 'user' })),
    };
  },
  'the admin API, creating': async () => {
    const username = nextName();
    return { give: (password) => app.admin('POST', '/users', { username, password }) };
  },
  'the admin API, changing': async () => {
    const { id } = await person();
    return { give: (password) => app.admin('PATCH', `/users/${id}`, { password }) };
  },
};

for (const [name, open] of Object.entries(doors)) {
  test(`attack: guessing a short password that is the only factor, set by ${name}`, async () => {
    await set(ALONE);
    const { page, give } = await open();
    if (page !== undefined) {
      equal(page.status, 200, page.body);
      match(page.body, /at least 15 characters/i);
    }
    equal((await give(FOURTEEN)).status, 400);
    ok([200, 201].includes((await give(FIFTEEN)).status));
  });
}

test('short password: eight characters suffice only beside another factor', async () => {
  const answers: [string, number][] = [];
  for (const [auth_mode, mfa_mode, password_min_length, password] of [
    ['password', 'optional', 8, 'tzvq mhk'],
    ['password', 'required', 8, 'tzvq mhk'],
    ['password_and_passkey', 'off', 8, 'tzvq mhk'],
    ['password', 'off', 8, 'tzvq mhk'],
    ['password', 'off', 16, FIFTEEN],
    ['password', 'off', 16, `${FIFTEEN}b`],
  ] as const) {
    await set({ auth_mode, mfa_mode, password_min_length });
    const { status } = await app.admin('POST', '/users', { username: nextName(), password });
    answers.push([`${auth_mode} ${mfa_mode} ${password_min_length}`, status]);
  }
  deepEqual(answers, [
    ['password optional 8', 201],
    ['password required 8', 201],
    ['password_and_passkey off 8', 201],
    ['password off 8', 400],
    ['password off 16', 400],
    ['password off 16', 201],
  ]);
  await set({ password_min_length: 8 });
});

test('short password set earlier: keeps working, and can be replaced by a long one', async () => {
  const username = nextName();
  await set({ mfa_mode: 'optional' });
  equal((await app.admin('POST', '/users', { username, password: 'tzvq mhk' })).status, 201);
  await set(ALONE);
  const agent = new Agent(app);
  const page = await agent.submit(await begin(agent, client.id), { username, password: 'tzvq mhk' });
  match(page.location ?? '', /code=/);
  const mine = await agent.get('/account/password');
  const fields = { ...hiddenFields(mine.body), current_password: 'tzvq mhk' };
  equal((await agent.post('/account/password', { ...fields, ...twice(FOURTEEN) })).status, 400);
  equal((await agent.post('/account/password', { ...fields, ...twice(FIFTEEN) })).status, 303);
});
