// The routes of the signing keys, checked against their own declaration. The effect of rotation on tokens is in
// test/flows/key-rotation.test.ts.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { type Answer, itemsOf, wrongFields } from './answers.ts';
import { withServer } from './support.ts';

/** Each has a companion for ES256, of its state, behind it. */
function keysOf(answer: Answer): ReturnType<typeof itemsOf> {
  const items = itemsOf(answer);
  const [rsa, ec] = ['RS256', 'ES256'].map((alg) => items.filter((item) => item.alg === alg));
  deepEqual(
    ec?.map(({ state, created_at: at }) => [state, at]),
    rsa?.map(({ state, created_at: at }) => [state, at]),
  );
  return rsa ?? [];
}

withServer('signing keys: listed without private parts, rotated gradually or immediately', async (world) => {
  const { api, advance } = world;
  const [current] = keysOf(await api('GET', '/keys'));
  equal(current?.state, 'current');
  const states = keysOf(await api('POST', '/keys/rotate')).map(({ state }) => state);
  deepEqual(states, ['next', 'current']);
  const again = await api('POST', '/keys/rotate', { mode: 'gradual' });
  equal(keysOf(again).length, 2);
  const [next] = keysOf(again);
  equal(Date.parse(String(next?.activates_at)), Date.parse(String(next?.created_at)) + 900_000);
  advance(900_000);
  const rotated = keysOf(await api('GET', '/keys'));
  deepEqual(
    rotated.map(({ state, kid }) => [state, kid]),
    [
      ['current', next?.kid],
      ['retired', current?.kid],
    ],
  );
  ok(Date.parse(String(rotated[1]?.removed_at)) >= world.now() + 86_400_000);
  const compromised = keysOf(await api('POST', '/keys/rotate', { mode: 'compromised' }));
  ok(compromised.every(({ kid }) => kid !== next?.kid));
  const { text } = await api('GET', '/keys');
  ok(!/"(?:d|p|q|dp|dq|qi|sealedPrivateJwk|sealed_private_jwk)"/.test(text));
});

withServer('signing keys: an invalid mode or field is refused and nothing rotates', async ({ api }) => {
  deepEqual(wrongFields(await api('POST', '/keys/rotate', { mode: 'now' })), ['mode']);
  deepEqual(wrongFields(await api('POST', '/keys/rotate', { key: 'mine' })), ['key']);
  equal(keysOf(await api('GET', '/keys')).length, 1);
});
