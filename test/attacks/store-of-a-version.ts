// The store that a release leaves for the next one to read: run with Node at the release
// (`node test/attacks/store-of-a-version.ts 0.1.0`), it signs in users of every kind and writes the compressed database and
// their credentials to test/attacks/fixtures/. The test is store-of-previous-version.test.ts.
import { equal } from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { createSqliteStore } from '../../adapters/sqlite/store.ts';
import { systemClock } from '../../src/clock.ts';
import { allCollections } from '../../src/store/all-collections.ts';
import { tokensOf } from '../flows/support.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { enrolPhone } from '../support/phone.ts';

/** The address stays the same wherever the test listens. */
export const PUBLIC_URL = 'http://localhost:3000';

export interface Held {
  /** Epoch milliseconds at which the store was left. */
  readonly at: number;
  readonly users: Record<'alice' | 'bob' | 'carol' | 'keeper', string>;
  readonly firstParty: { readonly id: string; readonly secret: string };
  readonly thirdParty: { readonly id: string; readonly secret: string };
  /** Of alice: password alone, consent to the third-party application remembered. */
  readonly cookies: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly usedRefreshToken: string;
  readonly idToken: string;
  /** Of carol: authenticator app. */
  readonly totpSecret: string;
  readonly apiKey: string;
  readonly registrationToken: string;
  readonly inviteUrl: string;
}

const scope = 'openid profile email offline_access';

async function fill(file: string): Promise<Held> {
  const store = createSqliteStore({ file, clock: systemClock, definitions: allCollections });
  const app = await startApp({ shared: store, env: { BASE_URL: PUBLIC_URL } });
  const agent = (): Agent => new Agent(app, { publicUrl: PUBLIC_URL });
  const made = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await app.admin('POST', path, body);
    equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.data;
  };
  const set = async (values: Record<string, unknown>): Promise<void> => {
    equal((await app.admin('PATCH', '/settings', values)).status, 200);
  };
  await set({ product_name: 'Acme', retention_audit_seconds: 34_560_000 });

  const keeper = await app.createUser('keeper', { role: 'admin' });
  const alice = await app.createUser('alice', { email: 'alice@example.com', is_email_verified: true });
  const bob = await app.createUser('bob');
  const carol = await app.createUser('carol');
  await made('/groups', { name: 'staff', display_name: 'Staff' });
  await made('/resources', {
    identifier: 'https://api.example.com',
    name: 'Orders',
    scopes: [{ name: 'orders:read', description: 'See your orders' }],
  });
  await app.admin('POST', '/groups/staff/members', { user_id: alice.id });
  const firstParty = await app.register({ scope });
  const thirdParty = await app.register({ scope, skip_consent: false, client_name: 'Partner' });

  const browser = agent();
  const first = await tokensOf(app, firstParty, alice, { scope, prompt: 'consent' }, browser);
  const renewed = await fetch(`${app.url}/oauth2/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${firstParty.id}:${firstParty.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: first.refresh_token }),
  });
  const { access_token, refresh_token, id_token } = JSON.parse(await renewed.text());
  await tokensOf(app, thirdParty, alice, { scope: 'openid profile' }, browser);

  await set({ mfa_mode: 'required' });
  const phoneBrowser = agent();
  const asked = await phoneBrowser.authorize(codeRequest(firstParty.id));
  const { phone } = await enrolPhone(app, phoneBrowser, asked, 'carol');
  await set({ mfa_mode: 'optional' });
  await app.admin('POST', `/users/${bob.id}/deactivate`);

  const key = await made('/api-keys', { name: 'Nightly export', scopes: ['admin:read'] });
  const registration = await made('/initial-access-tokens', { label: 'Partner' });
  const invitation = await made('/invitations', { email: 'dave@example.com', send_mail: false });
  const cookies = browser.cookiesFor('/oauth2/authorize');
  await app.stop();
  await store.close();
  return {
    at: Date.now(),
    users: { alice: alice.id, bob: bob.id, carol: carol.id, keeper: keeper.id },
    firstParty,
    thirdParty,
    cookies,
    accessToken: String(access_token),
    refreshToken: String(refresh_token),
    usedRefreshToken: first.refresh_token,
    idToken: String(id_token),
    totpSecret: phone.secret,
    apiKey: String(key.api_key),
    registrationToken: String(registration.token ?? registration.initial_access_token ?? ''),
    inviteUrl: String(invitation.url ?? ''),
  };
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-version-'));
  const held = await fill(join(folder, 'latchkey.db'));
  const database = new DatabaseSync(join(folder, 'latchkey.db'));
  await backup(database, join(folder, 'copy.db'));
  database.close();
  const copy = new DatabaseSync(join(folder, 'copy.db'));
  copy.exec('PRAGMA journal_mode=DELETE; VACUUM');
  copy.close();
  const target = join(import.meta.dirname, 'fixtures', `store-${version}`);
  await writeFile(`${target}.db.gz`, gzipSync(await readFile(join(folder, 'copy.db')), { level: 9 }));
  await writeFile(`${target}.json`, `${JSON.stringify(held, null, 2)}\n`);
  await rm(folder, { recursive: true, force: true });
}
