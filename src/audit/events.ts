// Owns the vocabulary of the audit log: which things are written down, and what is said about each. The names are part
// of the product's interface (GET /admin/api/audit?event=…): they are added to, never renamed.

export const auditEventNames = [
  // Signing in
  // Complete, with all factors; by whichever way.
  'signin.success',
  'signin.failure',
  // The password matched, and a further step was asked for. No sign-in yet.
  'signin.password_accepted',
  // A session that was there already, raised by another factor.
  'signin.stepped_up',
  'signin.locked',
  'mfa.success',
  'mfa.failure',
  'mfa.enrolled',
  'mfa.removed',
  'mfa.reset',
  'recovery.generated',
  'recovery.used',
  'passkey.added',
  'passkey.used',
  'passkey.renamed',
  'passkey.removed',
  'passkey.failure',
  'device.trusted',
  'device.revoked',
  // The account's own proofs
  'password.changed',
  'password.reset_requested',
  'password.reset',
  'email.changed',
  'email.verification_requested',
  'email.verified',
  'magic_link.requested',
  'magic_link.used',
  // New accounts
  'signup.completed',
  'invitation.created',
  'invitation.used',
  'invitation.revoked',
  'enrolment.requested',
  'enrolment.completed',
  // What was given, and its end
  'consent.granted',
  'consent.refused',
  'consent.revoked',
  'session.ended',
  'session.revoked',
  'token.revoked',
  // A used code or refresh token came back: its grant is revoked.
  'token.reused',
  // Tokens, in a class of their own (token-log.ts).
  'token.issued',
  'token.refreshed',
  'token.machine_issued',
  'token.refused',
  // Administration
  'user.created',
  'user.updated',
  'user.removed',
  'user.unlocked',
  'user.deactivated',
  'user.reactivated',
  'user.sessions_revoked',
  'client.created',
  'client.updated',
  'client.removed',
  'client.secret_rotated',
  'client.trial_started',
  'client.trial_ended',
  'registration_token.created',
  'registration_token.removed',
  'users.imported',
  'group.created',
  'group.updated',
  'group.removed',
  'group.member_added',
  'group.member_removed',
  'api_key.created',
  'api_key.revoked',
  'settings.changed',
  'mail.test_sent',
  'key.rotation_requested',
  'key.rotated',
  'onboarding.completed',
  // An administrator's act that has no name of its own yet; its details say which route it was.
  'admin.acted',
] as const;

export type AuditEventName = (typeof auditEventNames)[number];

/** The volume class of events: `tokens` are many and kept for a shorter time. */
export type AuditClass = 'general' | 'tokens';

const tokenEventNames: ReadonlySet<string> = new Set<AuditEventName>([
  'token.issued',
  'token.refreshed',
  'token.machine_issued',
  'token.refused',
]);

export const classOfEvent = (event: string): AuditClass =>
  tokenEventNames.has(event) ? 'tokens' : 'general';

export interface AuditActor {
  readonly kind: 'user' | 'client' | 'bootstrap' | 'api_key' | 'system' | 'anonymous';
  readonly id?: string | undefined;
}

export interface AuditTarget {
  readonly kind:
    | 'user'
    | 'client'
    | 'session'
    | 'grant'
    | 'token'
    | 'setting'
    | 'key'
    | 'mail'
    | 'device'
    | 'invitation'
    | 'api_key'
    | 'group'
    | 'passkey';
  /** Never a bearer value: an id that gives nobody anything. */
  readonly id?: string | undefined;
}

export interface AuditEvent {
  readonly event: AuditEventName;
  /** Default: `failure` for names that end so, else `success`. */
  readonly outcome?: 'success' | 'failure' | undefined;
  /** Why, as a word; for inside only, callers never learn it. */
  readonly reason?: string | undefined;
  /** Default: who the request was authorised as; `anonymous` in a request, `system` outside of one. */
  readonly actor?: AuditActor | undefined;
  readonly target?: AuditTarget | undefined;
  /** Default: the application that the request is about, where one is. */
  readonly clientId?: string | undefined;
  /** Anything else worth knowing. Secrets are taken out (details.ts), but do not count on it: put none in. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}
