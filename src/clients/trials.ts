// Owns trials of an application ("Try it" in the Admin UI): which sign-in an administrator began, in which browser, and
// that it comes back once. What the protocol core does differently for one is src/oidc/test-sign-in-gate.ts.
import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { TrialRecord } from '../store/administration.ts';
import type { EphemeralCollection } from '../store/port.ts';

/** From the press of the button to the way back; nothing that a trial gave outlives it either (policies.ts). */
export const TRIAL_SECONDS = 600;

export interface TrialStart {
  readonly clientId: string;
  readonly adminId: string;
  readonly sessionUid: string;
  /** Digest of the browser's id. */
  readonly browser: string;
  readonly redirectUri: string;
  /** What the administrator chose: scope, prompt, … */
  readonly parameters: Readonly<Record<string, string>>;
}

export interface Trial extends Pick<TrialRecord, 'clientId' | 'adminId' | 'sessionUid'> {
  /** The authorization request, as it must be. */
  readonly query: URLSearchParams;
  /** RFC 7636 §4.1: proves to the token endpoint that whoever redeems the code began the request. */
  readonly verifier: string;
}

export interface Trials {
  /** @returns the authorization request; its `state` names the trial */
  begin(start: TrialStart): Promise<URLSearchParams>;
  /** @returns the trial if it was begun in that browser and has not come back yet */
  find(state: string, browser: string): Promise<Trial | undefined>;
  /** The same, and it is over: of several that ask at once one gets it. */
  take(state: string, browser: string): Promise<Trial | undefined>;
}

interface Deps {
  readonly collection: EphemeralCollection<TrialRecord>;
  readonly clock: Clock;
  readonly newSecret: () => string;
  readonly secretDigest: (secret: string) => string;
  /** Makes verifiers out of states, so that none is stored; secret, the same in every process. */
  readonly key: string;
}

export function createTrials({ collection, clock, newSecret, secretDigest, key }: Deps): Trials {
  const verifierOf = (state: string): string =>
    createHmac('sha256', key).update(`trial-verifier\n${state}`).digest('base64url');

  async function find(state: string, browser: string): Promise<Trial | undefined> {
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
      const expiresAt = clock() + TRIAL_SECONDS * 1000;
      await collection.insert(secretDigest(state), { ...start, parameters }, { expiresAt });
      return new URLSearchParams({ ...parameters, state });
    },

    async take(state, browser) {
      const trial = await find(state, browser);
      return trial !== undefined && (await collection.remove(secretDigest(state))) ? trial : undefined;
    },
  };
}
