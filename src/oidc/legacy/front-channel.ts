// Front-channel logout (OIDC Front-Channel Logout 1.0), which the library no longer has: which addresses of the session's
// applications the page after the sign-out loads in frames. Where that is shown is the sign-in pages' (interactions/).
import type { Session } from 'oidc-provider';
import type { Client } from '../../clients/index.ts';

interface Deps {
  readonly isOn: () => boolean;
  readonly issuer: string;
  readonly clients: { find(id: string): Promise<Client | undefined> };
}

/** Read before the session ends. @returns addresses to load afterwards, none while the profile is off */
export type FramesOf = (session: Session) => Promise<readonly string[]>;

/** A page with more frames would be an attack on someone; nobody is signed in to so many. */
const MAX_FRAMES = 20;

interface Authorization {
  readonly sid?: string | undefined;
}

export function createFramesOf({ isOn, issuer, clients }: Deps): FramesOf {
  async function frameOf([clientId, { sid }]: [string, Authorization]): Promise<string | undefined> {
    const client = await clients.find(clientId);
    // Without what is not allowed any more (src/clients/legacy.ts).
    const uri = client?.value.metadata.frontchannel_logout_uri;
    const url = typeof uri === 'string' && client?.value.isActive === true ? URL.parse(uri) : null;
    if (url === null || sid === undefined) return undefined;
    // §3: both or none. With them an application ends this session and no other.
    url.searchParams.set('iss', issuer);
    url.searchParams.set('sid', sid);
    return url.href;
  }

  return async (session) => {
    if (!isOn()) return [];
    const entries: [string, Authorization][] = Object.entries(session.authorizations ?? {});
    return (await Promise.all(entries.slice(0, MAX_FRAMES).map(frameOf))).filter((uri) => uri !== undefined);
  };
}
