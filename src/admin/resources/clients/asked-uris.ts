// Addresses that a link asks to add to the redirect URIs of an application (`?add_redirect_uri=…`), as error pages and guides
// offer it, or to those after a sign-out (`?add_post_logout_redirect_uri=…`). The link comes from anywhere: it fills in the form and
// saves nothing, and the page says so and names the host.
import type { ClientView } from '../../../clients/index.ts';
import { textsOf } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';
import { type UriVerdict, verdictsOn } from './uri-verdicts.ts';

/** The fields of the form, and the parameters that fill them in; a link fills in one field. */
const PARAMETERS = {
  redirect_uris: 'add_redirect_uri',
  post_logout_redirect_uris: 'add_post_logout_redirect_uri',
} as const;

type AskedField = keyof typeof PARAMETERS;
const FIELDS: readonly AskedField[] = ['redirect_uris', 'post_logout_redirect_uris'];

const MOST = 5;
/** Of an address that is longer nothing more is shown; the rules refuse it anyway. */
const MOST_TEXT = 2001;

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
/** White space and control characters: one parameter would be several lines of the form. */
const BREAKS = /[\s\p{Cc}]/u;

/**
 * Where sign-ins would be sent to: `host`, this computer (`loopback`), or whatever claims a `scheme`; its name is in ASCII, so that
 * no letter passes for another one.
 */
function targetOf(uri: string) {
  const url = URL.parse(uri);
  if (url === null) return { target: 'scheme', name: '' };
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { target: 'scheme', name: url.protocol };
  return { target: LOOPBACK.test(url.hostname) ? 'loopback' : 'host', name: url.host };
}

const askedBy = (query: URLSearchParams, field: AskedField): string[] =>
  [...new Set(query.getAll(PARAMETERS[field]))].slice(0, MOST).map((uri) => uri.slice(0, MOST_TEXT));

async function verdictOn(context: AdminContext, uri: string, type: unknown): Promise<UriVerdict> {
  if (BREAKS.test(uri)) return { uri, problem: 'must not contain spaces or line breaks' };
  const [verdict] = await verdictsOn(context, [uri], type);
  return verdict ?? { uri };
}

/** @returns undefined without such a link */
export async function readAskedUris(context: AdminContext, client: ClientView) {
  const { query } = context;
  const field = FIELDS.find((name) => query.has(PARAMETERS[name]));
  if (field === undefined) return undefined;
  const asked = askedBy(query, field);
  const registered = textsOf(client[field]);
  // Where codes go already, users may be expected to return to.
  const targets = new Set([...registered, ...textsOf(client.redirect_uris)].map((uri) => targetOf(uri).name));
  const verdicts = await Promise.all(asked.map((uri) => verdictOn(context, uri, client.application_type)));
  const items = verdicts.map((verdict) => {
    const { target, name } = targetOf(verdict.uri);
    const isRegistered = registered.includes(verdict.uri);
    // None of the registered addresses leads there.
    const isNewTarget = target === 'host' && !targets.has(name);
    return { ...verdict, target, name, isRegistered, isNewTarget };
  });
  const added = items.filter(({ problem, isRegistered }) => problem === undefined && !isRegistered);
  return {
    field,
    items,
    /** Of the form: the registered addresses, then those asked for that may be registered. */
    lines: [...registered, ...added.map(({ uri }) => uri)],
    isFilled: context.canChange && added.length > 0,
  };
}
