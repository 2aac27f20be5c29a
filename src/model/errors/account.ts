import { type ErrorRow, readAgain, wrongId } from './error-row.ts';

export const accountErrors = {
  'account.not_found': {
    status: 404,
    message: 'User not found.',
    cause: 'No account has this id.',
    remedy: wrongId,
  },
  'account.username_taken': {
    status: 409,
    message: 'This username is already taken.',
    cause: 'Another account has this username. Case and Unicode form do not distinguish names.',
    remedy: 'Choose another username.',
  },
  'account.username_fixed': {
    status: 403,
    message: 'Usernames cannot be changed here.',
    cause: 'A user wants another username, and the setting `allow_username_change` is off.',
    remedy: 'Ask an administrator, who can change it or turn the setting on.',
  },
  'avatar.unreadable': {
    status: 400,
    message: 'This is not a PNG, JPEG, WebP or GIF picture, or it is damaged.',
    cause:
      'The file is none of the formats by its content, is cut off or damaged, or took too long to decode.',
    remedy: 'Save the picture as JPEG or PNG again and send that.',
  },
  'avatar.too_many_pixels': {
    status: 400,
    message: 'The picture has too many pixels: at most 24 million, and 10,000 on a side.',
    cause: 'The picture is larger than a camera takes them, however small its file is.',
    remedy: 'Send a smaller one: 256 pixels on a side are kept.',
  },
  'avatar.busy': {
    status: 503,
    message: 'Too many pictures at once. Try again in a moment.',
    cause: 'Pictures are decoded one at a time, and several wait already.',
    remedy: 'Repeat the request after the seconds of `Retry-After`.',
  },
  'account.deletion_off': {
    status: 403,
    message: 'Accounts cannot be deleted by their owners here.',
    cause: 'A user wants to delete their account, and the setting `allow_account_deletion` is off.',
    remedy: 'Ask an administrator, who can delete it or turn the setting on.',
  },
  'account.email_keep_waits': {
    status: 409,
    message: 'The new address can be kept 24 hours after the change was stopped.',
    cause:
      'A change of the e-mail address was stopped less than 24 hours ago, and its user wants to keep the new address.',
    remedy:
      'Wait until `keep_from` of `GET /account/api/email`, go back to the former address at once, or ask an administrator, who can do either.',
  },
  'account.no_stopped_change': {
    status: 409,
    message: 'No change of an address of this user was stopped.',
    cause:
      'An administrator settles a stopped change of an e-mail address, and there is none, or not any more.',
    remedy: 'Read the user again: `stopped_email_change` says whether there is one.',
  },
  'account.email_frozen': {
    status: 409,
    message: 'A change of this address was stopped. Decide on it before the next one.',
    cause: 'Someone with the former mailbox stopped the last change of the e-mail address.',
    remedy:
      'The user keeps one of the two addresses on `/account/email`, or an administrator sets one of them as verified.',
  },
  'account.email_domain': {
    status: 400,
    message: 'E-mail addresses of this domain are not accepted here.',
    cause: 'The settings say which e-mail domains people may sign up with, or add to their accounts.',
    remedy:
      'Use an address of another domain. Administrators: `signup_allowed_email_domains`, `signup_blocked_email_domains`.',
  },
  'account.too_many_emails': {
    status: 409,
    message: 'The account has as many addresses as one can have. Remove one first.',
    cause: 'An account has up to five addresses, those included that wait for their links.',
    remedy: 'Remove one, then add the other.',
  },
  'account.email_taken': {
    status: 409,
    message: 'This e-mail address is already in use.',
    cause: 'Another account has this e-mail address.',
    remedy: 'Use another address, or sign in to that account.',
  },
  'account.last_admin': {
    status: 409,
    message: 'At least one active administrator must remain.',
    cause: 'The change would leave no active administrator.',
    remedy: 'Make another active user an administrator first.',
  },
  'account.changed': {
    status: 412,
    message: 'The user was changed since you read it.',
    cause: 'The user or application changed between reading and writing.',
    remedy: readAgain,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
