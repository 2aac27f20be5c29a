// The applications that a person may sign in to, with the address to open each: those that administrators entered or vouched
// for. What registered itself is not offered to people who never asked for it, whatever it calls itself.

import { CONSOLE_CLIENT_ID } from '../clients/index.ts';
import { signInGrantTypes } from '../model/grant-types.ts';
import { mayUse } from '../oidc/index.ts';
import type { ClientRecord } from '../store/collections.ts';
import type { Query } from '../store/port.ts';
import type { SelfServiceDoors } from './doors.ts';
import type { SelfServiceUser } from './page-kit.ts';

export interface Launchable {
  readonly clientId: string;
  readonly name: string;
  /** Where to open it; absent: it has registered no address. */
  readonly url?: string | undefined;
  /** Of that address, with its port: two applications may have one name. */
  readonly host?: string | undefined;
  /** On this server: to look at the list tells no one. Absent: its initials. */
  readonly logoUri?: string | undefined;
}

const PAGE = 500;
/** More than a page is for. */
const MOST = 2000;

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The rules for metadata let nothing else in; a stored document may be older than they are. */
function webAddress(value: unknown): URL | undefined {
  const url = URL.parse(textOf(value) ?? '');
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url : undefined;
}

function isOffered({ origin, skipConsent, quarantine, metadata }: ClientRecord): boolean {
  if (quarantine !== undefined || metadata.client_id === CONSOLE_CLIENT_ID) return false;
  // One that came by a registration token may rename itself (RFC 7592): an administrator must have made it first-party.
  if (origin !== 'admin' && !skipConsent) return false;
  const { grant_types: grants } = metadata;
  return !Array.isArray(grants) || grants.some((grant) => signInGrantTypes.includes(String(grant)));
}

export function createLauncher({ clients, issuer, baseUrl }: SelfServiceDoors) {
  /** A sign-in that the application starts by itself (OIDC Core §4), else its home page. */
  function addressOf({ initiate_login_uri: initiate, client_uri: home }: ClientRecord['metadata']) {
    const url = webAddress(initiate);
    if (url === undefined) return webAddress(home);
    url.searchParams.set('iss', issuer);
    return url;
  }

  function show({ metadata }: ClientRecord): Launchable {
    const logo = webAddress(metadata.logo_uri);
    const url = addressOf(metadata);
    return {
      clientId: metadata.client_id,
      name: textOf(metadata.client_name) ?? metadata.client_id,
      url: url?.href,
      host: url?.host,
      logoUri: logo !== undefined && logo.origin === new URL(baseUrl).origin ? logo.href : undefined,
    };
  }

  /** By name; those with an address first. */
  return async ({ account }: Pick<SelfServiceUser, 'account'>): Promise<Launchable[]> => {
    const filters: Query['filters'] = [
      { field: 'is_active', op: 'eq', value: true },
      { field: 'agent_state', op: 'absent' },
    ];
    const found: Launchable[] = [];
    for (let offset = 0; offset < MOST; offset += PAGE) {
      const query = {
        filters,
        sort: 'client_name',
        order: 'asc',
        limit: PAGE,
        offset,
        isCounted: false,
      } as const;
      const { items } = await clients.query(query);
      for (const { value } of items) if (isOffered(value) && mayUse(value, account)) found.push(show(value));
      if (items.length < PAGE) break;
    }
    const { compare } = new Intl.Collator(undefined, { sensitivity: 'base', numeric: true });
    const isShut = ({ url }: Launchable): number => Number(url === undefined);
    return found.sort((a, b) => isShut(a) - isShut(b) || compare(a.name, b.name));
  };
}
