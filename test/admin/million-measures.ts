// The measurements with a million documents: which lists and pages, how often, and the figures as a table.
import { equal } from 'node:assert/strict';
import { Agent } from '../support/agent.ts';
import { ADMIN_TOKEN, PASSWORD, type TestApp } from '../support/app.ts';

export interface Figure {
  readonly what: string;
  /** The first answer, with nothing of it in any cache of ours. */
  readonly firstMs: number;
  readonly medianMs: number;
  readonly maxMs: number;
  /** Of processor time, client and server together: what a busy machine does not change. */
  readonly cpuMs: number;
  readonly total: number | undefined;
}

const TIMES = 20;

const medianOf = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

export async function timed(
  what: string,
  act: () => Promise<number | undefined>,
  times = TIMES,
): Promise<Figure> {
  const taken: number[] = [];
  const cpu: number[] = [];
  let total: number | undefined;
  for (let n = 0; n <= times; n += 1) {
    const startedAt = performance.now();
    const before = process.cpuUsage();
    total = await act();
    taken.push(performance.now() - startedAt);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
  }
  const [firstMs = 0, ...rest] = taken;
  return {
    what,
    firstMs,
    medianMs: medianOf(rest),
    maxMs: Math.max(...rest),
    cpuMs: medianOf(cpu.slice(1)),
    total,
  };
}

export const lineOf = ({ what, firstMs, medianMs, maxMs, cpuMs, total }: Figure): string =>
  `${what.padEnd(66)} first ${firstMs.toFixed(0).padStart(6)}  median ${medianMs.toFixed(1).padStart(7)}  max ${maxMs
    .toFixed(0)
    .padStart(6)}  cpu ${cpuMs.toFixed(1).padStart(7)} ms${total === undefined ? '' : `  total ${total}`}`;

/** An address of the admin API whose answer is a list. */
export const timedList = (app: TestApp, path: string, times?: number): Promise<Figure> =>
  timed(
    `GET ${path.replace(/cursor=[^&]+/, 'cursor=…')}`,
    async () => {
      const response = await fetch(`${app.url}/admin/api${path}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      const body: { data?: { total?: number } } = JSON.parse(await response.text());
      equal(response.status, 200, `${path}: ${JSON.stringify(body)}`);
      return body.data?.total;
    },
    times,
  );

/** A page of the Admin UI, as someone sees it who is signed in. */
export const timedPage = (agent: Agent, path: string, times?: number): Promise<Figure> =>
  timed(
    `page ${path}`,
    async () => {
      const page = await agent.get(path);
      equal(page.status, 200, path);
      return undefined;
    },
    times,
  );

export async function enterConsole(app: TestApp, username: string): Promise<Agent> {
  const agent = new Agent(app);
  const page = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(page, { username, password: PASSWORD })).status, 200);
  return agent;
}

const firstPages = (sorts: readonly string[]): string[] =>
  sorts.flatMap((sort) => [`sort=${sort}&order=asc`, `sort=${sort}&order=desc`]);

export const userLists: readonly string[] = [
  '',
  ...firstPages(['created_at', 'updated_at', 'last_login_at', 'username', 'name', 'email', 'role', 'id']),
  'role=user',
  'role=admin',
  'is_active=true',
  'is_active=false',
  'is_email_verified=true',
  'is_email_verified=false',
  'totp_verified=true',
  'totp_verified=false',
  'is_locked=true',
  'is_locked=false',
  'group=team-7',
  'group=board',
  'is_active=true&totp_verified=true',
  'is_active=false&sort=username&order=asc',
  `created_at_from=${new Date(Date.now() - 20 * 86_400_000).toISOString()}`,
  `last_login_at_to=${new Date(Date.now() - 200 * 86_400_000).toISOString()}`,
  'search=smith',
  'search=anna',
  'search=sakura%20yamamoto',
  'search=m%C3%BCller&sort=name&order=asc',
  'search=a',
  'search=ada.smith77',
  'search=nobody.has.this.name',
  'search=example.com&is_active=false',
  'offset=500000',
].map((query) => `/users${query === '' ? '' : `?${query}`}`);

const lastDay = {
  from: new Date(Date.now() - 2 * 86_400_000).toISOString(),
  to: new Date(Date.now() - 86_400_000).toISOString(),
};

export const logLists: readonly string[] = [
  '/audit',
  '/audit?sort=event&order=asc',
  '/audit?event=signin.failure',
  '/audit?outcome=failure',
  '/audit?event=none.such',
  '/audit?actor_id=person-77',
  '/audit?client_id=client-3',
  '/audit?ip_address=198.51.7.7',
  `/audit?at_from=${lastDay.from}`,
  `/audit?event=signin.success&at_from=${lastDay.from}&at_to=${lastDay.to}`,
  '/audit?offset=500000',
  '/sessions',
  '/sessions?is_active=true',
  '/sessions?is_active=false',
  '/sessions?user_id=person-77',
  '/sessions?search=198.51.7',
  '/tokens',
  '/tokens?client_id=client-3',
  '/tokens?user_id=person-77',
  '/stats',
];

/** @returns the addresses of pages far behind the first, by cursors as a program has them that walks the list */
export async function deepPages(app: TestApp): Promise<string[]> {
  const found: string[] = [];
  for (const query of [
    'sort=created_at',
    'sort=username&order=asc',
    'sort=last_login_at',
    'is_active=true',
  ]) {
    const { body } = await app.admin('GET', `/users?${query}&offset=500000&limit=1`);
    found.push(`/users?${query}&limit=50&cursor=${encodeURIComponent(String(body.data.next))}`);
  }
  return found;
}
