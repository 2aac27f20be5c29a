// Sends a logout token (OIDC Back-Channel Logout §2.4, §2.5). Our own instead of the library's, which leaves out `sid` unless the
// application asks for it, so that one browser's sign-out would end all of the user's sessions there (decision 0005).
import { isApprovedAddress } from '../../clients/index.ts';
import { newId } from '../../ids.ts';
import type { LogoutProblem } from '../../store/collections.ts';
import { clientRecord } from '../models/client.ts';
import { type OutboundFetch, OutboundRefused, OutboundUnanswered } from '../outbound/outbound-fetch.ts';
import type { Models } from '../provider-base.ts';

export interface LogoutNotice {
  readonly clientId: string;
  /** The user as the application knows it. */
  readonly sub: string;
  /** The session as the application knows it. */
  readonly sid: string;
}

/** What became of one attempt. */
export type LogoutOutcome = {
  /** Scheme, host and port of the address. */
  readonly origin?: string;
} & (
  | { readonly status: number }
  /** `detail` is for the log. */
  | { readonly problem: LogoutProblem; readonly detail?: string }
);

/** Each call signs a token of its own: one expires within minutes. @throws StoreUnavailable */
export type SendLogoutToken = (notice: LogoutNotice) => Promise<LogoutOutcome>;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

interface Deps {
  readonly models: Pick<Models, 'Client' | 'IdToken'>;
  readonly outbound: OutboundFetch;
}

const certificateCodes = /^(?:CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/;

/** Names the network error, by what Node.js calls it. */
function problemOf(error: unknown): LogoutProblem {
  if (error instanceof OutboundRefused) return 'not_allowed';
  if (error instanceof OutboundUnanswered) return 'invalid_response';
  const { name, code } = { name: '', code: '', ...(error instanceof Error && named(error)) };
  if (name === 'AbortError' || name === 'TimeoutError' || code === 'ETIMEDOUT') return 'no_response';
  if (code === 'ENOTFOUND' || code.startsWith('EAI_')) return 'host_not_found';
  if (certificateCodes.test(code) || code === 'EPROTO') return 'certificate';
  return code.startsWith('HPE_') ? 'invalid_response' : 'no_connection';
}

const named = (error: Error): { name: string; code: string } => ({
  name: error.name,
  code: 'code' in error && typeof error.code === 'string' ? error.code : '',
});

export function createSendLogoutToken({ models, outbound }: Deps): SendLogoutToken {
  return async ({ clientId, sub, sid }) => {
    const client = await models.Client.find(clientId);
    if (client === undefined) return { problem: 'application_inactive' };
    const uri = client.backchannelLogoutUri;
    if (uri === undefined) return { problem: 'no_address' };
    const token = new models.IdToken({ sub }, { client });
    for (const [claim, value] of Object.entries({ sub, sid, jti: newId(), events: { [EVENT]: {} } }))
      token.set(claim, value);
    const body = new URLSearchParams({ logout_token: await token.issue({ use: 'logout' }) });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    // The address and its approval as they are now, not as they were when the session ended.
    const isApproved = isApprovedAddress(clientRecord(client), uri);
    const { origin } = new URL(uri);
    try {
      const { status } = await outbound(
        uri,
        { method: 'POST', headers, body },
        { use: 'notice', isApproved },
      );
      return { origin, status };
    } catch (error) {
      return { origin, problem: problemOf(error), detail: error instanceof Error ? error.message : '' };
    }
  };
}
