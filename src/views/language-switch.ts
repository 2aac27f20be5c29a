// Which pages have the menu of languages.
import type { PageName } from './pages.ts';

/** The pages that offer other languages. Not those that are shown once, which could not be opened again, nor those of
 * mailed links, which have one form with one button. */
const SWITCHING: ReadonlySet<string> = new Set<PageName>([
  'login',
  'signup',
  'signup-verify',
  'mfa',
  'mfa-enrol',
  'passkey-enrol',
  'passkey-offer',
  'recover',
  'forgot-password',
  'consent',
  'device',
  'onboard',
]);
/** A request can be as long as its application likes; the page would repeat it. */
const MAX_HERE = 2000;

export const canSwitch = (template: string, here: string): boolean =>
  SWITCHING.has(template) && here.length < MAX_HERE;
