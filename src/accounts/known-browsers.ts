// The browsers that an account knows (decision 0012; OWASP's device cookies), as pure changes of its record. A
// complete sign-in gives the browser a random value in a cookie; the account stores a digest bound to it. The value
// authenticates no user: it only lets the browser pass a lock that guesses from other browsers caused.
import { secretDigest } from '../ids.ts';
import type { AccountRecord } from '../store/collections.ts';
import type { KnownBrowser } from '../store/guess-records.ts';

/** The random values that a browser sent. Most belong to other accounts. */
export type BrowserTokens = readonly string[];

const MAX_BROWSERS = 10;
const MAX_FAILURES = 10;
const LIFETIME_MS = 90 * 86_400_000;

const digestOf = (accountId: string, token: string): string =>
  secretDigest(JSON.stringify([accountId, token]));

const liveOf = (record: Readonly<AccountRecord>, now: number): KnownBrowser[] =>
  (record.knownBrowsers ?? []).filter(({ expiresAt }) => expiresAt > now);

const withBrowsers = (record: AccountRecord, knownBrowsers: KnownBrowser[]): AccountRecord => {
  const { knownBrowsers: _before, ...rest } = record;
  return knownBrowsers.length === 0 ? rest : { ...rest, knownBrowsers };
};

/** @returns the browser that sent one of these values, if the account knows it */
export function findKnownBrowser(
  accountId: string,
  record: Readonly<AccountRecord>,
  tokens: BrowserTokens,
  now: number,
): KnownBrowser | undefined {
  const live = liveOf(record, now);
  if (live.length === 0) return undefined;
  const digests = new Set(tokens.map((token) => digestOf(accountId, token)));
  return live.find(({ digest }) => digests.has(digest));
}

/** A new value replaces those the browser had, so that a planted or copied value is worthless after a sign-in. */
export function rememberBrowser(
  accountId: string,
  record: AccountRecord,
  { before, token }: { readonly before: BrowserTokens; readonly token: string },
  now: number,
): AccountRecord {
  const replaced = new Set(before.map((one) => digestOf(accountId, one)));
  const others = liveOf(record, now).filter(({ digest }) => !replaced.has(digest));
  const browser = { digest: digestOf(accountId, token), expiresAt: now + LIFETIME_MS, failures: 0 };
  return withBrowsers(record, [browser, ...others].slice(0, MAX_BROWSERS));
}

/** Whether the account still knows the browser of that digest. */
export const isKnownBrowser = (record: Readonly<AccountRecord>, digest: string, now: number): boolean =>
  liveOf(record, now).some((browser) => browser.digest === digest);

const countIn = (
  record: AccountRecord,
  digest: string,
  now: number,
  counter: 'failures' | 'codeFailures',
): AccountRecord =>
  withBrowsers(
    record,
    liveOf(record, now)
      .map((browser) =>
        browser.digest === digest ? { ...browser, [counter]: (browser[counter] ?? 0) + 1 } : browser,
      )
      .filter(({ failures, codeFailures = 0 }) => failures < MAX_FAILURES && codeFailures < MAX_FAILURES),
  );

/** Counts one wrong password in that browser. @returns undefined when the account no longer knows it */
export const countBrowserFailure = (
  record: AccountRecord,
  digest: string,
  now: number,
): AccountRecord | undefined =>
  isKnownBrowser(record, digest, now) ? countIn(record, digest, now, 'failures') : undefined;

/** Counts one wrong code of a second factor in a browser that the account knows; the tenth makes it unknown. */
export const countBrowserCode = (record: AccountRecord, digest: string, now: number): AccountRecord =>
  countIn(record, digest, now, 'codeFailures');

/** Takes the latest back. */
export const uncountBrowserCode = (record: AccountRecord, digest: string): AccountRecord =>
  withBrowsers(
    record,
    (record.knownBrowsers ?? []).map((browser) =>
      browser.digest === digest
        ? { ...browser, codeFailures: Math.max(0, (browser.codeFailures ?? 0) - 1) }
        : browser,
    ),
  );

export const clearBrowserFailures = (record: AccountRecord): AccountRecord =>
  withBrowsers(
    record,
    (record.knownBrowsers ?? []).map(({ codeFailures: _, ...browser }) => ({ ...browser, failures: 0 })),
  );

/** @param tokens of the browser that stays known; default: none stays */
export function forgetBrowsers(
  accountId: string,
  record: AccountRecord,
  tokens: BrowserTokens = [],
): AccountRecord {
  const kept = new Set(tokens.map((token) => digestOf(accountId, token)));
  return withBrowsers(
    record,
    (record.knownBrowsers ?? []).filter(({ digest }) => kept.has(digest)),
  );
}
