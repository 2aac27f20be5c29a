// A deployment with a client and signed-in users, as the kill tests start, and their totals.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { liftLimits } from '../attacks/limits.ts';
import {
  type Deployment,
  type DeploymentOptions,
  millisecondsUntil,
  spread,
  startDeployment,
} from './deployment.ts';
import { agentsFor, askForCode, emptyLedger, type Ledger, type Person } from './load.ts';

export interface Site {
  readonly deployment: Deployment;
  readonly client: { readonly id: string; readonly secret: string };
  readonly people: readonly { readonly username: string; readonly agents: Person }[];
}

const NAMES = ['ada', 'grace', 'mary'];

/** Limits lifted: thousands of requests from one address are what a kill test is made of. No second use of a refresh token. */
export async function openSite(options: DeploymentOptions): Promise<Site> {
  const deployment = await startDeployment(options);
  try {
    return { deployment, ...(await settle(deployment)) };
  } catch (error) {
    await deployment.stop();
    throw error;
  }
}

/** On an empty database: the application, the people, the settings. */
async function settle(
  deployment: Deployment,
  names: readonly string[] = NAMES,
): Promise<Omit<Site, 'deployment'>> {
  const [one] = deployment.webs;
  await liftLimits(one);
  await one.admin('PATCH', '/settings', { refresh_token_grace_seconds: 0 });
  // On MongoDB alone the other process obeys within a second.
  await sleep(1_100);
  const client = await one.register({ scope: 'openid offline_access', rotate_refresh_tokens: 'always' });
  const people = names.map((username) => ({ username, agents: agentsFor(deployment) }));
  await Promise.all(
    people.map(async ({ username, agents }) => {
      await one.createUser(username);
      const ledger = emptyLedger();
      for (const agent of agents) await askForCode(ledger, agent, client, username);
      assert.deepEqual([ledger.odd, ledger.codes.length], [[], 2]);
    }),
  );
  return { client, people };
}

const ENOUGH = 8;

/** Until a kill would meet something of everything. A load that stands still is told with what it was answered. */
export async function untilBusy(ledger: Ledger): Promise<void> {
  const isBusy = (): boolean =>
    ledger.done >= ENOUGH && ledger.users.length > 0 && ledger.codes.length > 2 && ledger.revoked.length > 0;
  await millisecondsUntil(isBusy).catch((cause: unknown) => {
    const { done, broken, users, codes, revoked, refusals, odd } = ledger;
    const counts = { done, broken, users: users.length, codes: codes.length, revoked: revoked.length };
    const told = `${JSON.stringify(counts)}, 503 told: ${spread(refusals)}, odd: ${odd.slice(0, 5).join('\n')}`;
    throw new Error(`the load stands still: ${told}`, { cause });
  });
}

/** All rounds in one. */
export function sum(ledgers: readonly Ledger[]): Ledger {
  return {
    users: ledgers.flatMap(({ users }) => users),
    labels: ledgers.flatMap(({ labels }) => labels),
    codes: ledgers.flatMap(({ codes }) => codes),
    // Replayed, so that nothing of them is good any more.
    refreshTokens: [],
    revoked: ledgers.flatMap(({ revoked }) => revoked),
    refusals: ledgers.flatMap(({ refusals }) => refusals),
    broken: ledgers.reduce((total, { broken }) => total + broken, 0),
    done: ledgers.reduce((total, { done }) => total + done, 0),
    odd: ledgers.flatMap(({ odd }) => odd),
  };
}

export function tell(t: TestContext, ledgers: readonly Ledger[], replays: number): void {
  const { users, labels, codes, revoked, refusals, broken, done } = sum(ledgers);
  const rotated = ledgers
    .flatMap(({ refreshTokens }) => refreshTokens)
    .filter(({ accepted }) => accepted > 0);
  t.diagnostic(
    `${ledgers.length} rounds: ${done} requests done, ${broken} cut off, ${refusals.length} told 503`,
  );
  t.diagnostic(
    `acknowledged: ${users.length} users, ${labels.length} records, ${codes.length} codes, ${rotated.length} rotations, ${revoked.length} tokens ended`,
  );
  t.diagnostic(`presented again and refused: ${replays}`);
  if (refusals.length > 0) t.diagnostic(`503 told: ${spread(refusals)}`);
}
