// Runs one plan: registers its applications, starts its modules one after the other, and waits for what the suite says of each.
import { setTimeout as sleep } from 'node:timers/promises';
import { browserFor } from './browser.ts';
import { type Calls, type Json, textIn } from './calls.ts';
import type { Plan } from './plans.ts';

export interface Outcome {
  readonly module: string;
  /** PASSED, REVIEW (a picture to look at), WARNING, SKIPPED, FAILED; NONE when it never ended. */
  readonly result: string;
  readonly findings: readonly string[];
}

interface Target {
  readonly suite: string;
  readonly baseUrl: string;
  readonly issuer: string;
  readonly adminToken: string;
  readonly person: { readonly username: string; readonly password: string };
}

const ALIAS = 'latchkey';
const STEP_MS = 400;
/** Modules that wait by themselves, for a code to age or keys to rotate, get two minutes of waiting; others half a minute. */
const [LONG_STEPS, STEPS, ALL_STEPS] = [300, 80, 400];
const ENDED = ['FINISHED', 'INTERRUPTED'];

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

async function configurationOf(plan: Plan, { admin }: Calls, target: Target): Promise<Json> {
  const { suite, baseUrl, issuer, adminToken, person } = target;
  const callbacks = `${suite}/test/a/${ALIAS}`;
  const register = async (name: string, more: Json = {}): Promise<Json> => {
    const made = await admin('POST', '/clients', {
      client_name: name,
      redirect_uris: [`${callbacks}/callback`, `${callbacks}/callback?dummy1=lorem&dummy2=ipsum`],
      post_logout_redirect_uris: [`${callbacks}/post_logout_redirect`],
      scope: 'openid profile email address phone offline_access',
      skip_consent: true,
      minimal_id_tokens: true,
      grant_types: ['authorization_code', 'refresh_token'],
      ...plan.metadata?.(callbacks),
      ...more,
    });
    return {
      client_id: textIn(made, 'client_id'),
      client_secret: textIn(made, 'client_secret'),
      scope: 'openid',
    };
  };
  // Registered as by an administrator: other registrants always use PKCE, which the suite does not.
  const own = { client_name: 'Conformance', initial_access_token: adminToken };
  const clients = plan.isDynamic
    ? { client: own, client2: own }
    : {
        client: await register('first'),
        client2: await register('second'),
        client_secret_post: await register('post', { token_endpoint_auth_method: 'client_secret_post' }),
      };
  return {
    alias: ALIAS,
    description: plan.name,
    server: {
      discoveryUrl: `${issuer}/.well-known/openid-configuration`,
      login_hint: person.username,
    },
    consent: {},
    ...clients,
    ...browserFor(suite, baseUrl, person),
  };
}

async function waitFor(id: string, module: string, { suite, admin }: Calls): Promise<unknown> {
  const patience = /key-rotation|30seconds/.test(module) ? LONG_STEPS : STEPS;
  let info: unknown;
  for (let step = 0; step < ALL_STEPS; step += 1) {
    info = await suite('GET', `info/${id}`);
    const status = textIn(info, 'status');
    if (ENDED.includes(status) || (status === 'WAITING' && step > patience)) break;
    if (status === 'CONFIGURED' && step > 2) {
      if (module === 'oidcc-server-rotate-keys') await admin('POST', '/keys/rotate', {});
      await suite('POST', `runner/${id}`);
    }
    await sleep(STEP_MS);
  }
  if (!ENDED.includes(textIn(info, 'status'))) await suite('DELETE', `runner/${id}`).catch(() => undefined);
  return info;
}

async function runModule(planId: string, entry: unknown, calls: Calls): Promise<Outcome> {
  const module = textIn(entry, 'testModule');
  const query = new URLSearchParams({
    test: module,
    plan: planId,
    variant: JSON.stringify(memberOf(entry, 'variant') ?? {}),
  });
  try {
    const id = textIn(await calls.suite('POST', `runner?${query}`), 'id');
    const info = await waitFor(id, module, calls);
    const findings = listIn(await calls.suite('GET', `log/${id}`))
      .filter((line) => ['FAILURE', 'WARNING'].includes(textIn(line, 'result')))
      .map((line) =>
        `${textIn(line, 'result')} ${textIn(line, 'src')}: ${textIn(line, 'msg')}`.slice(0, 300),
      );
    return { module, result: textIn(info, 'result') || 'NONE', findings };
  } catch (error) {
    return { module, result: 'ERROR', findings: [String(error)] };
  }
}

export async function runPlan(
  plan: Plan,
  calls: Calls,
  target: Target,
  onOutcome: (outcome: Outcome) => void,
): Promise<readonly Outcome[]> {
  const query = new URLSearchParams({ planName: plan.name, variant: JSON.stringify(plan.variant) });
  const made = await calls.suite('POST', `plan?${query}`, await configurationOf(plan, calls, target));
  const outcomes: Outcome[] = [];
  for (const entry of listIn(memberOf(made, 'modules'))) {
    const outcome = await runModule(textIn(made, 'id'), entry, calls);
    onOutcome(outcome);
    outcomes.push(outcome);
  }
  return outcomes;
}
