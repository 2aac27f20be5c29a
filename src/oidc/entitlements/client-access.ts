import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { ClientRecord } from '../../store/collections.ts';
import { clientRecord } from '../models/client.ts';
import { type OidcAccount, requestAccount } from './find-account.ts';

const { Check } = interactionPolicy;

/** Whether a user in these groups may use the application; without `allowedGroups` every user may. */
export const mayUse = (
  { allowedGroups }: Pick<ClientRecord, 'allowedGroups'>,
  { groups = [] }: Pick<OidcAccount, 'groups'>,
): boolean => allowedGroups === undefined || allowedGroups.some((name) => groups.includes(name));

/** The same for a request; true while its client or account is unknown. */
export function mayRequest(ctx: KoaContextWithOIDC, account: OidcAccount | undefined): boolean {
  const { client } = ctx.oidc;
  return client === undefined || account === undefined || mayUse(clientRecord(client), account);
}

/**
 * Checked in the consent prompt, once the account is known: with `prompt=login` the user may sign in with another account
 * than the browser's session has. The user can do nothing here, so the application gets the error (RFC 6749 §4.1.2.1)
 * instead of the user a page.
 */
export const clientAccessCheck = () =>
  new Check('client_access', 'this account may not use the application', 'access_denied', (ctx) => {
    if (mayRequest(ctx, requestAccount(ctx))) return Check.NO_NEED_TO_PROMPT;
    throw new errors.AccessDenied('this account may not sign in to this application');
  });
