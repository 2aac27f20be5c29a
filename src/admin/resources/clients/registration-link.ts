// A link that fills in the form for a new application, as a program on a developer's machine offers it (`npm run sample`). It
// comes from anywhere, so it is only text in a form: an administrator reads it and presses the button. What widens trust is
// never taken from it: consent, PKCE and groups are the administrator's own choice.
import type { Values } from '../../pages/page.ts';

/** Parameters of the link, named as the form's fields. */
const FIELDS = ['name', 'type', 'redirect_uris', 'post_logout_redirect_uris', 'return_to'] as const;
const MAX_FIELD = 2_000;

/** @returns the values for the form; undefined without a link */
export function filledByLink(query: URLSearchParams): Values | undefined {
  const given = FIELDS.map((name) => [name, (query.get(name) ?? '').slice(0, MAX_FIELD)] as const).filter(
    ([, value]) => value !== '',
  );
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

const isWeb = ({ protocol }: URL): boolean => protocol === 'https:' || protocol === 'http:';

export interface WayBack {
  readonly href: string;
  /** Shown, so that nobody is sent somewhere unseen. */
  readonly host: string;
}

/**
 * Where the program waits for its client ID, which is public; never the secret.
 * @param redirectUris as registered: an address of another origin is not the application's, and leads nowhere
 * @param clientId added to the address, once there is one
 */
export function wayBack(
  returnTo: string | undefined,
  redirectUris: readonly string[],
  clientId?: string,
): WayBack | undefined {
  const url = URL.parse(returnTo ?? '');
  if (url === null || !isWeb(url) || url.username !== '' || url.password !== '') return undefined;
  const origins = redirectUris.map((uri) => URL.parse(uri)).filter((uri) => uri !== null && isWeb(uri));
  if (!origins.some((uri) => uri?.origin === url.origin)) return undefined;
  if (clientId !== undefined) url.searchParams.set('client_id', clientId);
  return { href: url.href, host: url.host };
}
