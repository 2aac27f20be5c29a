// Test sign-ins ("Try it" in the Admin UI): which authorization request an administrator started, in which browser, and that
// its response arrives once. The protocol core's exceptions for them are in src/oidc/trial-gate.ts.
import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { TrialRecord } from '../store/administration.ts';
import type { EphemeralCollection } from '../store/port.ts';

/** From the start to the callback; nothing that a test sign-in obtains is valid longer (policies.ts). */
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
  /** The parameters of the authorization request. */
  readonly query: URLSearchParams;
  /** RFC 7636 §4.1: proves to the token endpoint that the code is redeemed by the party that started the request. */
  readonly verifier: string;
}

export interface Trials {
  /** @returns the authorization request; its `state` identifies the test sign-in */
  begin(start: TrialStart): Promise<URLSearchParams>;
  /** @returns the test sign-in if it was started in that browser and is not finished */
  find(state: string, browser: string): Promise<Trial | undefined>;
  /** The same, and finishes it: of parallel calls one gets it. */
  take(state: string, browser: string): Promise<Trial | undefined>;
}

interface Deps {
  readonly collection: EphemeralCollection<TrialRecord>;
  readonly clock: Clock;
  readonly newSecret: () => string;
  readonly secretDigest: (secret: string) => string;
  /** Derives verifiers from states, so that none is stored; secret, the same in every process. */
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
