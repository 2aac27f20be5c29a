// Helpers that the routes of several resources share: ids in paths, and the version check before an act that the domain
// does not make conditional itself.
import type { Account } from '../../accounts/index.ts';
import { AppError, type ErrorCode } from '../../errors.ts';
import { integer, object, optional, string } from './schema-parts.ts';

/** Matches every id that this server or its backends create: short, without special characters. */
const id = (description: string) =>
  string({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9_.:-]+$', description });
const userId = () => id('The `id` of the user.');

export const idParams = object({ id: id('The `id` of the item.') });
export const userParams = object({ id: userId() });
/** Of an agent it may be the address of its metadata document (docs/agents.md), percent-encoded in a path. */
const clientId = string({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?:[A-Za-z0-9_.:-]{1,128}|https://[!-.0-~][!-~]*)$',
  description: 'The `client_id` of the application.',
});
export const clientIdParams = object({ client_id: clientId });
export const clientUserParams = object({ client_id: clientId, user_id: userId() });
export const userSessionParams = object({ id: userId(), session_id: id('The `id` of the session.') });
export const userGrantParams = object({ id: userId(), grant_id: id('The `id` of the grant.') });
export const memberParams = object({ id: id('The name of the group.'), user_id: userId() });
export const userDeviceParams = object({ id: userId(), device_id: id('The `id` of the trusted device.') });
/** Credential ids are longer than other ids (WebAuthn §7.1: up to 1023 bytes). */
export const userPasskeyParams = object({
  id: userId(),
  passkey_id: string({
    minLength: 1,
    maxLength: 1364,
    pattern: '^[A-Za-z0-9_-]+$',
    description: 'The `id` of the passkey.',
  }),
});
export const userIdBody = object({
  user_id: string({ minLength: 1, maxLength: 128, description: 'The `id` of the user.' }),
});

const MAX_OVERLAP_SECONDS = 2_592_000;
/** Of a secret. */
export const rotationBody = object({
  overlap_seconds: optional(
    integer({
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      description:
        'How long the previous secret is still accepted, in seconds; 0, the default: it is refused immediately.',
    }),
  ),
});

/**
 * @param ifVersion the version that If-Match requires
 * @returns the item. @throws AppError `missing`, or account.changed or request.changed when its version differs
 */
export function atVersion<Found extends { readonly version: number }>(
  found: Found | undefined,
  missing: ErrorCode,
  ifVersion?: number,
): Found {
  if (found === undefined) throw new AppError(missing);
  if (ifVersion !== undefined && ifVersion !== found.version) {
    throw new AppError(missing === 'account.not_found' ? 'account.changed' : 'request.changed');
  }
  return found;
}

/** @throws AppError account.not_found */
export async function userOf(
  id: string,
  { accounts }: { readonly accounts: { find(id: string): Promise<Account | undefined> } },
): Promise<Account> {
  return atVersion(await accounts.find(id), 'account.not_found');
}
