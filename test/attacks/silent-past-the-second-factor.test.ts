// Attack: prompt=none to skip a step that needs the user (OIDC Core §3.1.2.6): no code, no page, and the error
// that names what is missing.
import { equal, match, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { change } from '../flows/support.ts';
import { Agent, codeRequest, type Page } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const client = await app.register();
const partner = await app.register({ skip_consent: false });
const alice = await app.createUser('alice');

const silently = (agent: Agent, id = client.id, more: Record<string, string> = {}): Promise<Page> =>
  agent.authorize({ ...codeRequest(id), prompt: 'none', ...more });

function errorOf(page: Page): string | null {
  equal(page.status, 303, page.body.slice(0, 300));
  const { searchParams } = new URL(page.location ?? '');
  equal(searchParams.get('code'), null);
  ok(!/<form|<html/i.test(page.body));
  return searchParams.get('error');
}

test('attack: prompt=none before the second factor is complete is refused at every step', async () => {
  const agent = new Agent(app);
  await agent.signIn(client.id, alice);
  const before = await silently(agent);
  ok(new URL(before.location ?? '').searchParams.has('code'), 'the password is enough so far');
  equal(errorOf(await silently(agent, partner.id)), 'consent_required');
  equal(errorOf(await silently(new Agent(app))), 'login_required');

  const claims = JSON.stringify({
    id_token: { acr: { essential: true, value: 'urn:latchkey:acr:multi-factor' } },
  });
  const demanded = errorOf(await silently(agent, client.id, { claims }));
  ok(
    ['login_required', 'interaction_required', 'unmet_authentication_requirements'].includes(
      String(demanded),
    ),
  );
  equal(errorOf(await silently(agent, client.id, { max_age: '0' })), 'login_required');

  // The password was right, and the page with the second step is open: that is no session.
  await change(app, { mfa_mode: 'required' });
  const halfway = new Agent(app);
  const page = await halfway.submit(await halfway.authorize(codeRequest(client.id)), {
    username: alice.username,
    password: PASSWORD,
  });
  match(page.body, /data:image\/png;base64/);
  for (const id of [client.id, partner.id]) equal(errorOf(await silently(halfway, id)), 'login_required');
});
