// What mail needs. Both: '' for none.
import type { Kind } from './kind.ts';
import { isMailAddress } from './mail-address.ts';
import { parseSmtpUrl } from './smtp-url.ts';
import { oneLine } from './text-kinds.ts';

const EMAIL = 'Must be one e-mail address such as no-reply@example.com, or empty.';

/** One plain address; the display name is the product's name. */
export const email: Kind<string> = {
  schema: { type: 'string', anyOf: [{ format: 'email', maxLength: 254 }, { enum: [''] }] },
  control: 'email',
  problems: [EMAIL],
  parse: (given) =>
    typeof given === 'string' && (given === '' || isMailAddress(given))
      ? { value: given }
      : { problem: EMAIL },
};

const SMTP =
  'Must be like smtps://user:password@mail.example.com:465 (or smtp://, smtp+starttls://), special ' +
  'characters of user and password %-encoded, or empty.';

/** May contain a password, so it is never shown. */
export const smtpUrl: Kind<string> = {
  schema: { type: 'string', pattern: oneLine },
  control: 'url',
  problems: [SMTP],
  parse: (given) =>
    typeof given === 'string' && (given === '' || parseSmtpUrl(given) !== undefined)
      ? { value: given }
      : { problem: SMTP },
};
