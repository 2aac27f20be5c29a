// Owns the words for a browser that people recognise ("Firefox on Windows"), from its User-Agent. Shown, never trusted.

const MAX_LENGTH = 512;

// The order matters: every browser claims to be its ancestors, too.
const browsers: readonly (readonly [string, string])[] = [
  ['Edg/', 'Edge'],
  ['EdgA/', 'Edge'],
  ['EdgiOS/', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['HeadlessChrome/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Version/', 'Safari'],
];
const systems: readonly (readonly [string, string])[] = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['CrOS', 'ChromeOS'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
];

/** @returns for example "Chrome on Windows"; "Unknown" when nothing of it is known */
export function deviceName(userAgent: string): string {
  const text = userAgent.slice(0, MAX_LENGTH);
  const named = (names: readonly (readonly [string, string])[]): string | undefined =>
    names.find(([mark]) => text.includes(mark))?.[1];
  const [browser, system] = [named(browsers), named(systems)];
  if (browser !== undefined && system !== undefined) return `${browser} on ${system}`;
  return browser ?? system ?? 'Unknown';
}
