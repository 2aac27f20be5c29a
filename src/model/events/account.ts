import type { EventRow } from './event-row.ts';

export const accountEvents = {
  'profile.changed': {
    label: 'Profile changed by its owner',
    sentence: '{actor} changed their own profile.',
    class: 'general',
    activity: 'profile_changed',
  },
  'avatar.changed': {
    label: 'Picture changed by its owner',
    sentence: '{actor} changed their picture.',
    class: 'general',
    activity: 'profile_changed',
  },
  'avatar.removed': {
    label: 'Picture removed',
    sentence: '{actor} removed the picture[ of {target}].',
    class: 'general',
    activity: 'profile_changed',
  },
  'username.changed': {
    label: 'Username changed by its owner',
    sentence: '{actor} changed their own username.',
    class: 'general',
    activity: 'username_changed',
  },
  'password.changed': {
    label: 'Password changed',
    sentence: '{actor} changed the password[ of {target}].',
    class: 'general',
    activity: 'password_changed',
    notice: 'password_changed',
  },
  'password.reset_requested': {
    label: 'Password reset requested',
    sentence: '{actor} asked for a password reset[ of {target}].',
    class: 'general',
  },
  'password.reset_withheld': {
    label: 'Password reset asked for again',
    sentence: 'A password reset[ for {target}] was asked for again, and no e-mail was made.',
    class: 'general',
  },
  'password.reset': {
    label: 'Password reset',
    sentence: '{actor} set a new password by a mailed link.',
    class: 'general',
    activity: 'password_reset',
    notice: 'password_changed',
  },
  'email.change_requested': {
    label: 'Another e-mail address asked for',
    sentence: '{actor} asked to change their e-mail address.',
    class: 'general',
    activity: 'email_change_requested',
  },
  'email.added': {
    label: 'E-mail address added',
    sentence: '{actor} added an e-mail address.',
    class: 'general',
    activity: 'email_added',
  },
  'email.removed': {
    label: 'E-mail address removed',
    sentence: '{actor} removed an e-mail address.',
    class: 'general',
    activity: 'email_removed',
    notice: 'email_removed',
  },
  // An older version, which knows no further addresses, let another account have it as its primary one.
  'email.yielded': {
    label: 'E-mail address given up to another account',
    sentence: 'An e-mail address[ of {target}] was given up: another account has it.',
    class: 'general',
    activity: 'email_removed',
    notice: 'email_removed',
  },
  // By a link in the mail to the primary address; sessions ended.
  'email.addition_stopped': {
    label: 'Added e-mail address removed from the primary mailbox',
    sentence: 'The addition of an e-mail address[ of {target}] was stopped.',
    class: 'general',
    activity: 'email_addition_stopped',
    isProblem: true,
  },
  'email.changed': {
    label: 'E-mail changed',
    sentence: '{actor} changed their e-mail address.',
    class: 'general',
    activity: 'email_changed',
  },
  // By a link in the mail to the old address; sessions ended, neither address counts.
  'email.change_stopped': {
    label: 'E-mail change stopped',
    sentence: 'The change of the e-mail address[ of {target}] was stopped.',
    class: 'general',
    activity: 'email_change_stopped',
    isProblem: true,
  },
  'email.change_settled': {
    label: 'Stopped e-mail change settled',
    sentence: 'The stopped change of the e-mail address[ of {target}] was settled.',
    class: 'general',
    activity: 'email_change_settled',
  },
  'email.verification_requested': {
    label: 'E-mail verification requested',
    sentence: '{actor} asked for a verification e-mail[ to {target}].',
    class: 'general',
  },
  'email.verified': {
    label: 'E-mail verified',
    sentence: 'The e-mail address[ of {target}] was verified.',
    class: 'general',
    activity: 'email_verified',
  },
  'magic_link.requested': {
    label: 'Sign-in link requested',
    sentence: 'A sign-in link[ for {target}] was requested.',
    class: 'general',
  },
  'magic_link.used': {
    label: 'Sign-in link used',
    sentence: '{actor} used a sign-in link.',
    class: 'general',
  },
  'signup.completed': {
    label: 'Signed up',
    sentence: '{actor} signed up.',
    class: 'general',
  },
  'invitation.created': {
    label: 'Invitation created',
    sentence: '{actor} created an invitation.',
    class: 'general',
  },
  'invitation.renewed': {
    label: 'Invitation renewed',
    sentence: '{actor} made new links of an invitation.',
    class: 'general',
  },
  'invitation.used': {
    label: 'Invitation accepted',
    sentence: '{actor} accepted an invitation.',
    class: 'general',
  },
  'invitation.revoked': {
    label: 'Invitation revoked',
    sentence: '{actor} revoked an invitation.',
    class: 'general',
  },
  'enrolment.requested': {
    label: 'Set-up link created',
    sentence: '{actor} created a set-up link[ for {target}].',
    class: 'general',
  },
  'enrolment.completed': {
    label: 'Account set up',
    sentence: '{actor} set up the account.',
    class: 'general',
  },
} as const satisfies Readonly<Record<string, EventRow>>;
