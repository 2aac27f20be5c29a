// Compares a ledger (load.ts) with the deployment after a kill: nothing acknowledged is lost, nothing is accepted twice, nothing
// revoked is valid.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../support/app.ts';
import type { Web } from './deployment.ts';
import { type Answer, call, type Ledger, redemption, rotation, tokenRequest, type Voucher } from './load.ts';

const PARALLEL = 8;

async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

const SETTLED_MS = 60_000;

/**
 * Ready again, a connection that died with the server may still be noticed by one request: 503 says to try again, which a
 * client does. Any other answer is final.
 */
async function whenSettled(send: () => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + SETTLED_MS;
  let answer = await send();
  while (answer.status === 503 && performance.now() < until) {
    await sleep(100);
    answer = await send();
  }
  return answer;
}

export async function isActive(web: Pick<Web, 'url'>, token: string): Promise<boolean> {
  const { status, body } = await whenSettled(() =>
    call(`${web.url}/oauth2/introspect`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: new URLSearchParams({ token }),
    }),
  );
  assert.equal(status, 200, body);
  const { active }: { active: boolean } = JSON.parse(body);
  return active;
}

/** Every acknowledged write to a durable collection is there. */
export async function assertNothingLost(web: Web, ledger: Ledger): Promise<void> {
  const lost: string[] = [];
  await inParallel(ledger.users, async (id) => {
    const { status } = await web.admin('GET', `/users/${id}`);
    if (status !== 200) lost.push(`user ${id}: ${status}`);
  });
  const found = new Set<unknown>();
  for (let path = '/initial-access-tokens?limit=1000'; ledger.labels.length > 0 && path !== ''; ) {
    const { status, body } = await web.admin('GET', path);
    assert.equal(status, 200, JSON.stringify(body));
    for (const { label } of body.data.items ?? []) found.add(label);
    const cursor = body.data.next;
    path = typeof cursor === 'string' ? `/initial-access-tokens?limit=1000&cursor=${cursor}` : '';
  }
  lost.push(...ledger.labels.filter((label) => !found.has(label)));
  await inParallel(ledger.refreshTokens, async ({ token, isGood }) => {
    // The last of a chain, whose rotation was acknowledged.
    if (isGood && !(await isActive(web, token))) lost.push(`refresh token ${token}`);
  });
  assert.deepEqual(lost, []);
}

export async function assertRevokedStayRevoked(web: Pick<Web, 'url'>, ledger: Ledger): Promise<void> {
  const active: string[] = [];
  await inParallel(ledger.revoked, async (token) => {
    if (await isActive(web, token)) active.push(token);
  });
  assert.deepEqual(active, []);
}

/**
 * Presents everything again, twice: whatever had no answer may be good once now, and nothing ever a second time.
 * Ends what came of it, so it comes last. @returns how many presentations were refused
 */
export async function replayAll(
  web: Web,
  client: { id: string; secret: string },
  { codes, refreshTokens }: Ledger,
): Promise<number> {
  let refused = 0;
  const twice: string[] = [];
  const present = async (voucher: Voucher, name: string, send: () => Promise<Answer>): Promise<void> => {
    for (let turn = 0; turn < 2; turn += 1) {
      const { status, body } = await whenSettled(send);
      assert.ok(status === 200 || status === 400, `${status} ${body}`);
      if (status === 200) voucher.accepted += 1;
      else refused += 1;
      if (voucher.accepted > 1) twice.push(name);
    }
  };
  await inParallel(refreshTokens, (one) =>
    present(one, `refresh token ${one.token}`, () => tokenRequest(web, client, rotation(one.token))),
  );
  await inParallel(codes, (one) =>
    present(one, `code ${one.code}`, () => tokenRequest(web, client, redemption(one))),
  );
  assert.deepEqual(twice, []);
  return refused;
}
