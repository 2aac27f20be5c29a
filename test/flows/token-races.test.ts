// One code or refresh token, several requests at once, or a store that is away halfway, in one process and in two.
import { deepEqual, equal, ok } from 'node:assert/strict';
import test from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { Agent } from '../support/agent.ts';
import { REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { breakable } from '../support/broken-store.ts';
import { type Answer, change, isActive, postForm } from './support.ts';

const ISSUER = 'https://id.example.com/oauth2';

/** Two processes on one store. */
async function withTwo(
  act: (apps: readonly [TestApp, TestApp], broken: Set<string>) => Promise<void>,
): Promise<void> {
  const store = createMemoryStore({ clock: Date.now });
  const { store: shared, broken } = breakable(store);
  const start = () => startApp({ shared, env: { ISSUER } });
  const apps = [await start(), await start()] as const;
  try {
    await act(apps, broken);
  } finally {
    for (const app of apps) await app.stop();
    await store.close();
  }
}

async function signedIn(app: TestApp, name: string) {
  const client = await app.register({
    client_name: name,
    require_pkce: true,
    rotate_refresh_tokens: 'always',
  });
  const user = await app.createUser(name);
  const agent = new Agent(app);
  const inForm = { client_id: client.id, client_secret: client.secret };
  const code = async (): Promise<Record<string, string>> => {
    const { code: value, verifier } = await agent.signIn(client.id, user);
    return {
      ...inForm,
      grant_type: 'authorization_code',
      code: value,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    };
  };
  const refresh = (token: unknown) => ({
    ...inForm,
    grant_type: 'refresh_token',
    refresh_token: String(token),
  });
  return { code, refresh };
}

const atOnce = (apps: readonly TestApp[], fields: Record<string, string>): Promise<Answer[]> =>
  Promise.all(apps.map((app) => postForm(app, '/oauth2/token', fields)));

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

test('a code that is sent twice at once is redeemed once', async () => {
  await withTwo(async (apps) => {
    const [app, other] = apps;
    const { code } = await signedIn(app, 'alice');
    for (const racers of [
      [app, app],
      [app, other],
      [app, other, app, other],
    ]) {
      for (let round = 0; round < 5; round += 1) {
        const answers = await atOnce(racers, await code());
        deepEqual(statuses(answers), [200, ...racers.slice(1).map(() => 400)]);
        const lost = answers.filter(({ status }) => status === 400);
        for (const { body } of lost) equal(body.error, 'invalid_grant');
      }
    }
  });
});

test('a refresh token that is sent twice at once has one successor', async () => {
  await withTwo(async (apps) => {
    const [app, other] = apps;
    const { code, refresh } = await signedIn(app, 'alice');
    let { body } = await postForm(app, '/oauth2/token', await code());
    for (const racers of [
      [app, app],
      [app, other],
      [other, app, other, app],
    ]) {
      for (let round = 0; round < 5; round += 1) {
        const answers = await atOnce(racers, refresh(body.refresh_token));
        deepEqual(
          statuses(answers),
          racers.map(() => 200),
        );
        equal(new Set(answers.map((answer) => answer.body.refresh_token)).size, 1);
        body = answers[0]?.body ?? {};
      }
    }
  });
});

test('without grace a second use at once revokes the grant', async () => {
  await withTwo(async (apps) => {
    const [app, other] = apps;
    // So that both know it at once.
    for (const each of apps) await change(each, { refresh_token_grace_seconds: 0 });
    const { code, refresh } = await signedIn(app, 'alice');
    for (const racers of [
      [app, app],
      [app, other],
    ]) {
      const { body } = await postForm(app, '/oauth2/token', await code());
      const answers = await atOnce(racers, refresh(body.refresh_token));
      deepEqual(statuses(answers), [200, 400]);
      const won = answers.find(({ status }) => status === 200);
      equal(await isActive(app, String(won?.body.access_token)), false);
      const again = await postForm(app, '/oauth2/token', refresh(won?.body.refresh_token));
      equal(again.body.error, 'invalid_grant');
    }
    const { body: log } = await app.admin('GET', '/audit?event=token.reused');
    equal(log.data.items?.length, 2);
  });
});

for (const away of ['access_tokens', 'refresh_tokens', 'grants', 'authorization_codes']) {
  test(`503 while ${away} are away, and tokens or none afterwards`, async () => {
    await withTwo(async ([app], broken) => {
      const { code, refresh } = await signedIn(app, 'alice');
      const { body } = await postForm(app, '/oauth2/token', await code());
      const fields = await code();
      broken.add(away);
      const redeemed = await postForm(app, '/oauth2/token', fields);
      equal(redeemed.status, 503, redeemed.text);
      ok(redeemed.headers.get('x-request-id') !== null);
      const refreshed = await postForm(app, '/oauth2/token', refresh(body.refresh_token));
      if (away !== 'authorization_codes') equal(refreshed.status, 503, refreshed.text);
      broken.clear();
      const after = await postForm(app, '/oauth2/token', fields);
      ok(after.status === 200 || after.body.error === 'invalid_grant', after.text);
    });
  });
}
