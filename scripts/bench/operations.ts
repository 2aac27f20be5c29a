// The operations of goals P1 to P6, each with its lower bound: as many signatures, as many bytes.
import { setTimeout as sleep } from 'node:timers/promises';
import { type NextRequest, requestBytes } from './http-load.ts';
import type { Prepared } from './prepare.ts';

export interface Operation {
  readonly goal: string;
  readonly name: string;
  /** Share of the floor's throughput. */
  readonly limit: number;
  /** Path at the floor server: /signatures/bytes. */
  readonly floor: Buffer;
  readonly requests: (
    prepared: Prepared,
    ms: number,
    connections: number,
  ) => Promise<NextRequest> | NextRequest;
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const TOKEN = '/oauth2/token';
/** Codes prepared for a millisecond of a round. */
const CODES_PER_MS = 0.8;
const TOKENS_PER_MS = 4;
/** So that most rounds do not follow the issuing of tokens, whose garbage they would collect. */
const ROUNDS_AT_ONCE = 6;
const SETTLED_MS = 1500;
const unseen = new WeakMap<Prepared, string[]>();

export const always =
  (request: Buffer): NextRequest =>
  () =>
    request;

const floorGet = (bytes: number): Buffer => requestBytes('GET', `/0/${bytes}`, {});
const floorPost = (signatures: number, bytes: number, sent: number): Buffer =>
  requestBytes('POST', `/${signatures}/${bytes}`, FORM, 'x'.repeat(sent));

const introspection = (token: string, authorization: string): Buffer =>
  requestBytes('POST', '/oauth2/introspect', { ...FORM, Authorization: authorization }, `token=${token}`);

const introspecting = async (prepared: Prepared, authorization: string): Promise<NextRequest> =>
  always(introspection(await prepared.accessToken(), authorization));

export const operations: readonly Operation[] = [
  {
    goal: 'P1',
    name: 'client credentials (RS256 JWT)',
    limit: 0.68,
    floor: floorPost(1, 900, 60),
    requests: ({ basic }) =>
      always(requestBytes('POST', TOKEN, { ...FORM, Authorization: basic }, 'grant_type=client_credentials')),
  },
  {
    goal: 'P2',
    name: 'code exchange (access, ID, refresh token)',
    limit: 0.57,
    floor: floorPost(2, 2300, 200),
    async requests(prepared, ms) {
      const codes = await prepared.codes(Math.ceil(ms * CODES_PER_MS));
      const headers = { ...FORM, Authorization: prepared.basic };
      return () => {
        const code = codes.pop();
        return code === undefined ? undefined : requestBytes('POST', TOKEN, headers, prepared.exchange(code));
      };
    },
  },
  {
    goal: 'P3',
    name: 'refresh with rotation',
    limit: 0.55,
    floor: floorPost(2, 2300, 120),
    async requests(prepared, _ms, connections) {
      const tokens = await prepared.refreshTokens(connections);
      const headers = { ...FORM, Authorization: prepared.basic };
      return (connection, body) => {
        const token = body === '' ? (tokens[connection] ?? '') : String(JSON.parse(body).refresh_token);
        return requestBytes('POST', TOKEN, headers, `grant_type=refresh_token&refresh_token=${token}`);
      };
    },
  },
  {
    goal: 'P5',
    name: 'discovery',
    limit: 0.85,
    floor: floorGet(2300),
    requests: () => always(requestBytes('GET', '/.well-known/openid-configuration', {})),
  },
  {
    goal: 'P5',
    name: 'JWKS',
    limit: 0.85,
    floor: floorGet(450),
    requests: () => always(requestBytes('GET', '/.well-known/jwks.json', {})),
  },
  {
    goal: 'P6',
    name: 'userinfo',
    limit: 0.3,
    floor: floorPost(0, 200, 20),
    async requests(prepared) {
      const token = await prepared.accessToken();
      return always(requestBytes('GET', '/oauth2/userinfo', { Authorization: `Bearer ${token}` }));
    },
  },
  {
    goal: 'P6',
    name: 'introspection by a client',
    limit: 0.2,
    floor: floorPost(0, 500, 900),
    requests: (prepared) => introspecting(prepared, prepared.basic),
  },
  {
    goal: 'P6',
    name: 'introspection by a client, each token asked about once',
    limit: 0.15,
    floor: floorPost(0, 500, 900),
    async requests(prepared, ms) {
      const tokens = unseen.get(prepared) ?? [];
      unseen.set(prepared, tokens);
      const needed = Math.ceil(ms * TOKENS_PER_MS);
      if (tokens.length < needed) {
        tokens.push(...(await prepared.accessTokens(needed * ROUNDS_AT_ONCE)));
        // What issuing them left to be done, once a second (src/oidc/tokens/token-events.ts), is no part of it.
        await sleep(SETTLED_MS);
      }
      return () => {
        const token = tokens.pop();
        return token === undefined ? undefined : introspection(token, prepared.basic);
      };
    },
  },
  {
    goal: 'P6',
    name: 'introspection by an admin bearer',
    limit: 0.2,
    floor: floorPost(0, 500, 900),
    requests: (prepared) => introspecting(prepared, `Bearer ${prepared.adminToken}`),
  },
];

/** The client credentials of an application with opaque access tokens: nothing is signed, so the store decides. */
export const opaqueTokens = ({ opaque }: Prepared): NextRequest =>
  always(requestBytes('POST', TOKEN, { ...FORM, Authorization: opaque }, 'grant_type=client_credentials'));
