import type { EventRow } from './event-row.ts';

export const administrationEvents = {
  'user.created': {
    label: 'User created',
    sentence: '{actor} created the user[ {target}].',
    class: 'general',
  },
  'user.updated': {
    label: 'User updated',
    sentence: '{actor} changed the user[ {target}].',
    class: 'general',
    activity: 'changed_by_admin',
  },
  'user.removed': {
    label: 'User deleted',
    sentence: '{actor} deleted the user[ {target}].',
    class: 'general',
  },
  'user.data_exported': {
    label: 'Own data downloaded',
    sentence: '{actor} downloaded their own data.',
    class: 'general',
    activity: 'data_exported',
    notice: 'data_exported',
  },
  // By the owner: asked for, undone by a sign-in, and carried out when its day came.
  'user.deletion_requested': {
    label: 'Owner asked for deletion',
    sentence: '{actor} asked for the deletion of their account.',
    class: 'general',
    activity: 'deletion_requested',
    notice: 'deletion_requested',
  },
  'user.deletion_undone': {
    label: 'Owner undid the deletion',
    sentence: '{actor} undid the deletion of their account.',
    class: 'general',
    activity: 'deletion_undone',
    notice: 'deletion_undone',
  },
  'user.deletion_carried_out': {
    label: 'Deleted as the owner asked',
    sentence: 'The account[ of {target}] was deleted, as its owner asked.',
    class: 'general',
  },
  'user.unlocked': {
    label: 'User unlocked',
    sentence: '{actor} unlocked[ {target}].',
    class: 'general',
    activity: 'unlocked',
  },
  'user.deactivated': {
    label: 'User deactivated',
    sentence: '{actor} deactivated[ {target}].',
    class: 'general',
  },
  'user.reactivated': {
    label: 'User reactivated',
    sentence: '{actor} reactivated[ {target}].',
    class: 'general',
  },
  'user.sessions_revoked': {
    label: 'Signed out everywhere',
    sentence: '{actor} signed[ {target}] out everywhere.',
    class: 'general',
    activity: 'signed_out',
  },
  // The owner did not recognise an activity: everything was ended.
  'user.compromise_reported': {
    label: 'Owner reported foreign activity',
    sentence: '{actor} reported activity that was not theirs.',
    class: 'general',
    activity: 'reported',
  },
  'client.created': {
    label: 'Application registered',
    sentence: '{actor} registered the application[ {target}].',
    class: 'general',
  },
  'client.updated': {
    label: 'Application updated',
    sentence: '{actor} changed the application[ {target}].',
    class: 'general',
  },
  'client.removed': {
    label: 'Application deleted',
    sentence: '{actor} deleted the application[ {target}].',
    class: 'general',
  },
  'client.secret_rotated': {
    label: 'Secret rotated',
    sentence: '{actor} rotated the secret[ of {target}].',
    class: 'general',
  },
  // By itself, having used it many times in a row.
  'client.pkce_required': {
    label: 'Application now requires PKCE',
    sentence: 'The application[ {target}] now requires PKCE.',
    class: 'general',
  },
  // A logout token for a user and a session that do not exist.
  // Whatever the application answered.
  'client.logout_tested': {
    label: 'Sign-out tested',
    sentence: '{actor} tested the sign-out[ of {target}].',
    class: 'general',
  },
  'client.trial_started': {
    label: 'Test sign-in started',
    sentence: '{actor} started a test sign-in[ to {target}].',
    class: 'general',
  },
  'client.trial_ended': {
    label: 'Test sign-in ended',
    sentence: 'A test sign-in[ to {target}] ended.',
    class: 'general',
  },
  'api.created': {
    label: 'API created',
    sentence: '{actor} created the API[ {target}].',
    class: 'general',
  },
  'api.updated': {
    label: 'API updated',
    sentence: '{actor} changed the API[ {target}].',
    class: 'general',
  },
  'api.removed': {
    label: 'API deleted',
    sentence: '{actor} deleted the API[ {target}].',
    class: 'general',
  },
  'apis.imported': {
    label: 'APIs imported',
    sentence: '{actor} imported APIs.',
    class: 'general',
  },
  'api.secret_rotated': {
    label: 'Introspection secret of an API rotated',
    sentence: '{actor} rotated the introspection secret[ of {target}].',
    class: 'general',
  },
  'registration_token.created': {
    label: 'Registration token created',
    sentence: '{actor} created a registration token.',
    class: 'general',
  },
  'registration_token.removed': {
    label: 'Registration token revoked',
    sentence: '{actor} revoked a registration token.',
    class: 'general',
  },
  'users.imported': {
    label: 'Users imported',
    sentence: '{actor} imported users.',
    class: 'general',
  },
  'users.exported': {
    label: 'Users exported',
    sentence: '{actor} exported the list of users.',
    class: 'general',
  },
  'audit.exported': {
    label: 'Audit log exported',
    sentence: '{actor} exported the audit log.',
    class: 'general',
  },
  'group.created': {
    label: 'Group created',
    sentence: '{actor} created the group[ {target}].',
    class: 'general',
  },
  'group.updated': {
    label: 'Group updated',
    sentence: '{actor} changed the group[ {target}].',
    class: 'general',
  },
  'group.removed': {
    label: 'Group deleted',
    sentence: '{actor} deleted the group[ {target}].',
    class: 'general',
  },
  'group.member_added': {
    label: 'Added to a group',
    sentence: '{actor} added[ {target}] to a group.',
    class: 'general',
  },
  'group.member_removed': {
    label: 'Removed from a group',
    sentence: '{actor} removed[ {target}] from a group.',
    class: 'general',
  },
  'api_key.created': {
    label: 'API key created',
    sentence: '{actor} created the API key[ {target}].',
    class: 'general',
  },
  'api_key.revoked': {
    label: 'API key revoked',
    sentence: '{actor} revoked the API key[ {target}].',
    class: 'general',
  },
  'settings.changed': {
    label: 'Settings changed',
    sentence: '{actor} changed settings.',
    class: 'general',
  },
  'branding.changed': {
    label: 'Branding changed',
    sentence: '{actor} changed the branding.',
    class: 'general',
  },
  'branding.restored': {
    label: 'Earlier branding restored',
    sentence: '{actor} restored an earlier version of the branding.',
    class: 'general',
  },
  'branding.imported': {
    label: 'Branding imported',
    sentence: '{actor} imported branding.',
    class: 'general',
  },
  'branding.picture_uploaded': {
    label: 'Picture uploaded',
    sentence: '{actor} uploaded a picture for the branding.',
    class: 'general',
  },
  // The mail server accepted it.
  'mail.test_sent': {
    label: 'Test mail sent',
    sentence: '{actor} sent a test mail.',
    class: 'general',
  },
  'mail.test_failed': {
    label: 'Test mail not sent',
    sentence: '{actor} tried to send a test mail, which was not sent.',
    class: 'general',
  },
  'key.rotation_requested': {
    label: 'Key rotation requested',
    sentence: '{actor} asked for a new signing key.',
    class: 'general',
  },
  'key.rotated': {
    label: 'Signing key rotated',
    sentence: 'A new signing key was put to use.',
    class: 'general',
  },
  'onboarding.completed': {
    label: 'First administrator created',
    sentence: 'The first administrator was created.',
    class: 'general',
  },
  // An administrator's act that has no name of its own yet; its details say which route it was.
  'admin.acted': {
    label: 'Administrator action',
    sentence: '{actor} did something that has no name of its own yet.',
    class: 'general',
  },
} as const satisfies Readonly<Record<string, EventRow>>;
