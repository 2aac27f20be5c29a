// What a guide is: how to connect one framework or product, with the values of an application filled in. The Admin UI shows
// it with real values, docs/guides/ with examples, and the tests run or parse the very same lines.

/** How a guide is known to work; never more than a test of ours shows. */
export type Mark =
  | { readonly how: 'run'; readonly with: string }
  | { readonly how: 'parsed' | 'manual'; readonly from: string };

/** The kinds of application that the wizard offers. */
export type ApplicationTemplate = 'web' | 'spa' | 'native' | 'machine' | 'device' | 'agent' | 'product';

export interface Guide {
  /** Also the name of its template in templates/guides/. */
  readonly id: string;
  readonly label: string;
  /** The library that is used, or what the product calls it. */
  readonly by: string;
  readonly kind: ApplicationTemplate;
  /** Example origin of the application, as its developer or operator has it first. */
  readonly origin: string;
  /** What follows the origin in its redirect URIs; the first is the one that the lines contain. */
  readonly redirects: readonly string[];
  readonly afterLogout?: readonly string[];
  /** What differs from the defaults of its kind. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly mark: Mark;
}

export interface GuideValues {
  readonly name: string;
  readonly clientId: string;
  readonly issuer: string;
  /** Address of the discovery document. */
  readonly discovery: string;
  readonly jwks: string;
  readonly redirectUri: string;
  /** Of the application, derived from the redirect URI; the guide's example where that has none. */
  readonly origin: string;
  /** On the only page that shows it. */
  readonly clientSecret?: string | undefined;
}

/** When the guides were last run, parsed, or compared with their manuals. */
export const CHECKED_AT = '2026-11-24';

/** @param origin where the application is; default: as in the example */
export const redirectUrisOf = (guide: Guide, origin = guide.origin): string[] =>
  guide.redirects.map((end) => `${origin}${end}`);

/** @returns undefined where its manual names none */
export const postLogoutUrisOf = (guide: Guide, origin = guide.origin): string[] | undefined =>
  guide.afterLogout?.map((end) => `${origin}${end}`);
