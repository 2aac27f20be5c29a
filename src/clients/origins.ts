// The origins of an application: its scripts run there, so they may read its responses (decision 0022).
import { isLoopbackHost } from '../model/uris.ts';
import type { ClientRecord } from '../store/collections.ts';
import { isStringList } from './metadata-rules.ts';

/** Without those of plain http, where anyone on the way is that origin, and of custom schemes, which have none. */
function originOfRedirect(uri: string): string | undefined {
  const { protocol, hostname, origin } = URL.parse(uri) ?? {};
  if (protocol === 'https:') return origin;
  return protocol === 'http:' && isLoopbackHost(hostname ?? '') ? origin : undefined;
}

/** All of an application's. */
export function originsOf({ metadata, webOrigins = [] }: ClientRecord): string[] {
  const { redirect_uris: uris } = metadata;
  const ofRedirects = isStringList(uris) ? uris.map(originOfRedirect) : [];
  return [...webOrigins, ...ofRedirects.filter((origin) => origin !== undefined)];
}

/** Whether the origin is exactly one of the application's: of a redirect URI, or of `web_origins`. */
export function hasOrigin({ metadata, webOrigins = [] }: ClientRecord, origin: string): boolean {
  const { redirect_uris: uris } = metadata;
  if (webOrigins.includes(origin)) return true;
  return isStringList(uris) && uris.some((uri) => originOfRedirect(uri) === origin);
}
