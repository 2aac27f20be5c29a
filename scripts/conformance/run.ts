// Runs one plan: starts its modules one after the other, opens what each wants opened, and waits for what the suite says of it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type Calls, listIn, memberOf, textIn } from './calls.ts';
import { freshContext } from './chromium.ts';
import { configurationOf, personOf, type Target } from './configuration.ts';
import { approveAddresses } from './operator.ts';
import { createAlbum } from './pictures.ts';
import type { Plan } from './plans.ts';
import { goOn, open, type Visit } from './visit.ts';

export interface Outcome {
  readonly module: string;
  /** Those that the plan sets for this module, such as the response type. */
  readonly variant: unknown;
  /** PASSED, REVIEW (a picture to look at), WARNING, SKIPPED, FAILED; NONE when it never ended. */
  readonly result: string;
  readonly findings: readonly string[];
  readonly pictures: readonly string[];
}

interface Session {
  readonly plan: Plan;
  readonly calls: Calls;
  readonly target: Target;
  readonly browser: Browser;
  /** The only module to run. */
  readonly module: string | undefined;
  /** For pictures. */
  readonly folder: string | undefined;
  readonly onOutcome: (outcome: Outcome) => void;
}

const STEP_MS = 250;
/** The suite looks for uploaded pictures in growing intervals of up to half a minute. */
const IDLE_MS = 75_000;
/** Modules that wait by themselves: for a code to age, for keys to rotate, for a pushed request to expire. */
const ALL_MS = 900_000;
const ENDED = ['FINISHED', 'INTERRUPTED'];

/** Opens what the module wants opened now. @returns whether there was something */
async function visitNext(page: Page, id: string, { calls, plan }: Session, visit: Visit): Promise<boolean> {
  const wanted = memberOf(memberOf(await calls.suite('GET', `runner/${id}`), 'browser'), 'urlsWithMethod');
  const [next] = listIn(wanted);
  if (next === undefined) return false;
  // Its applications are registered by now.
  if (plan.isDynamic === true) await approveAddresses(calls.admin);
  const url = textIn(next, 'url');
  // First: what comes back may already want the same address opened again.
  await calls.suite('POST', `runner/browser/${id}/visit?${new URLSearchParams({ url })}`);
  await open(page, url, textIn(next, 'method'), visit.suite);
  return true;
}

async function follow(page: Page, id: string, module: string, session: Session, visit: Visit) {
  const { calls } = session;
  const started = performance.now();
  let [heard, isLookedAt] = [started, false];
  let info: unknown;
  while (performance.now() - started < ALL_MS) {
    info = await calls.suite('GET', `info/${id}`);
    const status = textIn(info, 'status');
    if (ENDED.includes(status)) return info;
    if (status === 'CONFIGURED') {
      if (module === 'oidcc-server-rotate-keys') await calls.admin('POST', '/keys/rotate', {});
      await calls.suite('POST', `runner/${id}`).catch(() => undefined);
    }
    if (status === 'WAITING' && (await visitNext(page, id, session, visit))) {
      // Of this module's two visits the first one only looks at the page.
      const isOnlyLook = module.includes('prior-to-auth-completion') && !isLookedAt;
      isLookedAt = true;
      if (!isOnlyLook) await goOn(page, visit);
      heard = performance.now();
    }
    if (status !== 'WAITING') heard = performance.now();
    if (performance.now() - heard > IDLE_MS) break;
    await sleep(STEP_MS);
  }
  await calls.suite('DELETE', `runner/${id}`).catch(() => undefined);
  return info;
}

async function runModule(planId: string, entry: unknown, at: number, session: Session): Promise<Outcome> {
  const { plan, calls, target, browser, folder } = session;
  const module = textIn(entry, 'testModule');
  const variant = memberOf(entry, 'variant');
  const query = new URLSearchParams({ test: module, plan: planId, variant: JSON.stringify(variant ?? {}) });
  const { suite, baseUrl } = target;
  const context = await freshContext(browser, [new URL(suite).origin, new URL(baseUrl).origin]);
  try {
    const page = await context.newPage();
    const id = textIn(await calls.suite('POST', `runner?${query}`), 'id');
    const album = createAlbum(calls, id, `${plan.name}-${at}-${module}`, folder);
    const visit: Visit = {
      suite,
      person: personOf(plan, target),
      isRefusing: module.includes('user-rejects'),
      picture: (kind) => album.fill(page, kind),
      hasEnded: async () => ENDED.includes(textIn(await calls.suite('GET', `info/${id}`), 'status')),
    };
    const info = await follow(page, id, module, session, visit);
    const findings = listIn(await calls.suite('GET', `log/${id}`))
      .filter((line) => ['FAILURE', 'WARNING'].includes(textIn(line, 'result')))
      .map((line) =>
        `${textIn(line, 'result')} ${textIn(line, 'src')}: ${textIn(line, 'msg')}`.slice(0, 300),
      );
    const result = textIn(info, 'result') || 'NONE';
    return { module, variant, result, findings: [...findings, `log ${id}`], pictures: album.files };
  } catch (error) {
    return errorOutcome(module, variant, error);
  } finally {
    await context.close();
  }
}

/** Of what the driver could not bring to an end. */
export const errorOutcome = (module: string, variant: unknown, error: unknown): Outcome => ({
  module,
  variant,
  result: 'ERROR',
  findings: [String(error)],
  pictures: [],
});

export async function runPlan(session: Session): Promise<void> {
  const { plan, calls, target } = session;
  const query = new URLSearchParams({ planName: plan.plan, variant: JSON.stringify(plan.variant) });
  const made = await calls.suite('POST', `plan?${query}`, await configurationOf(plan, calls, target));
  for (const [at, entry] of listIn(memberOf(made, 'modules')).entries()) {
    if (session.module !== undefined && session.module !== textIn(entry, 'testModule')) continue;
    session.onOutcome(await runModule(textIn(made, 'id'), entry, at + 1, session));
  }
}
