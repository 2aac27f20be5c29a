// Every event of the catalogue as a sentence. What stands in brackets is left out where its name is unknown.
import type { EventName } from '../../../events/index.ts';
import { Phrase, type PhraseValue } from '../../../phrase.ts';

export const sentencesOfEvents: Readonly<Record<EventName, string>> = {
  'signin.success': '{actor} signed in[ to {client}].',
  'signin.failure': 'A sign-in[ as {target}][ to {client}] failed.',
  'signin.password_accepted': 'The password of {actor} was accepted; a second step was asked for.',
  'signin.stepped_up': '{actor} added a second factor to a session[ for {client}].',
  'signin.locked': 'Too many wrong passwords: the account[ of {target}] was locked.',
  'mfa.success': '{actor} passed the second step.',
  'mfa.failure': 'The second step[ of {target}] failed.',
  'mfa.enrolled': '{actor} added a second factor.',
  'mfa.removed': '{actor} removed a second factor.',
  'mfa.reset': '{actor} reset the second factor[ of {target}].',
  'recovery.generated': '{actor} created recovery codes.',
  'recovery.used': '{actor} used a recovery code.',
  'passkey.added': '{actor} added a passkey.',
  'passkey.used': '{actor} used a passkey.',
  'passkey.renamed': '{actor} renamed a passkey.',
  'passkey.removed': '{actor} removed a passkey[ of {target}].',
  'passkey.failure': 'A passkey[ of {target}] was refused.',
  'device.trusted': '{actor} chose to trust a browser.',
  'device.revoked': '{actor} ended the trust in a browser[ of {target}].',
  'profile.changed': '{actor} changed their own profile.',
  'avatar.changed': '{actor} changed their picture.',
  'avatar.removed': '{actor} removed the picture[ of {target}].',
  'username.changed': '{actor} changed their own username.',
  'password.changed': '{actor} changed the password[ of {target}].',
  'password.reset_requested': '{actor} asked for a password reset[ of {target}].',
  'password.reset': '{actor} set a new password by a mailed link.',
  'email.change_requested': '{actor} asked to change their e-mail address.',
  'email.added': '{actor} added an e-mail address.',
  'email.addition_stopped': 'The addition of an e-mail address[ of {target}] was stopped.',
  'email.removed': '{actor} removed an e-mail address.',
  'email.yielded': 'An e-mail address[ of {target}] was given up: another account has it.',
  'email.changed': '{actor} changed their e-mail address.',
  'email.change_stopped': 'The change of the e-mail address[ of {target}] was stopped.',
  'email.change_settled': 'The stopped change of the e-mail address[ of {target}] was settled.',
  'email.verification_requested': '{actor} asked for a verification e-mail[ to {target}].',
  'email.verified': 'The e-mail address[ of {target}] was verified.',
  'magic_link.requested': 'A sign-in link[ for {target}] was requested.',
  'magic_link.used': '{actor} used a sign-in link.',
  'signup.completed': '{actor} signed up.',
  'invitation.created': '{actor} created an invitation.',
  'invitation.used': '{actor} accepted an invitation.',
  'invitation.revoked': '{actor} revoked an invitation.',
  'enrolment.requested': '{actor} created a set-up link[ for {target}].',
  'enrolment.completed': '{actor} set up the account.',
  'consent.granted': '{actor} gave[ {client}] access.',
  'consent.refused': '{actor} refused[ {client}] access.',
  'consent.revoked': '{actor} revoked the access[ of {client}].',
  'session.ended': '{actor} signed out[ from {client}].',
  'session.ended_by_application': 'A session[ of {target}] was ended[ by {client}].',
  'session.revoked': '{actor} ended a session.',
  'token.revoked': '{actor} revoked a token[ of {client}].',
  'token.reused': 'A used code or token[ of {client}] came back; everything issued with it was revoked.',
  'token.issued': 'Tokens were issued[ to {client}].',
  'token.refreshed': 'Tokens were refreshed[ for {client}].',
  'token.machine_issued': 'Tokens without a user were issued[ to {client}].',
  'token.refused': 'A token request[ of {client}] was refused.',
  'token.unguarded': 'A sign-in[ to {client}] had neither PKCE nor a nonce.',
  'user.created': '{actor} created the user[ {target}].',
  'user.updated': '{actor} changed the user[ {target}].',
  'user.removed': '{actor} deleted the user[ {target}].',
  'user.data_exported': '{actor} downloaded their own data.',
  'user.deletion_requested': '{actor} asked for the deletion of their account.',
  'user.deletion_undone': '{actor} undid the deletion of their account.',
  'user.deletion_carried_out': 'The account[ of {target}] was deleted, as its owner asked.',
  'user.unlocked': '{actor} unlocked[ {target}].',
  'user.deactivated': '{actor} deactivated[ {target}].',
  'user.reactivated': '{actor} reactivated[ {target}].',
  'user.sessions_revoked': '{actor} signed[ {target}] out everywhere.',
  'user.compromise_reported': '{actor} reported activity that was not theirs.',
  'client.created': '{actor} registered the application[ {target}].',
  'client.updated': '{actor} changed the application[ {target}].',
  'client.removed': '{actor} deleted the application[ {target}].',
  'client.secret_rotated': '{actor} rotated the secret[ of {target}].',
  'client.pkce_required': 'The application[ {target}] now requires PKCE.',
  'client.logout_tested': '{actor} tested the sign-out[ of {target}].',
  'client.trial_started': '{actor} started a test sign-in[ to {target}].',
  'client.trial_ended': 'A test sign-in[ to {target}] ended.',
  'api.created': '{actor} created the API[ {target}].',
  'api.updated': '{actor} changed the API[ {target}].',
  'api.removed': '{actor} deleted the API[ {target}].',
  'apis.imported': '{actor} imported APIs.',
  'api.secret_rotated': '{actor} rotated the introspection secret[ of {target}].',
  'registration_token.created': '{actor} created a registration token.',
  'registration_token.removed': '{actor} revoked a registration token.',
  'users.imported': '{actor} imported users.',
  'users.exported': '{actor} exported the list of users.',
  'audit.exported': '{actor} exported the audit log.',
  'group.created': '{actor} created the group[ {target}].',
  'group.updated': '{actor} changed the group[ {target}].',
  'group.removed': '{actor} deleted the group[ {target}].',
  'group.member_added': '{actor} added[ {target}] to a group.',
  'group.member_removed': '{actor} removed[ {target}] from a group.',
  'api_key.created': '{actor} created the API key[ {target}].',
  'api_key.revoked': '{actor} revoked the API key[ {target}].',
  'settings.changed': '{actor} changed settings.',
  'branding.changed': '{actor} changed the branding.',
  'branding.imported': '{actor} imported branding.',
  'branding.picture_uploaded': '{actor} uploaded a picture for the branding.',
  'branding.restored': '{actor} restored an earlier version of the branding.',
  'mail.test_sent': '{actor} sent a test mail.',
  'mail.test_failed': '{actor} tried to send a test mail, which was not sent.',
  'key.rotation_requested': '{actor} asked for a new signing key.',
  'key.rotated': 'A new signing key was put to use.',
  'onboarding.completed': 'The first administrator was created.',
  'admin.acted': '{actor} did something that has no name of its own yet.',
};

const known: Readonly<Record<string, string>> = sentencesOfEvents;

/** What is called by a word of this product ("Anonymous") is a Phrase. */
interface Names {
  readonly actor: PhraseValue;
  readonly target?: PhraseValue | undefined;
  readonly client?: PhraseValue | undefined;
}

/** @returns undefined for an event of a later version of this product */
export function sentenceOf(event: string, names: Names): Phrase | undefined {
  const values = new Map<string, PhraseValue | undefined>(Object.entries(names));
  const text = known[event]?.replaceAll(/\[([^\]]*)\]/g, (_, part: string) => {
    const [, name = ''] = /\{(\w+)\}/.exec(part) ?? [];
    return values.get(name) === undefined ? '' : part;
  });
  if (text === undefined) return undefined;
  // What stands around the names, and these between: no name is ever read as a part of the sentence.
  const pieces = text.split(/\{(\w+)\}/);
  return new Phrase(
    pieces.filter((_, place) => place % 2 === 0),
    pieces.filter((_, place) => place % 2 === 1).map((name) => values.get(name) ?? ''),
  );
}
