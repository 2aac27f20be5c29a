// The words for a browser that people recognise ("Firefox on Windows"), from its User-Agent. Shown, never trusted: of an
// unknown one bowser repeats what it calls itself, which could be anybody's message in our mails; only its list counts.
import Bowser from 'bowser';

const MAX_LENGTH = 512;

const browsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const systems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/** What people call it, where that differs. */
const usual: ReadonlyMap<string, string> = new Map([
  ['Microsoft Edge', 'Edge'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['Chrome OS', 'ChromeOS'],
]);

const named = (name: string, known: ReadonlySet<string>): string | undefined =>
  known.has(name) ? (usual.get(name) ?? name) : undefined;

/** @returns for example "Chrome on Windows"; "Unknown" when nothing of it is known */
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
