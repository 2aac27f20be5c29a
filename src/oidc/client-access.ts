// Owns who may sign in to an application: everybody, or members of the groups that an administrator restricted it to.
import { errors, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { ClientRecord } from '../store/collections.ts';
import { type OidcAccount, requestAccount } from './find-account.ts';
import { clientRecord } from './models/client.ts';

const { Check } = interactionPolicy;

/** @returns whether a person of these groups may use the application now */
export const mayUse = (
  { allowedGroups }: Pick<ClientRecord, 'allowedGroups'>,
  { groups = [] }: Pick<OidcAccount, 'groups'>,
): boolean => allowedGroups === undefined || allowedGroups.some((name) => groups.includes(name));

/** The same of a request; true where the client or the person is not known. */
export function mayRequest(ctx: KoaContextWithOIDC, account: OidcAccount | undefined): boolean {
  const { client } = ctx.oidc;
  return client === undefined || account === undefined || mayUse(clientRecord(client), account);
}

/**
 * Asked when it is settled who signs in, so that somebody else still can: with `prompt=login` the account that the browser
 * has is not the one that counts. There is nothing that the person could do here, so the application is told (RFC 6749
 * §4.1.2.1) rather than a page shown.
 */
export const clientAccessCheck = () =>
  new Check('client_access', 'the application is not for this account', 'access_denied', (ctx) => {
    if (mayRequest(ctx, requestAccount(ctx))) return Check.NO_NEED_TO_PROMPT;
    throw new errors.AccessDenied('this account may not sign in to this application');
  });
