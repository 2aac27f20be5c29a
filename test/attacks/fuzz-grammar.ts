// Builds requests from the known addresses, real values and words (fuzz-words.ts) by a seeded random generator, so that a
// seed repeats a run.
import {
  CLAIMS,
  CONTENT_TYPES,
  FIELDS,
  HEADER_NAMES,
  HOSTILE,
  METHODS,
  PARAMETERS,
  QUERY,
  RIGHT,
} from './fuzz-words.ts';
import type { Route } from './routes.ts';

export interface MadeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
}

/** Things that are right, so that made-up requests get past the first door. */
export interface Treasure {
  readonly routes: readonly Route[];
  readonly adminToken: string;
  readonly clients: readonly { readonly id: string; readonly secret: string }[];
  readonly userIds: readonly string[];
  /** Codes, tokens, cookies, interaction ids: whatever was issued once. */
  readonly values: readonly string[];
  readonly cookies: readonly string[];
  readonly redirectUri: string;
}

export function createGrammar(random: () => number, treasure: () => Treasure) {
  const chance = (share: number): boolean => random() < share;
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]): T => {
    const item = items[below(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  };

  /** One small damage: cut, doubled, a letter changed, something in the middle. */
  function damaged(value: string): string {
    const at = below(value.length + 1);
    switch (below(4)) {
      case 0:
        return value.slice(0, at);
      case 1:
        return value + value.slice(at);
      case 2:
        return `${value.slice(0, at)}${String.fromCharCode(below(0x250))}${value.slice(at + 1)}`;
      default:
        return value.slice(0, at) + pick(HOSTILE) + value.slice(at);
    }
  }

  function nested(depth: number): string {
    const [open, close] = pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    return `${open.repeat(depth)}1${close.repeat(depth)}`;
  }

  function value(name: string): string {
    if (chance(0.15)) return pick(HOSTILE);
    const { clients, values, userIds, redirectUri } = treasure();
    const right = Object.hasOwn(RIGHT, name) ? RIGHT[name as keyof typeof RIGHT] : undefined;
    let chosen: string;
    if (right !== undefined) chosen = pick(right);
    else if (name === 'client_id') chosen = pick(clients).id;
    else if (name === 'client_secret') chosen = pick(clients).secret;
    else if (/redirect_uri/.test(name)) chosen = redirectUri;
    else if (name === 'claims') chosen = chance(0.3) ? nested(below(3000)) : pick(CLAIMS);
    else if (/user_id|login_hint|username/.test(name)) chosen = pick(userIds);
    else if (/code|token|request_uri|interaction|csrf|xsrf|assertion/.test(name)) chosen = pick(values);
    else chosen = pick(HOSTILE);
    return chance(0.15) ? damaged(chosen) : chosen;
  }

  const encoded = (text: string): string =>
    chance(0.03) ? text.replace(/[\s#]/g, '+') : encodeURIComponent(text.toWellFormed());

  function parameters(names: readonly string[], count: number): string {
    const pairs = Array.from({ length: count }, () => {
      const name = chance(0.03) ? pick(HOSTILE) : pick(names);
      return `${encoded(name)}=${encoded(value(name))}`;
    });
    if (chance(0.6)) pairs.unshift(`client_id=${encoded(value('client_id'))}`, 'scope=openid');
    return pairs.join('&');
  }

  function json(depth = 0): unknown {
    switch (below(depth > 3 ? 5 : 8)) {
      case 0:
        return pick(HOSTILE);
      case 1:
        return below(2) === 0;
      case 2:
        return pick([0, -1, 1.5, 1e308, 2 ** 53, 60, 900]);
      case 3:
        return null;
      case 4:
        return pick(treasure().values);
      case 5:
        return Array.from({ length: below(4) }, () => json(depth + 1));
      default:
        return Object.fromEntries(
          Array.from({ length: below(6) }, () => [
            chance(0.9) ? pick(FIELDS) : pick(HOSTILE),
            json(depth + 1),
          ]),
        );
    }
  }

  /** '' for none. */
  function authorization(route: Route): string {
    const { adminToken, clients, values } = treasure();
    if (route.isAdmin === true && chance(0.85)) return `Bearer ${adminToken}`;
    const { id, secret } = pick(clients);
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    return pick([
      '',
      '',
      basic(`${id}:${secret}`),
      basic(`${id}:${secret}`),
      basic(damaged(`${id}:${secret}`)),
      basic(pick(HOSTILE)),
      `Bearer ${pick(values)}`,
      `Bearer ${damaged(pick(values))}`,
      `bearer  ${pick(values)}`,
      'Basic',
      'Negotiate YII=',
    ]);
  }

  // What node:http itself refuses to send never arrives.
  const sendable = (text: string): string => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 4000);

  const printable = (text: string): string => text.replace(/[^!-~]/g, '');

  function headers(route: Route, type: string | undefined): [string, string][] {
    const made: [string, string][] = [];
    const credentials = authorization(route);
    if (credentials !== '') made.push(['Authorization', sendable(credentials)]);
    if (type !== undefined && type !== '') made.push(['Content-Type', type]);
    if (chance(0.4))
      made.push([
        'Cookie',
        sendable(chance(0.8) ? pick(treasure().cookies) : damaged(pick(treasure().cookies))),
      ]);
    if (chance(0.2)) made.push([pick(HEADER_NAMES), sendable(pick(HOSTILE))]);
    return made;
  }

  function path(route: Route): string {
    const { userIds, values } = treasure();
    const filled = route.path.replace(/0{8}-[\w-]+|a{43}/g, () => {
      const id = pick([pick(userIds), pick(userIds), pick(values), pick(HOSTILE)]);
      return encodeURIComponent(id.toWellFormed());
    });
    if (chance(0.02)) return `/${printable(damaged(filled))}`;
    if (route.method !== 'GET' && !chance(0.1)) return filled;
    const names = route.path.startsWith('/admin/api') ? QUERY : PARAMETERS;
    return printable(`${filled}?${parameters(names, below(10))}`.slice(0, 7500));
  }

  return function make(): MadeRequest {
    const route = pick(treasure().routes);
    const method = chance(0.95) ? route.method : pick(METHODS);
    const hasBody = route.body !== undefined && method !== 'GET' && method !== 'HEAD';
    if (!hasBody) return { method, path: path(route), headers: headers(route, undefined) };
    const right = route.body === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
    const text =
      route.body === 'json'
        ? chance(0.9)
          ? (JSON.stringify(json()) ?? '')
          : nested(below(3000))
        : parameters(PARAMETERS, below(14));
    const body = chance(0.05) ? damaged(text) : text;
    return {
      method,
      path: path(route),
      headers: headers(route, chance(0.95) ? right : pick(CONTENT_TYPES)),
      body,
    };
  };
}
