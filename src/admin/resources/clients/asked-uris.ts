// Addresses that a link asks to add to the redirect URIs of an application (`?add_redirect_uri=…`), as error pages and guides
// offer it. The link comes from anywhere: it fills in the form and saves nothing, and the page says so and names the host.
import type { ClientView } from '../../../clients/index.ts';
import type { AdminContext } from '../../pages/page.ts';
import { type UriVerdict, verdictsOn } from './uri-verdicts.ts';

const PARAMETER = 'add_redirect_uri';
const MOST = 5;
/** Of an address that is longer nothing more is shown; the rules refuse it anyway. */
const MOST_TEXT = 2001;

export interface AskedUri extends UriVerdict {
  /** Where sign-ins would be sent to: `host`, this computer (`loopback`), or whatever claims a `scheme`. */
  readonly target: 'host' | 'loopback' | 'scheme';
  /** In ASCII, so that no letter passes for another one. */
  readonly name: string;
  /** None of the registered addresses leads there. */
  readonly isNewTarget: boolean;
  readonly isRegistered: boolean;
}

export interface AskedUris {
  readonly items: readonly AskedUri[];
  /** The form's lines: the registered addresses, then those asked for that may be registered. */
  readonly lines: readonly string[];
  readonly isFilled: boolean;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
/** White space and control characters: one parameter would be several lines of the form. */
const BREAKS = /[\s\p{Cc}]/u;

function targetOf(uri: string): Pick<AskedUri, 'target' | 'name'> {
  const url = URL.parse(uri);
  if (url === null) return { target: 'scheme', name: '' };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { target: 'scheme', name: url.protocol };
  return { target: LOOPBACK.test(url.hostname) ? 'loopback' : 'host', name: url.host };
}

const askedBy = (query: URLSearchParams): string[] =>
  [...new Set(query.getAll(PARAMETER))].slice(0, MOST).map((uri) => uri.slice(0, MOST_TEXT));

async function verdictOn(context: AdminContext, uri: string, type: unknown): Promise<UriVerdict> {
  if (BREAKS.test(uri)) return { uri, problem: 'must not contain spaces or line breaks' };
  const [verdict] = await verdictsOn(context, [uri], type);
  return verdict ?? { uri };
}

/** @returns undefined without such a link */
export async function readAskedUris(
  context: AdminContext,
  client: ClientView,
): Promise<AskedUris | undefined> {
  const asked = askedBy(context.query);
  if (asked.length === 0) return undefined;
  const registered = Array.isArray(client.redirect_uris) ? client.redirect_uris.map(String) : [];
  const targets = new Set(registered.map((uri) => targetOf(uri).name));
  const verdicts = await Promise.all(asked.map((uri) => verdictOn(context, uri, client.application_type)));
  const items = verdicts.map((verdict) => {
    const { target, name } = targetOf(verdict.uri);
    const isRegistered = registered.includes(verdict.uri);
    return { ...verdict, target, name, isRegistered, isNewTarget: target === 'host' && !targets.has(name) };
  });
  const added = items.filter(({ problem, isRegistered }) => problem === undefined && !isRegistered);
  return {
    items,
    lines: [...registered, ...added.map(({ uri }) => uri)],
    isFilled: context.canChange && added.length > 0,
  };
}
