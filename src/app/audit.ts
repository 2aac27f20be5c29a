// Owns what the composition writes into the audit log: it stands between the parts that do things and those that ask for
// them, so that neither knows of the log. What administrators do by the API is src/admin/api/audit-trail.ts.
import type { ReportSignIn } from '../../interactions/sign-in-report.ts';
import type { SignInOutcome } from '../accounts/authenticate.ts';
import type { Audit } from '../audit/index.ts';
import type { Clients } from '../clients/contract.ts';
import type { Origins } from '../events/index.ts';

/** The one password check behind every way to sign in with one (src/accounts/authenticate.ts). */
export function auditedSignIns(audit: Pick<Audit, 'write' | 'note'>) {
  return {
    /** Awaited before the caller learns the outcome. A password that matches is no sign-in yet: see reportedSignIns. */
    async onOutcome({ outcome, accountId }: SignInOutcome): Promise<void> {
      const target = accountId === undefined ? {} : { target: { kind: 'user', id: accountId } as const };
      // What was typed as a name is not told: people type passwords there.
      if (outcome !== 'success') await audit.write({ event: 'signin.failure', reason: outcome, ...target });
    },
    onLocked({ accountId, lockedUntil }: { accountId: string; lockedUntil: number }): void {
      audit.note({
        event: 'signin.locked',
        target: { kind: 'user', id: accountId },
        details: { locked_until: new Date(lockedUntil).toISOString() },
      });
    },
  };
}

const SIGN_IN_EVENTS = {
  complete: 'signin.success',
  stepped_up: 'signin.stepped_up',
  password_accepted: 'signin.password_accepted',
  link_used: 'magic_link.used',
} as const;

/**
 * Every way to sign in, when it is complete, and its steps before that. A session that is used at a second application
 * without a page is no sign-in: its tokens are heard of (`token.issued`), and the list of sessions names the application.
 */
export const reportedSignIns =
  (audit: Pick<Audit, 'write'>): ReportSignIn =>
  async ({ kind, accountId, clientId, amr, methods, next, isAgain }) => {
    const user = { kind: 'user', id: accountId } as const;
    const event = SIGN_IN_EVENTS[kind];
    const isComplete = kind === 'complete' || kind === 'stepped_up';
    await audit.write({
      event,
      // Who has shown one factor of several is not known to be that person.
      actor: isComplete ? user : { kind: 'anonymous' },
      target: user,
      clientId,
      details: { amr, methods, ...(next !== undefined && { next }), ...(isAgain && { is_again: true }) },
    });
  };

type Registration = Pick<
  Clients,
  'create' | 'update' | 'remove' | 'verifyRegistrationToken' | 'verifySecret' | 'initialAccessTokens'
>;

/** Applications that register and manage themselves (RFC 7591, RFC 7592). */
export function auditedRegistration(
  clients: Registration,
  { audit, origins }: { audit: Pick<Audit, 'write'>; origins: Pick<Origins, 'actor'> },
): Registration {
  const write = (event: 'client.created' | 'client.updated' | 'client.removed', id: string): Promise<void> =>
    audit.write({
      event,
      // Whoever registers is nobody yet; later it is the application itself.
      actor: origins.actor() ?? (event === 'client.created' ? undefined : { kind: 'client', id }),
      target: { kind: 'client', id },
      clientId: id,
      details: { by: 'registration' },
    });
  return {
    initialAccessTokens: clients.initialAccessTokens,
    verifyRegistrationToken: (id, token) => clients.verifyRegistrationToken(id, token),
    verifySecret: (record, secret) => clients.verifySecret(record, secret),
    async create(...input) {
      const created = await clients.create(...input);
      await write('client.created', created.client.id);
      return created;
    },
    async update(id, change) {
      const changed = await clients.update(id, change);
      await write('client.updated', id);
      return changed;
    },
    async remove(id, options) {
      await clients.remove(id, options);
      await write('client.removed', id);
    },
  };
}
