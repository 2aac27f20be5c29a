// What some application may use that discovery does not say otherwise, for the discovery document. Each process reads it from the store again when the
// document is requested, at most once a minute and without delaying the response, which clients cache for five minutes anyway.
import type { Clients } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import type { InUse } from '../discovery.ts';

const CHECK_MS = 60_000;

type Known = Pick<InUse, 'passwordGrant' | 'signedResponses' | 'accountScopes' | 'initialAccess'>;

export interface GrantsInUse {
  /** As of the last check; starts the next one when that is due. */
  current(): Known;
  /** Never rejects: without the store, what was known stays. */
  check(): Promise<void>;
}

export interface GrantsInUseDeps {
  readonly clients: Pick<Clients, 'hasPasswordGrant' | 'hasSignedResponses' | 'hasAccountScopes'> & {
    readonly initialAccessTokens: Pick<Clients['initialAccessTokens'], 'hasUsable'>;
  };
  readonly clock: Clock;
}

export function createGrantsInUse(deps: GrantsInUseDeps): GrantsInUse {
  const { clients, clock } = deps;
  let known: Known = {
    passwordGrant: false,
    signedResponses: false,
    accountScopes: false,
    initialAccess: false,
  };
  let checkedAt: number | undefined;

  async function check(): Promise<void> {
    checkedAt = clock();
    try {
      const [passwordGrant, signedResponses, accountScopes, initialAccess] = await Promise.all([
        clients.hasPasswordGrant(),
        clients.hasSignedResponses(),
        clients.hasAccountScopes(),
        clients.initialAccessTokens.hasUsable(),
      ]);
      known = { passwordGrant, signedResponses, accountScopes, initialAccess };
    } catch {
      // The next request tries again.
    }
  }

  return {
    check,
    current() {
      if (checkedAt === undefined || Math.abs(clock() - checkedAt) >= CHECK_MS) void check();
      return known;
    },
  };
}
