// The part of error-notes.ts that is about changes of an address that were stopped.

export const stoppedChangeNotes = {
  'account.email_keep_waits': {
    cause:
      'A change of the e-mail address was stopped less than 24 hours ago, and its user wants to keep the new address.',
    remedy:
      'Wait until `keep_from` of `GET /account/api/email`, go back to the former address at once, or ask an administrator, who can do either.',
  },
  'account.no_stopped_change': {
    cause:
      'An administrator settles a stopped change of an e-mail address, and there is none, or not any more.',
    remedy: 'Read the user again: `stopped_email_change` says whether there is one.',
  },
  'account.email_frozen': {
    cause: 'Someone with the former mailbox stopped the last change of the e-mail address.',
    remedy:
      'The user keeps one of the two addresses on `/account/email`, or an administrator sets one of them as verified.',
  },
} as const;
