// One of every credential, created over HTTP before a move to another store, and a check that each still works.
import { equal, match, notEqual, ok } from 'node:assert/strict';
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { hashSync as bcrypt } from 'bcryptjs';
import { Agent, codeRequest, type Page, redeem, refresh, requestTokens } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, type TestApp } from '../support/app.ts';
import { Authenticator } from '../support/authenticator.ts';
import { openMailbox } from '../support/mailbox.ts';
import { enrol, goOn, openSignIn, originOf, usePasskey } from '../support/passkeys.ts';
import { createPhone, type Phone } from '../support/phone.ts';

const OLD_PASSWORD = 'open sesame';

export interface Credentials {
  readonly client: { readonly id: string; readonly secret: string };
  readonly refreshToken: string;
  /** Of a browser that is signed in. */
  readonly session: string;
  /** Of a browser that need not give the second factor. */
  readonly trusted: string;
  readonly secret: string;
  readonly recoveryCode: string;
  readonly authenticator: Authenticator;
  readonly apiKey: string;
  /** Users that came with a hash of another system. */
  readonly imported: readonly string[];
  /** Where the app's clock was: codes of the phone go on from there. */
  readonly now: number;
}

const begin = (agent: Agent, { id }: { id: string }, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({
    ...codeRequest(id),
    ...more,
  });

const passwordOf = async (agent: Agent, client: { id: string }, username: string): Promise<Page> =>
  agent.submit(await begin(agent, client), { username, password: PASSWORD });

const set = async (app: TestApp, values: Record<string, unknown>): Promise<void> =>
  equal((await app.admin('PATCH', '/settings', values)).status, 200);

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

async function importUsers(app: TestApp): Promise<string[]> {
  const salt = Buffer.from('0123456789abcdef');
  const scrypt = scryptSync(OLD_PASSWORD, salt, 32, { N: 1024, r: 8, p: 1 });
  const pbkdf2 = pbkdf2Sync(OLD_PASSWORD, salt, 1000, 32, 'sha256');
  const hashes = {
    bcrypt: bcrypt(OLD_PASSWORD, 4),
    scrypt: `$scrypt$ln=10,r=8,p=1$${base64(salt)}$${base64(scrypt)}`,
    pbkdf2: `$pbkdf2-sha256$i=1000$${base64(salt)}$${base64(pbkdf2)}`,
  };
  const rows = Object.entries(hashes).map(([kind, password_hash]) => ({
    username: `from-${kind}`,
    password_hash,
  }));
  const response = await fetch(`${app.url}/admin/api/users/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });
  equal((await response.text()).match(/"created"/g)?.length, rows.length);
  return rows.map(({ username }) => username);
}

/** An app on a phone, and the codes for when it is lost. */
async function enrolApp(app: TestApp, client: { id: string }, username: string) {
  const agent = new Agent(app);
  const page = await passwordOf(agent, client, username);
  const secret = /[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '';
  const phone = createPhone(secret, app);
  const shown = await agent.submit(page, { action: 'enrol', code: phone.code() });
  const [recoveryCode = ''] = /\b[0-9a-z]{4}(?:-[0-9a-z]{4}){3}\b/.exec(shown.body) ?? [];
  notEqual(recoveryCode, '', shown.body);
  await agent.submit(shown, { action: 'continue' });
  return { secret, phone, recoveryCode };
}

async function mailedCode(app: TestApp, agent: Agent, ask: () => Promise<Page>): Promise<Page> {
  const mailbox = await openMailbox(app);
  try {
    const asked = await ask();
    await mailbox.deliver();
    const code = /\b\d{6}\b/.exec(mailbox.received.at(-1)?.mail.text ?? '')?.[0] ?? '';
    return await agent.submit(asked, { method: 'email', code });
  } finally {
    await mailbox.close();
  }
}

async function trustBrowser(app: TestApp, client: { id: string }, phone: Phone): Promise<string> {
  const agent = new Agent(app);
  const asked = await passwordOf(agent, client, 'bob');
  arrived(await agent.submit(asked, { code: phone.code(), method: 'totp', trust_device: 'on' }));
  return agent
    .cookiesFor('/oauth2/authorize')
    .split('; ')
    .filter((cookie) => !/session/.test(cookie))
    .join('; ');
}

const arrived = (page: Page): void => match(page.location ?? '', /[?&]code=/, page.body.slice(0, 2_000));

/** One of each. @param app is left with `mfa_mode` optional */
export async function makeCredentials(app: TestApp): Promise<Credentials> {
  const client = await app.register({
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  });
  const agent = new Agent(app);
  const ada = await app.createUser('ada');
  const tokens = await redeem(
    app,
    client,
    await agent.signIn(client.id, ada, { scope: 'openid offline_access' }),
  );
  equal(tokens.status, 200);
  const api = { identifier: 'https://api.example.com', name: 'Orders' };
  equal((await app.admin('POST', '/resources', api)).status, 201);
  const key = await app.admin('POST', '/api-keys', { name: 'Terraform' });
  equal(key.status, 201);

  const pia = await app.createUser('pia');
  const authenticator = new Authenticator({ origin: originOf(app) });
  arrived(await enrol(new Agent(app), client, pia, authenticator));

  await set(app, { mfa_mode: 'required' });
  await app.createUser('bob');
  const { secret, phone, recoveryCode } = await enrolApp(app, client, 'bob');
  await app.createUser('mia', { email: 'mia@example.com', is_email_verified: true });
  const browser = new Agent(app);
  arrived(
    await mailedCode(app, browser, async () =>
      browser.submit(await passwordOf(browser, client, 'mia'), { action: 'email' }),
    ),
  );
  const trusted = await trustBrowser(app, client, phone);
  await set(app, { mfa_mode: 'optional' });
  return {
    client,
    secret,
    recoveryCode,
    trusted,
    authenticator,
    refreshToken: tokens.body.refresh_token,
    session: agent.cookiesFor('/oauth2/authorize'),
    apiKey: String(key.body.data.api_key),
    imported: await importUsers(app),
    now: app.now(),
  };
}

type Proof = () => Promise<void>;

/** @param app another one with the same data, at the same address. @returns what each credential has to show */
export function proofsOf(app: TestApp, given: Credentials): Readonly<Record<string, Proof>> {
  const { client } = given;
  // The clock goes on from where it was; the wait is for codes by mail, of which there are three in ten minutes.
  app.advance(given.now - app.now() + 11 * 60_000);
  const phone = createPhone(given.secret, app);
  const askedOfBob = async (agent: Agent): Promise<Page> => {
    const asked = await passwordOf(agent, client, 'bob');
    equal(asked.location, undefined, 'the second factor is asked for');
    return asked;
  };
  const signsIn = async (username: string, password: string): Promise<void> => {
    const tokens = await redeem(app, client, await new Agent(app).signIn(client.id, { username, password }));
    equal(tokens.status, 200, username);
  };
  return {
    'password (argon2id)': () => signsIn('ada', PASSWORD),
    ...Object.fromEntries(
      given.imported.map((username) => [`password (${username})`, () => signsIn(username, OLD_PASSWORD)]),
    ),
    'password and code of the app': async () => {
      const agent = new Agent(app);
      arrived(await agent.submit(await askedOfBob(agent), { code: phone.code(), method: 'totp' }));
    },
    'password and recovery code': async () => {
      const agent = new Agent(app);
      const asked = await askedOfBob(agent);
      arrived(await agent.submit(asked, { code: given.recoveryCode, method: 'recovery' }));
    },
    'password and mailed code': async () => {
      const agent = new Agent(app);
      arrived(await mailedCode(app, agent, () => passwordOf(agent, client, 'mia')));
    },
    passkey: async () => {
      const agent = new Agent(app);
      const used = await usePasskey(agent, await openSignIn(agent, client), given.authenticator);
      arrived(await goOn(agent, used));
    },
    'trusted browser': async () => {
      const agent = new Agent(app);
      agent.plant(given.trusted);
      arrived(await passwordOf(agent, client, 'bob'));
    },
    'session of a browser': async () => {
      const agent = new Agent(app);
      agent.plant(given.session);
      arrived(await begin(agent, client, { prompt: 'none' }));
    },
    'refresh token': async () => equal((await refresh(app, client, given.refreshToken)).status, 200),
    'client secret': async () => {
      const tokens = await requestTokens(app, client, { grant_type: 'client_credentials' });
      equal(tokens.status, 200, JSON.stringify(tokens.body));
      const wrong = { ...client, secret: `${client.secret}x` };
      equal((await requestTokens(app, wrong, { grant_type: 'client_credentials' })).status, 401);
    },
    'API key': async () => {
      const headers = { authorization: `Bearer ${given.apiKey}` };
      const response = await fetch(`${app.url}/admin/api/users?limit=1`, { headers });
      equal(response.status, 200);
      ok((await response.text()).includes('"username"'));
    },
  };
}
