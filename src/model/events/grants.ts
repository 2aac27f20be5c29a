import type { EventRow } from './event-row.ts';

export const grantEvents = {
  'consent.granted': {
    label: 'Consent granted',
    sentence: '{actor} gave[ {client}] access.',
    class: 'general',
    activity: 'application_allowed',
  },
  'consent.refused': {
    label: 'Consent refused',
    sentence: '{actor} refused[ {client}] access.',
    class: 'general',
  },
  'consent.revoked': {
    label: 'Consent revoked',
    sentence: '{actor} revoked the access[ of {client}].',
    class: 'general',
    activity: 'application_removed',
  },
  'session.ended': {
    label: 'Session ended',
    sentence: '{actor} signed out[ from {client}].',
    class: 'general',
  },
  // By a request of the application without a browser, which an ID token authenticated (src/oidc/logout/logout.ts).
  'session.ended_by_application': {
    label: 'Session ended by an application',
    sentence: 'A session[ of {target}] was ended[ by {client}].',
    class: 'general',
    activity: 'signed_out_by_application',
  },
  'session.revoked': {
    label: 'Session ended by an administrator',
    sentence: '{actor} ended a session.',
    class: 'general',
  },
  'token.revoked': {
    label: 'Token revoked',
    sentence: '{actor} revoked a token[ of {client}].',
    class: 'general',
  },
  // A used code or refresh token came back: its grant is revoked.
  'token.reused': {
    label: 'Token reused, grant revoked',
    sentence: 'A used code or token[ of {client}] came back; everything issued with it was revoked.',
    class: 'general',
  },
  'token.issued': {
    label: 'Tokens issued',
    sentence: 'Tokens were issued[ to {client}].',
    class: 'tokens',
  },
  'token.refreshed': {
    label: 'Tokens refreshed',
    sentence: 'Tokens were refreshed[ for {client}].',
    class: 'tokens',
  },
  'token.machine_issued': {
    label: 'Machine tokens issued',
    sentence: 'Tokens without a user were issued[ to {client}].',
    class: 'tokens',
  },
  'token.refused': {
    label: 'Token request refused',
    sentence: 'A token request[ of {client}] was refused.',
    class: 'tokens',
  },
  'token.unguarded': {
    label: 'Signed in without PKCE or a nonce',
    sentence: 'A sign-in[ to {client}] had neither PKCE nor a nonce.',
    class: 'tokens',
  },
} as const satisfies Readonly<Record<string, EventRow>>;
