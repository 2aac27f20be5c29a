import { deviceName, type Origin } from '../events/index.ts';
import type { MailValues } from './templates.ts';

/** What a mail reports of the request that caused it, and the browser's language. @param at epoch ms */
export function requestValues(
  origin: Origin | undefined,
  at: number,
): { values: MailValues; language: string | undefined } {
  if (origin === undefined) return { values: { at }, language: undefined };
  const { ipAddress, userAgent, language } = origin;
  return { values: { ipAddress, device: deviceName(userAgent), at }, language };
}

/** What a mail says of its reader's account. */
export const readerValues = (reader: {
  readonly username: string;
  readonly profile: { readonly zoneinfo?: string | undefined };
}): MailValues => ({ username: reader.username, timeZone: reader.profile.zoneinfo ?? '' });
