// What users and clients do while a process is being killed, and a ledger of the answers, to compare with the deployment
// afterwards (ledger.ts).
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, type Authorization, challengeOf } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, REDIRECT_URI } from '../support/app.ts';
import { isWithin } from '../support/patience.ts';
import type { Deployment, Web } from './deployment.ts';

/** What an outage may cost a caller, and a bit. */
export const PROMPT_MS = 2_000 + 1_000;
const HANGING_MS = 60_000;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** A code or refresh token, and how often the deployment said that it is good. */
export interface Voucher {
  accepted: number;
}
export interface IssuedCode extends Voucher, Pick<Authorization, 'code' | 'verifier'> {}
export interface IssuedRefresh extends Voucher {
  readonly token: string;
  /** Its grant was not ended, and nothing was left unanswered about it. */
  isGood: boolean;
}

export interface Ledger {
  /** Ids of users whose creation was acknowledged. */
  readonly users: string[];
  readonly labels: string[];
  readonly codes: IssuedCode[];
  readonly refreshTokens: IssuedRefresh[];
  /** Tokens whose end was acknowledged. */
  readonly revoked: string[];
  /** Answers of 503, in ms. */
  readonly refusals: number[];
  /** Requests that got no answer because the process or its connection was gone. */
  broken: number;
  /** Requests that were answered as asked. */
  done: number;
  /** What no one should ever be answered. */
  readonly odd: string[];
}

export const emptyLedger = (): Ledger => ({
  users: [],
  labels: [],
  codes: [],
  refreshTokens: [],
  revoked: [],
  refusals: [],
  broken: 0,
  done: 0,
  odd: [],
});

/**
 * One request, and what its answer says about the deployment.
 * @returns undefined when it was refused with 503 or got no answer: it may have happened, or not
 */
export async function ask(
  ledger: Ledger,
  what: string,
  send: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | undefined> {
  const started = performance.now();
  const signal = AbortSignal.timeout(HANGING_MS);
  try {
    const answer = await send(signal);
    const ms = performance.now() - started;
    if (answer.status < 500) return answer;
    const isPrompt = isWithin(ms, PROMPT_MS);
    const isOrderly = answer.status === 503 && /^\d+$/.test(answer.headers.get('retry-after') ?? '');
    if (isOrderly && isPrompt) ledger.refusals.push(ms);
    else ledger.odd.push(`${what}: ${answer.status} after ${Math.round(ms)} ms ${answer.body.slice(0, 300)}`);
  } catch {
    if (signal.aborted) ledger.odd.push(`${what}: no answer`);
    ledger.broken += 1;
  }
  return undefined;
}

export async function call(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

interface Client {
  readonly id: string;
  readonly secret: string;
}

export const tokenRequest = (
  web: Pick<Web, 'url'>,
  client: Client,
  parameters: Record<string, string>,
  signal?: AbortSignal,
): Promise<Answer> =>
  call(`${web.url}/oauth2/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams(parameters),
    ...(signal && { signal }),
  });

export const redemption = ({ code, verifier }: Pick<Authorization, 'code' | 'verifier'>) => ({
  grant_type: 'authorization_code',
  code,
  code_verifier: verifier,
  redirect_uri: REDIRECT_URI,
});

export const rotation = (token: string) => ({ grant_type: 'refresh_token', refresh_token: token });

/** Somebody at a browser for each process, for these have each an address of their own here. */
export type Person = readonly [Agent, Agent];

export function agentsFor({ webs, url }: Pick<Deployment, 'webs' | 'url'>): Person {
  const [one, other] = webs;
  return [new Agent(one, { publicUrl: url }), new Agent(other, { publicUrl: url })];
}

/** What a person reads on a page. */
const textOf = (page: string): string =>
  (page.split('<main')[1] ?? page)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 400);

/** Asks for a code; the password is given where it is asked for. */
export async function askForCode(
  ledger: Ledger,
  agent: Agent,
  client: Client,
  username: string,
): Promise<IssuedCode | undefined> {
  const verifier = randomBytes(32).toString('base64url');
  let location: string | undefined;
  const answer = await ask(ledger, 'authorize', async (signal) => {
    const parameters = new URLSearchParams({
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid offline_access',
      code_challenge: challengeOf(verifier),
      code_challenge_method: 'S256',
    });
    const first = await agent.get(`/oauth2/authorize?${parameters}`, { signal });
    const isAsked = first.status === 200 && first.body.includes('name="password"');
    const page = isAsked ? await agent.submit(first, { username, password: PASSWORD }) : first;
    ({ location } = page);
    return page;
  });
  if (answer === undefined) return undefined;
  const response = new URL(location ?? 'about:blank').searchParams;
  const code = response.get('code');
  if (code !== null) {
    const issued = { code, verifier, accepted: 0 };
    ledger.codes.push(issued);
    ledger.done += 1;
    return issued;
  }
  // RFC 6749 §4.1.2.1: what a browser is told in place of 503.
  if (response.get('error') !== 'temporarily_unavailable')
    ledger.odd.push(`authorize: ${answer.status} ${location ?? textOf(answer.body)}`);
  return undefined;
}

export interface LoadOptions {
  readonly deployment: Pick<Deployment, 'webs' | 'url'>;
  readonly client: Client;
  readonly people: readonly { readonly username: string; readonly agents: Person }[];
  readonly ledger: Ledger;
  /** Whether what Redis has answered may be gone: codes and sessions that no one knows any more are no fault then. */
  readonly isForgetful?: boolean;
}

const json = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
let made = 0;
let turns = 0;

/** Starts it. @returns ends it, when every request has its answer */
export function startLoad({
  deployment,
  client,
  people,
  ledger,
  isForgetful,
}: LoadOptions): () => Promise<void> {
  const { webs } = deployment;
  let isOver = false;
  const breathe = (): Promise<void> => sleep(5);

  async function write(
    path: string,
    body: Record<string, string>,
    turn: number,
  ): Promise<string | undefined> {
    const web = webs[turn % 2] ?? webs[0];
    const answer = await ask(ledger, `POST ${path}`, (signal) =>
      call(`${web.url}/admin/api${path}`, {
        method: 'POST',
        headers: json,
        body: JSON.stringify(body),
        signal,
      }),
    );
    if (answer === undefined) return undefined;
    if (answer.status === 201) {
      ledger.done += 1;
      return String(JSON.parse(answer.body).data.id);
    }
    ledger.odd.push(`POST ${path}: ${answer.status} ${answer.body.slice(0, 200)}`);
    return undefined;
  }

  /** Users, whose passwords cost time, and between them what costs next to none. */
  async function writes(): Promise<void> {
    while (!isOver) {
      made += 1;
      const name = `load-${made}`;
      if (made % 4 === 0) {
        const id = await write('/users', { username: name, password: PASSWORD }, made >> 2);
        if (id !== undefined) ledger.users.push(id);
      } else if ((await write('/initial-access-tokens', { label: name }, made)) !== undefined) {
        ledger.labels.push(name);
      } else await breathe();
    }
  }

  async function obtain(web: Web, voucher: Voucher, parameters: Record<string, string>) {
    const what = parameters.grant_type ?? '';
    const answer = await ask(ledger, what, (signal) => tokenRequest(web, client, parameters, signal));
    if (answer === undefined) return undefined;
    if (answer.status !== 200) {
      if (isForgetful !== true) ledger.odd.push(`${what}: ${answer.status} ${answer.body.slice(0, 200)}`);
      return undefined;
    }
    ledger.done += 1;
    voucher.accepted += 1;
    const { access_token, refresh_token }: Record<string, string> = JSON.parse(answer.body);
    const refresh: IssuedRefresh = { token: refresh_token ?? '', accepted: 0, isGood: true };
    ledger.refreshTokens.push(refresh);
    return { access: access_token ?? '', refresh };
  }

  async function revoke(web: Web, token: string): Promise<boolean> {
    const body = new URLSearchParams({ token });
    const answer = await ask(ledger, 'revoke', (signal) =>
      call(`${web.url}/oauth2/revoke`, { method: 'POST', body, signal }),
    );
    if (answer?.status === 200) ledger.revoked.push(token);
    return answer?.status === 200;
  }

  /** A code from one, redeemed at the other, its refresh token used at the first, and an end put to some of it. */
  async function signIns(username: string, agents: Person): Promise<void> {
    // Whatever one browser session gives an application hangs on one grant.
    const ofGrant: { refresh: IssuedRefresh; access: string }[][] = [[], []];
    while (!isOver) {
      turns += 1;
      const turn = turns;
      const here = turn % 2 === 0 ? 0 : 1;
      const [one, other] = here === 0 ? webs : [webs[1], webs[0]];
      const code = await askForCode(ledger, agents[here], client, username);
      const first = code && (await obtain(other, code, redemption(code)));
      if (first === undefined) {
        await breathe();
        continue;
      }
      first.refresh.isGood = false;
      const next = await obtain(one, first.refresh, rotation(first.refresh.token));
      if (next === undefined) continue;
      ofGrant[here]?.push(first, next);
      if (turn % 5 < 2) await revoke(other, next.access);
      else if (turn % 5 < 4) {
        // Not good any more from the moment on at which that is asked for: there may be no answer.
        const ended = ofGrant[here]?.splice(0) ?? [];
        for (const { refresh } of ended) refresh.isGood = false;
        const isEnded = await revoke(other, next.refresh.token);
        // Where sessions may be forgotten, what came before may hang on the grant of another one.
        const sure = isForgetful === true ? [first, next] : ended;
        if (isEnded) ledger.revoked.push(...sure.flatMap(({ access, refresh }) => [access, refresh.token]));
      }
    }
  }

  const work = [writes(), writes(), ...people.map(({ username, agents }) => signIns(username, agents))];
  return async () => {
    isOver = true;
    await Promise.all(work);
  };
}
