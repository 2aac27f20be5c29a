// Derives a familiar name of a browser ("Firefox on Windows") from its User-Agent. For display only: bowser repeats
// the name of an unknown browser, with which an attacker could put a message into our mails, so only names on its
// list count.
import Bowser from 'bowser';

const MAX_LENGTH = 512;

const browsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const systems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/** Familiar names, where they differ from bowser's. */
const usual: ReadonlyMap<string, string> = new Map([
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['Chrome OS', 'ChromeOS'],
]);

const named = (name: string, known: ReadonlySet<string>): string | undefined =>
  known.has(name) ? (usual.get(name) ?? name) : undefined;

/** The two names in it, for pages and mails that put them together in their own language; neither of "Unknown". */
export function deviceParts(name: string): { readonly browser?: string; readonly system?: string } {
  const [browser, system] = name.split(' on ');
  if (browser === undefined || browser === 'Unknown') return {};
  return system === undefined ? { browser } : { browser, system };
}

/** @returns for example "Chrome on Windows"; "Unknown" if nothing is recognised */
export function deviceName(userAgent: string): string {
  const text = userAgent.slice(0, MAX_LENGTH);
  if (text === '') return 'Unknown';
  const parser = Bowser.getParser(text);
  const browser = named(parser.getBrowserName(), browsers);
  const { model } = parser.getPlatform();
  const system = model === 'iPhone' || model === 'iPad' ? model : named(parser.getOSName(), systems);
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'Unknown';
}
