// The scopes of the account API (decision 0023): what opens a person's account, so that only an administrator gives them, and only to
// first-party applications. Stored beside the metadata, of which they are a part on the wire: a version that does not know them
// keeps them as they are, and takes no application for invalid because of them.
import { AppError } from '../errors.ts';
import { accountScopes } from '../model/applications/vocabulary.ts';
import type { ClientRecord } from '../store/collections.ts';

type AccountScope = (typeof accountScopes)[number];
type Members = Readonly<Record<string, unknown>>;
type Holder = Pick<ClientRecord, 'skipConsent' | 'quarantine' | 'accountScopes'>;

/** Whether an administrator vouches for it, so that users are not asked: the applications of the installation itself. */
export const isFirstParty = ({
  skipConsent,
  quarantine,
}: Pick<Holder, 'skipConsent' | 'quarantine'>): boolean => skipConsent && quarantine === undefined;

/** Those that it may have now: none since it stopped being first-party. */
export const accountScopesOf = (record: Holder): readonly AccountScope[] =>
  isFirstParty(record) ? (record.accountScopes ?? []) : [];

/** @returns the metadata, for which a scope that says nothing is none */
export const withoutBlankScope = <M extends Members | undefined>(metadata: M): M =>
  typeof metadata?.scope === 'string' && metadata.scope.trim() === ''
    ? { ...metadata, scope: undefined }
    : metadata;

/** Takes them out of the metadata; `sent` is undefined where that names no scopes at all. */
export function splitAccountScopes<M extends Members | undefined>(
  metadata: M,
): { readonly metadata: M; readonly isGiven: boolean; readonly sent: readonly AccountScope[] | undefined } {
  const isGiven = metadata !== undefined;
  if (typeof metadata?.scope !== 'string') return { metadata, isGiven, sent: undefined };
  const words = metadata.scope.split(/\s+/).filter(Boolean);
  const sent = accountScopes.filter((scope) => words.includes(scope));
  const others = words.filter((word) => !sent.some((scope) => scope === word));
  if (words.length === 0) return { metadata, isGiven, sent };
  // An empty list would mean the default scopes, which are more.
  return { metadata: { ...metadata, scope: others.join(' ') || 'openid' }, isGiven, sent };
}

/**
 * @param change.before what it had
 * @returns the record with those that it has from now on; always said, so that an application is registered for them only once
 *   at an upgrade (former-first-party.ts)
 * @throws AppError client.invalid_metadata
 */
export function withAccountScopes(
  record: ClientRecord,
  change: {
    readonly sent: readonly AccountScope[] | undefined;
    /** Whether there is metadata at all; otherwise only settings are changed. */
    readonly isGiven: boolean;
    readonly before?: readonly AccountScope[] | undefined;
    readonly mode: 'replace' | 'merge';
    readonly kind: 'administrator' | 'registrant';
  },
): ClientRecord {
  const { sent, isGiven, before = [], mode, kind } = change;
  const stays = mode === 'merge' || !isGiven || kind === 'registrant';
  const kept = sent ?? (stays ? before : []);
  const allowed = kind === 'administrator' ? kept : kept.filter((scope) => before.includes(scope));
  if (isFirstParty(record)) return { ...record, accountScopes: [...allowed] };
  if (kind === 'administrator' && sent !== undefined && sent.length > 0) {
    const problem = `Must not contain ${sent.join(' and ')}: only first-party applications (skip_consent) may change their users’ accounts.`;
    throw new AppError('client.invalid_metadata', { fields: { scope: problem } });
  }
  return { ...record, accountScopes: [] };
}

/** The registered scopes with these among them, as they are shown and as the protocol core compares them. */
export const scopeWithAccount = (record: Holder & Pick<ClientRecord, 'metadata'>): unknown => {
  const { scope } = record.metadata;
  const own = accountScopesOf(record);
  return own.length === 0 || typeof scope !== 'string' ? scope : [scope, ...own].join(' ');
};
