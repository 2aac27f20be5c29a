// What the admin API takes of the doors below (decision 0042); the tests of the API have no more than that.
import type { Keys } from '../../keys/index.ts';
import type { Bearers, ProtocolDoors } from '../../oidc/index.ts';
import type { IssuedTokens } from '../../sessions/index.ts';
import type { Cursors } from './cursor.ts';
import type { Stats } from './stats-schema.ts';

/** Who acts: the bearer of ADMIN_TOKEN, an administrator, a client with scope `admin`, or an API key. */
export type Actor = Awaited<ReturnType<Bearers['authorizeAdmin']>>;

export interface Listing<Item> {
  readonly items: readonly Item[];
  /** Total of all pages. */
  readonly total: number;
}

/** What the routes of the API are handed. */
export interface AdminPorts
  extends Pick<
    ProtocolDoors,
    | 'accounts'
    | 'apiKeys'
    | 'apis'
    | 'audit'
    | 'authorizeAdmin'
    | 'avatars'
    | 'baseUrl'
    | 'clients'
    | 'clock'
    | 'events'
    | 'groups'
    | 'importAccount'
    | 'logoutDeliveries'
    | 'looks'
    | 'mail'
    | 'passkeys'
    | 'pictures'
    | 'placeOf'
    | 'previewTokens'
    | 'readCalledAddresses'
    | 'recovery'
    | 'refusals'
    | 'registration'
    | 'secondFactors'
    | 'sessions'
    | 'settingsInStore'
    | 'tokenLog'
    | 'version'
  > {
  /** Read and rotated; what uses them stands below. */
  readonly keys: Keys;
  readonly cursors: Cursors;
  readonly issuedTokens: IssuedTokens;
  readonly stats: { read(): Promise<Stats> };
}
