// Owns what the composition writes into the audit log: it stands between the parts that do things and those that ask for
// them, so that neither knows of the log. What administrators do by the API is src/admin/api/audit-trail.ts.
import type Koa from 'koa';
import type { ReportSignIn } from '../../interactions/sign-in-report.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { SignInOutcome } from '../accounts/authenticate.ts';
import type { Audit } from '../audit/audit.ts';
import type { AuditActor } from '../audit/events.ts';
import type { Origins } from '../audit/origin.ts';
import type { TokenLog } from '../audit/token-log.ts';
import type { Clients } from '../clients/contract.ts';
import { requestIdOf } from '../http/request-log.ts';
import type { ProtocolContext } from '../oidc/around.ts';
import type { TokenReports } from '../oidc/token-events.ts';
import type { AnyToken } from '../oidc/token-state.ts';
import type { Consents } from '../sessions/consents.ts';
import type { EndedSession } from '../sessions/sessions.ts';

/** A sign-in's application (interactions/current.ts), or the client that the protocol core found. */
function clientIdOf(ctx: ProtocolContext): string | undefined {
  const { signInClientId }: { signInClientId?: unknown } = ctx.state;
  return typeof signInClientId === 'string' ? signInClientId : ctx.oidc?.client?.clientId;
}

/** Has all events of a request tell where it came from, and the request wait for them. */
export function auditOrigin(origins: Origins): Koa.Middleware {
  return (ctx, next) => {
    const origin = {
      ipAddress: ctx.ip,
      userAgent: ctx.get('user-agent'),
      requestId: requestIdOf(ctx),
      get clientId() {
        return clientIdOf(ctx);
      },
    };
    return origins.run(origin, next);
  };
}

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

/** Who ends a session, where no administrator does, is the browser that has it. */
export function noteEndedSession(
  { audit, origins }: { audit: Pick<Audit, 'note'>; origins: Pick<Origins, 'current' | 'actor'> },
  { uid, accountId }: EndedSession,
): void {
  const owner: AuditActor = { kind: 'user', id: accountId };
  audit.note({
    event: 'session.ended',
    ...(origins.current() !== undefined && { actor: origins.actor() ?? owner }),
    target: { kind: 'session', id: uid },
    details: { user_id: accountId },
  });
}

/** A refresh token's own id is its value, so its grant is named instead. */
export function auditedRevocation(
  revoke: (token: AnyToken) => Promise<void>,
  audit: Pick<Audit, 'note'>,
): (token: AnyToken) => Promise<void> {
  return async (token) => {
    await revoke(token);
    const isRefreshToken = token.kind === 'RefreshToken';
    audit.note({
      event: 'token.revoked',
      target: isRefreshToken ? { kind: 'grant', id: token.grantId } : { kind: 'token', id: token.jti },
      clientId: token.clientId,
      details: {
        kind: token.kind,
        ...(token.kind !== 'ClientCredentials' && { user_id: token.accountId }),
      },
    });
  };
}

/** First issues and refusals wait in memory (token-log.ts); reuse is rare and ends a grant, so it is written at once. */
export function auditedTokens(
  tokenLog: Pick<TokenLog, 'issued' | 'counted' | 'refused'>,
  { audit, origins }: { audit: Pick<Audit, 'note'>; origins: Pick<Origins, 'current'> },
): TokenReports {
  return {
    issued: (tokens) => tokenLog.issued({ ...tokens, requestId: origins.current()?.requestId }),
    refreshed: (clientId) => tokenLog.counted('token.refreshed', clientId),
    machineIssued: (clientId) => tokenLog.counted('token.machine_issued', clientId),
    refused: tokenLog.refused,
    reused({ clientId, accountId, grantId, grantType }) {
      audit.note({
        event: 'token.reused',
        outcome: 'failure',
        ...(clientId !== undefined && { actor: { kind: 'client', id: clientId } }),
        target: { kind: 'grant', id: grantId },
        clientId,
        details: { grant_type: grantType, user_id: accountId },
      });
    },
  };
}

export function auditedConsents(
  consents: Consents,
  audit: Pick<Audit, 'write'>,
): Consents & { refuse(accountId: string, clientId: string): Promise<void> } {
  return {
    ...consents,
    refuse(accountId, clientId) {
      const user = { kind: 'user', id: accountId } as const;
      return audit.write({ event: 'consent.refused', actor: user, target: user, clientId });
    },
    async add(accountId, clientId, scopes, claims) {
      const user = { kind: 'user', id: accountId } as const;
      // Asked for together, they share a commit.
      await Promise.all([
        audit.write({
          event: 'consent.granted',
          actor: user,
          target: user,
          clientId,
          details: { scopes, claims },
        }),
        consents.add(accountId, clientId, scopes, claims),
      ]);
    },
  };
}

/** The first administrator, whether by the page or from the environment. */
export function auditedOnboarding(accounts: Accounts, audit: Pick<Audit, 'write'>): Accounts {
  return {
    ...accounts,
    async createFirstAdmin(input) {
      const account = await accounts.createFirstAdmin(input);
      await audit.write({
        event: 'onboarding.completed',
        target: { kind: 'user', id: account.id },
        details: { username: account.username },
      });
      return account;
    },
  };
}

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
