// Test sign-ins ("Try it" in the Admin UI): which authorization request an administrator started, in which browser, that its
// response arrives once, and the gate in front of the authorization endpoint, which alone lets such a request in.
import { createHash, createHmac } from 'node:crypto';
import type Koa from 'koa';
import { passingId } from '../../client-ids.ts';
import { newSecret, secretDigest } from '../../ids.ts';
import { type ProtocolDoors, TRY_CALLBACK, vouchFor } from '../../oidc/index.ts';
import { type TestSignInRecord, testSignIns } from '../../store/administration.ts';

/** From the start to the callback. */
const TEST_SIGN_IN_SECONDS = 600;

type Starter = Pick<TestSignInRecord, 'clientId' | 'adminId' | 'sessionUid'>;

export interface TestSignIn extends Starter {
  /** The parameters of the authorization request; its `state` identifies the test sign-in. */
  readonly query: URLSearchParams;
  /** RFC 7636 §4.1: proves to the token endpoint that the code is redeemed by the party that started the request. */
  readonly verifier: string;
}

export type TestSignIns = ReturnType<typeof createTestSignIns>;

export function createTestSignIns(doors: ProtocolDoors) {
  const { store, clock, csrf, browser, directory, grants, baseUrl } = doors;
  /** Derives verifiers from states, so that none is stored; secret, the same in every process. */
  const [key = ''] = doors.cookieKeys;
  const collection = store.ephemeral(testSignIns);
  const redirectUri = `${baseUrl}${TRY_CALLBACK}`;
  const verifierOf = (state: string): string =>
    createHmac('sha256', key).update(['trial-verifier', state].join('\n')).digest('base64url');

  function browserOf(ctx: Koa.Context): string | undefined {
    const id = csrf.existingBrowserId(ctx);
    return id === undefined ? undefined : secretDigest(id);
  }

  /** @returns the test sign-in if it was started in this browser, is not finished, and who started it still administers */
  async function find(ctx: Koa.Context, state: string): Promise<TestSignIn | undefined> {
    const record = (await collection.find(secretDigest(state)))?.value;
    if (record === undefined || record.browser !== browserOf(ctx)) return undefined;
    const account = await directory.find(record.adminId);
    if (account?.role !== 'admin' || !directory.isUsable(account)) return undefined;
    const query = new URLSearchParams({ ...record.parameters, state });
    return { ...record, query, verifier: verifierOf(state) };
  }

  /** @returns the application whose sign-in an administrator of this browser and session started with exactly this request */
  async function clientStarted(ctx: Koa.Context, query: URLSearchParams): Promise<string | undefined> {
    const found = await find(ctx, query.get('state') ?? '');
    if (found === undefined || query.toString() !== found.query.toString()) return undefined;
    const session = await browser.current(ctx);
    const isSame = session?.uid === found.sessionUid && session.accountId === found.adminId;
    return isSame ? found.clientId : undefined;
  }

  return {
    redirectUri,

    /** Must run before the protocol's routes: here alone the application's passing id comes into a request. */
    async gate(ctx: Koa.Context, next: Koa.Next): Promise<void> {
      const query = new URLSearchParams(ctx.querystring);
      const isAsked = ctx.path === '/oauth2/authorize' && ctx.method === 'GET';
      if (isAsked && query.get('redirect_uri') === redirectUri) {
        const clientId = await clientStarted(ctx, query);
        if (clientId !== undefined) {
          query.set('client_id', passingId(clientId));
          ctx.querystring = query.toString();
          vouchFor(ctx.req);
        }
      }
      return next();
    },

    /** @param chosen by the administrator: scope, prompt, … @returns the authorization request */
    async begin(
      ctx: Koa.Context,
      start: Starter,
      chosen: Readonly<Record<string, string>>,
    ): Promise<URLSearchParams> {
      const browserDigest = browserOf(ctx);
      // The CSRF check of the form has already required the cookie.
      if (browserDigest === undefined)
        throw new TypeError('a form was taken from a browser without a cookie');
      const state = newSecret();
      const parameters = {
        client_id: start.clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        ...chosen,
        nonce: newSecret(),
        code_challenge: createHash('sha256').update(verifierOf(state)).digest('base64url'),
        code_challenge_method: 'S256',
      };
      const expiresAt = clock() + TEST_SIGN_IN_SECONDS * 1000;
      const record = { ...start, browser: browserDigest, parameters };
      await collection.insert(secretDigest(state), record, { expiresAt });
      return new URLSearchParams({ ...parameters, state });
    },

    /** Finishes it: of parallel calls one gets it. */
    async take(ctx: Koa.Context, state: string): Promise<TestSignIn | undefined> {
      const found = await find(ctx, state);
      return found !== undefined && (await collection.remove(secretDigest(state))) ? found : undefined;
    },

    /** Revokes all grants of the application's test sign-ins in this browser's session. */
    async endGrants(ctx: Koa.Context, clientId: string): Promise<void> {
      const session = await browser.current(ctx);
      if (session !== undefined) await grants.revokeOfClientInSession(session.uid, passingId(clientId));
    },
  };
}
