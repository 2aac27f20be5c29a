// A client that sends the same code_challenge or nonce for every sign-in loses its protection (RFC 9700 §2.1.1):
// the log names it.
import { deepEqual, equal } from 'node:assert/strict';
import { after, test } from 'node:test';
import { createRepeatWatch } from '../../src/oidc/requests/repeated-values.ts';
import { Agent, codeRequest } from '../support/agent.ts';
import { startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());

interface Line {
  readonly event?: string;
  readonly client_id?: string;
  readonly parameter?: string;
}
const warnings = (): [unknown, unknown][] =>
  app.logged
    .filter((line) => line.includes('request_value_repeated'))
    .map((line): Line => JSON.parse(line))
    .map(({ client_id, parameter }) => [client_id, parameter]);

test('repeated code_challenge or nonce: a warning names the client, without the value', async () => {
  const [one, other] = [await app.register(), await app.register()];
  await app.createUser('alice');
  const agent = new Agent(app);
  const ask = async (clientId: string, more: Record<string, string>) =>
    agent.finish(await agent.authorize({ ...codeRequest(clientId), ...more }), { username: 'alice' });
  await ask(one.id, { nonce: 'nonce-1-of-one', code_challenge: 'A'.repeat(43) });
  await ask(one.id, { nonce: 'nonce-2-of-one', code_challenge: 'B'.repeat(43) });
  await ask(other.id, { nonce: 'nonce-1-of-one', code_challenge: 'A'.repeat(43) });
  deepEqual(warnings(), [], 'another application’s value is another value');
  await ask(one.id, { nonce: 'nonce-3-of-one', code_challenge: 'A'.repeat(43) });
  deepEqual(warnings(), [[one.id, 'code_challenge']]);
  await ask(one.id, { nonce: 'nonce-2-of-one', code_challenge: 'C'.repeat(43) });
  deepEqual(warnings().slice(1), [[one.id, 'nonce']]);
  equal(app.logged.filter((line) => line.includes('nonce-2-of-one')).length, 0);
});

test('attack: endless repeated values; memory of them is bounded', () => {
  let warned = 0;
  const watch = createRepeatWatch({
    warn: () => {
      warned += 1;
    },
  });
  const send = (at: number) => watch.codeIssued({ clientId: 'c', codeChallenge: `${at}`, nonce: undefined });
  for (let at = 0; at < 10_001; at += 1) send(at);
  send(0);
  equal(warned, 0, 'the oldest is forgotten');
  send(10_000);
  equal(warned, 1);
});
