// What the sample stores about each browser: in memory, by a random HttpOnly cookie.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pending, Tokens } from './sign-in.ts';
import type { Claims } from './token-facts.ts';

export interface Notice {
  readonly text: string;
  /** An endpoint's response, shown below the text. */
  readonly answer?: Claims;
  readonly isProblem?: boolean;
}

export interface BrowserSession {
  /** By state: several tabs may sign in at once. */
  readonly pending: Map<string, Pending>;
  tokens?: Tokens | undefined;
  /** Of a registration that this browser began. */
  registrationState?: string | undefined;
  /** Of a sign-out in progress. */
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

/** @param cookieName unique, since browsers share cookies between all ports of a host */
export function createBrowsers(cookieName: string) {
  const visits = new Map<string, BrowserSession>();

  const idOf = (request: IncomingMessage): string | undefined =>
    (request.headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim().split('='))
      .find(([name]) => name === cookieName)?.[1];

  function begin(response: ServerResponse): BrowserSession {
    const id = randomBytes(32).toString('base64url');
    const visit: BrowserSession = { pending: new Map() };
    visits.set(id, visit);
    dropOldest(visits, MAX_VISITS);
    response.setHeader('Set-Cookie', `${cookieName}=${id}; Path=/; HttpOnly; SameSite=Lax`);
    return visit;
  }

  return {
    /** The session of this browser; undefined for an unknown browser. */
    find: (request: IncomingMessage): BrowserSession | undefined => visits.get(idOf(request) ?? ''),

    /** As above, or a new one. */
    findOrCreate: (request: IncomingMessage, response: ServerResponse): BrowserSession =>
      visits.get(idOf(request) ?? '') ?? begin(response),

    /** For a change of user: removes all data and replaces the id, which prevents session fixation. */
    renew(request: IncomingMessage, response: ServerResponse): BrowserSession {
      const before = visits.get(idOf(request) ?? '');
      visits.delete(idOf(request) ?? '');
      const visit = begin(response);
      for (const [state, pending] of before?.pending ?? []) visit.pending.set(state, pending);
      return visit;
    },

    remember(visit: BrowserSession, pending: Pending): void {
      visit.pending.set(pending.state, pending);
      dropOldest(visit.pending, MAX_PENDING);
    },

    forgetAll: (): void => visits.clear(),
  };
}

export type Browsers = ReturnType<typeof createBrowsers>;
