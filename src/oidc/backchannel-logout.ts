// Sends logout tokens (OIDC Back-Channel Logout §2.4, §2.5). Our own instead of the library's, which leaves out `sid` unless the
// application asks for it, so that one browser's sign-out would end all of the user's sessions there (decisions §4).
import { isApprovedAddress } from '../clients/index.ts';
import { newId } from '../ids.ts';
import { clientRecord } from './models/client.ts';
import type { OutboundFetch } from './outbound-fetch.ts';
import type { Models } from './provider-base.ts';

export interface LogoutNotice {
  readonly clientId: string;
  /** The user as the application knows it. */
  readonly sub: string;
  /** The session as the application knows it. */
  readonly sid: string;
}

/** @returns the status of the answer; undefined when the application wants no logout tokens */
export type SendLogoutToken = (notice: LogoutNotice) => Promise<number | undefined>;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

interface Deps {
  readonly models: Pick<Models, 'Client' | 'IdToken'>;
  readonly outbound: OutboundFetch;
}

export function createSendLogoutToken({ models, outbound }: Deps): SendLogoutToken {
  return async ({ clientId, sub, sid }) => {
    const client = await models.Client.find(clientId);
    const uri = client?.backchannelLogoutUri;
    if (client === undefined || uri === undefined) return undefined;
    const token = new models.IdToken({ sub }, { client });
    for (const [claim, value] of Object.entries({ sub, sid, jti: newId(), events: { [EVENT]: {} } }))
      token.set(claim, value);
    const body = new URLSearchParams({ logout_token: await token.issue({ use: 'logout' }) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const isApproved = isApprovedAddress(clientRecord(client), uri);
    const { status } = await outbound(uri, { method: 'POST', headers, body }, { use: 'notice', isApproved });
    return status;
  };
}
