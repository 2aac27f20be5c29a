// Test sign-ins ("Try it" in the Admin UI): which authorization request an administrator started, in which browser, and that
// its response arrives once.
import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { newSecret, secretDigest } from '../../ids.ts';
import type { TestSignInRecord } from '../../store/administration.ts';
import type { EphemeralCollection } from '../../store/port.ts';

/** From the start to the callback. */
const TEST_SIGN_IN_SECONDS = 600;

export interface TestSignInStart {
  readonly clientId: string;
  readonly adminId: string;
  readonly sessionUid: string;
  /** Digest of the browser's id. */
  readonly browser: string;
  readonly redirectUri: string;
  /** What the administrator chose: scope, prompt, … */
  readonly parameters: Readonly<Record<string, string>>;
}

export interface TestSignIn extends Pick<TestSignInRecord, 'clientId' | 'adminId' | 'sessionUid'> {
  /** The parameters of the authorization request. */
  readonly query: URLSearchParams;
  /** RFC 7636 §4.1: proves to the token endpoint that the code is redeemed by the party that started the request. */
  readonly verifier: string;
}

export interface TestSignIns {
  /** @returns the authorization request; its `state` identifies the test sign-in */
  begin(start: TestSignInStart): Promise<URLSearchParams>;
  /** @returns the test sign-in if it was started in that browser and is not finished */
  find(state: string, browser: string): Promise<TestSignIn | undefined>;
  /** The same, and finishes it: of parallel calls one gets it. */
  take(state: string, browser: string): Promise<TestSignIn | undefined>;
}

interface Deps {
  readonly collection: EphemeralCollection<TestSignInRecord>;
  readonly clock: Clock;
  /** Derives verifiers from states, so that none is stored; secret, the same in every process. */
  readonly key: string;
}

export function createTestSignIns({ collection, clock, key }: Deps): TestSignIns {
  const verifierOf = (state: string): string =>
    createHmac('sha256', key).update(['trial-verifier', state].join('\n')).digest('base64url');

  async function find(state: string, browser: string): Promise<TestSignIn | undefined> {
    const record = (await collection.find(secretDigest(state)))?.value;
    if (record?.browser !== browser) return undefined;
    const query = new URLSearchParams({ ...record.parameters, state });
    return { ...record, query, verifier: verifierOf(state) };
  }

  return {
    find,

    async begin({ redirectUri, parameters: chosen, ...start }) {
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
      await collection.insert(secretDigest(state), { ...start, parameters }, { expiresAt });
      return new URLSearchParams({ ...parameters, state });
    },

    async take(state, browser) {
      const testSignIn = await find(state, browser);
      return testSignIn !== undefined && (await collection.remove(secretDigest(state)))
        ? testSignIn
        : undefined;
    },
  };
}
