// What is recorded: the name of every event of the audit log with its label in the Admin UI, and what is said about each. The
// names are part of the product's interface (GET /admin/api/audit?event=…): they are added to, never renamed.

export const eventLabels = {
  // Signing in
  // Complete, with all factors; by whichever way.
  'signin.success': 'Signed in',
  'signin.failure': 'Sign-in failed',
  // The password matched, and a further step was asked for. No sign-in yet.
  'signin.password_accepted': 'Password accepted, second step required',
  // A session that was there already, raised by another factor.
  'signin.stepped_up': 'Second factor added to a session',
  'signin.locked': 'Account locked',
  'mfa.success': 'Second factor verified',
  'mfa.failure': 'Second factor failed',
  'mfa.enrolled': 'Second factor added',
  'mfa.removed': 'Second factor removed',
  'mfa.reset': 'Second factor reset',
  'recovery.generated': 'Recovery codes created',
  'recovery.used': 'Recovery code used',
  'passkey.added': 'Passkey added',
  'passkey.used': 'Passkey used',
  'passkey.renamed': 'Passkey renamed',
  'passkey.removed': 'Passkey removed',
  'passkey.failure': 'Passkey refused',
  'device.trusted': 'Browser trusted',
  'device.revoked': 'Browser no longer trusted',
  // The account's own data and proofs
  'profile.changed': 'Profile changed by its owner',
  'avatar.changed': 'Picture changed by its owner',
  'avatar.removed': 'Picture removed',
  'username.changed': 'Username changed by its owner',
  'password.changed': 'Password changed',
  'password.reset_requested': 'Password reset requested',
  'password.reset': 'Password reset',
  'email.change_requested': 'Another e-mail address asked for',
  'email.added': 'E-mail address added',
  'email.removed': 'E-mail address removed',
  // An older version, which knows no further addresses, let another account have it as its primary one.
  'email.yielded': 'E-mail address given up to another account',
  // By a link in the mail to the primary address; sessions ended.
  'email.addition_stopped': 'Added e-mail address removed from the primary mailbox',
  'email.changed': 'E-mail changed',
  // By a link in the mail to the old address; sessions ended, neither address counts.
  'email.change_stopped': 'E-mail change stopped',
  'email.change_settled': 'Stopped e-mail change settled',
  'email.verification_requested': 'E-mail verification requested',
  'email.verified': 'E-mail verified',
  'magic_link.requested': 'Sign-in link requested',
  'magic_link.used': 'Sign-in link used',
  // New accounts
  'signup.completed': 'Signed up',
  'invitation.created': 'Invitation created',
  'invitation.used': 'Invitation accepted',
  'invitation.revoked': 'Invitation revoked',
  'enrolment.requested': 'Set-up link created',
  'enrolment.completed': 'Account set up',
  // What was given, and its end
  'consent.granted': 'Consent granted',
  'consent.refused': 'Consent refused',
  'consent.revoked': 'Consent revoked',
  'session.ended': 'Session ended',
  // By a request of the application without a browser, which an ID token authenticated (src/oidc/logout/logout.ts).
  'session.ended_by_application': 'Session ended by an application',
  'session.revoked': 'Session ended by an administrator',
  'token.revoked': 'Token revoked',
  // A used code or refresh token came back: its grant is revoked.
  'token.reused': 'Token reused, grant revoked',
  // Tokens, in a class of their own (token-log.ts).
  'token.issued': 'Tokens issued',
  'token.refreshed': 'Tokens refreshed',
  'token.machine_issued': 'Machine tokens issued',
  'token.refused': 'Token request refused',
  'token.unguarded': 'Signed in without PKCE or a nonce',
  // Administration
  'user.created': 'User created',
  'user.updated': 'User updated',
  'user.removed': 'User deleted',
  'user.data_exported': 'Own data downloaded',
  // By the owner: asked for, undone by a sign-in, and carried out when its day came.
  'user.deletion_requested': 'Owner asked for deletion',
  'user.deletion_undone': 'Owner undid the deletion',
  'user.deletion_carried_out': 'Deleted as the owner asked',
  'user.unlocked': 'User unlocked',
  'user.deactivated': 'User deactivated',
  'user.reactivated': 'User reactivated',
  'user.sessions_revoked': 'Signed out everywhere',
  // The owner did not recognise an activity: everything was ended.
  'user.compromise_reported': 'Owner reported foreign activity',
  'client.created': 'Application registered',
  'client.updated': 'Application updated',
  'client.removed': 'Application deleted',
  'client.secret_rotated': 'Secret rotated',
  // By itself, having used it many times in a row.
  'client.pkce_required': 'Application now requires PKCE',
  // A logout token for a user and a session that do not exist.
  // Whatever the application answered.
  'client.logout_tested': 'Sign-out tested',
  'client.trial_started': 'Test sign-in started',
  'client.trial_ended': 'Test sign-in ended',
  'api.created': 'API created',
  'api.updated': 'API updated',
  'api.removed': 'API deleted',
  'apis.imported': 'APIs imported',
  'api.secret_rotated': 'Introspection secret of an API rotated',
  'registration_token.created': 'Registration token created',
  'registration_token.removed': 'Registration token revoked',
  'users.imported': 'Users imported',
  'users.exported': 'Users exported',
  'audit.exported': 'Audit log exported',
  'group.created': 'Group created',
  'group.updated': 'Group updated',
  'group.removed': 'Group deleted',
  'group.member_added': 'Added to a group',
  'group.member_removed': 'Removed from a group',
  'api_key.created': 'API key created',
  'api_key.revoked': 'API key revoked',
  'settings.changed': 'Settings changed',
  'branding.changed': 'Branding changed',
  'branding.restored': 'Earlier branding restored',
  'branding.imported': 'Branding imported',
  'branding.picture_uploaded': 'Picture uploaded',
  // The mail server accepted it.
  'mail.test_sent': 'Test mail sent',
  'mail.test_failed': 'Test mail not sent',
  'key.rotation_requested': 'Key rotation requested',
  'key.rotated': 'Signing key rotated',
  'onboarding.completed': 'First administrator created',
  // An administrator's act that has no name of its own yet; its details say which route it was.
  'admin.acted': 'Administrator action',
} as const satisfies Readonly<Record<string, string>>;

export type EventName = keyof typeof eventLabels;

const isEventName = (name: string): name is EventName => Object.hasOwn(eventLabels, name);

export const eventNames: readonly EventName[] = Object.keys(eventLabels).filter(isEventName);

/** The volume class of events: `tokens` are many and kept for a shorter time. */
export type EventClass = 'general' | 'tokens';

const tokenEventNames: ReadonlySet<string> = new Set<EventName>([
  'token.issued',
  'token.refreshed',
  'token.machine_issued',
  'token.refused',
  'token.unguarded',
]);

export const classOfEvent = (event: string): EventClass =>
  tokenEventNames.has(event) ? 'tokens' : 'general';

export interface Actor {
  readonly kind: 'user' | 'client' | 'bootstrap' | 'api_key' | 'system' | 'anonymous';
  readonly id?: string | undefined;
}

export interface Target {
  readonly kind:
    | 'user'
    | 'client'
    | 'api'
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
  /** Never a bearer value: an id that grants nothing. */
  readonly id?: string | undefined;
}

export interface RecordedEvent {
  readonly event: EventName;
  /** Default: `failure` for names that end so, else `success`. */
  readonly outcome?: 'success' | 'failure' | undefined;
  /** Why, as a word; for inside only, callers never learn it. */
  readonly reason?: string | undefined;
  /** Default: who the request was authorised as; `anonymous` in a request, `system` outside of one. */
  readonly actor?: Actor | undefined;
  readonly target?: Target | undefined;
  /** Default: the application that the request is about, where one is. */
  readonly clientId?: string | undefined;
  /** The SSO session in whose course it happened, or that begins with it. Default: the one of the request's browser. */
  readonly sessionId?: string | undefined;
  /** Anything else worth knowing. Secrets are taken out (src/audit/details.ts), but do not count on it: put none in. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}
