// Owns what the sample remembers about each browser, in memory, behind a random cookie that no script can read.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pending, Tokens } from './sign-in.ts';
import type { Claims } from './token-facts.ts';

export interface Notice {
  readonly text: string;
  /** What an endpoint answered, to be shown below the sentence. */
  readonly answer?: Claims;
  readonly isProblem?: boolean;
}

export interface Visit {
  /** By state: several tabs may be on their way at once. */
  readonly pending: Map<string, Pending>;
  tokens?: Tokens | undefined;
  /** Of a sign-out that is on its way. */
  signOutState?: string | undefined;
  /** Shown once, by the next page. */
  notice?: Notice | undefined;
}

const MAX_VISITS = 1_000;
const MAX_PENDING = 20;

function dropOldest(map: Map<string, unknown>, limit: number): void {
  for (const key of map.keys()) {
    if (map.size <= limit) return;
    map.delete(key);
  }
}

/** @param cookieName one of its own, since browsers share the cookies of all ports of a host */
export function createBrowsers(cookieName: string) {
  const visits = new Map<string, Visit>();

  const idOf = (request: IncomingMessage): string | undefined =>
    (request.headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .find(([name]) => name === cookieName)?.[1];

  function begin(response: ServerResponse): Visit {
    const id = randomBytes(32).toString('base64url');
    const visit: Visit = { pending: new Map() };
    visits.set(id, visit);
    dropOldest(visits, MAX_VISITS);
    response.setHeader('Set-Cookie', `${cookieName}=${id}; Path=/; HttpOnly; SameSite=Lax`);
    return visit;
  }

  return {
    /** The visit that the request belongs to; undefined for a browser not seen before. */
    find: (request: IncomingMessage): Visit | undefined => visits.get(idOf(request) ?? ''),

    /** As above, else a new one. */
    findOrBegin: (request: IncomingMessage, response: ServerResponse): Visit =>
      visits.get(idOf(request) ?? '') ?? begin(response),

    /** Somebody else from now on: what was known goes, and an id that was planted before is worth nothing. */
    renew(request: IncomingMessage, response: ServerResponse): Visit {
      const before = visits.get(idOf(request) ?? '');
      visits.delete(idOf(request) ?? '');
      const visit = begin(response);
      for (const [state, pending] of before?.pending ?? []) visit.pending.set(state, pending);
      return visit;
    },

    remember(visit: Visit, pending: Pending): void {
      visit.pending.set(pending.state, pending);
      dropOldest(visit.pending, MAX_PENDING);
    },

    forgetAll: (): void => visits.clear(),
  };
}

export type Browsers = ReturnType<typeof createBrowsers>;
