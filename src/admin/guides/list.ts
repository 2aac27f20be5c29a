// All guides, and the values with which one is shown.
import { browserGuides, nodeGuides, phoneGuides, proxyGuides, serverGuides } from './frameworks.ts';
import { type Guide, type GuideValues, redirectUrisOf } from './guide.ts';
import { machineGuides, productGuides } from './products.ts';

interface Section {
  readonly id: string;
  readonly title: string;
  readonly guides: readonly Guide[];
}

/** In the order in which they are offered. */
export const sections: readonly Section[] = [
  { id: 'browser', title: 'In the browser', guides: browserGuides },
  { id: 'node', title: 'On a server, with Node', guides: nodeGuides },
  { id: 'server', title: 'On a server', guides: serverGuides },
  { id: 'phones', title: 'On phones', guides: phoneGuides },
  { id: 'proxies', title: 'Behind a proxy', guides: proxyGuides },
  { id: 'products', title: 'Self-hosted products', guides: productGuides },
  { id: 'programs', title: 'Without a browser', guides: machineGuides },
];

export const guides: readonly Guide[] = sections.flatMap((section) => section.guides);

export const guideOf = (id: string | undefined): Guide | undefined => guides.find((guide) => guide.id === id);

interface Application {
  readonly name: string;
  readonly clientId: string;
  readonly redirectUris: readonly string[];
}

interface Server {
  readonly issuer: string;
  /** BASE_URL */
  readonly baseUrl: string;
}

const isWeb = (uri: string): boolean => /^https?:$/.test(URL.parse(uri)?.protocol ?? '');

/**
 * Where the application is, if that redirect URI is one of the guide's: at the root of a host or in a folder.
 * @returns undefined for another redirect URI
 */
function baseOf(guide: Guide, uri: string): string | undefined {
  if (guide.redirects.length === 0) return undefined;
  if (!isWeb(guide.origin)) return !isWeb(uri) && URL.canParse(uri) ? guide.origin : undefined;
  const end = guide.redirects.find((one) =>
    one === '' ? URL.parse(uri)?.pathname === '/' : uri.endsWith(one),
  );
  return end !== undefined && isWeb(uri) ? uri.slice(0, uri.length - end.length) : undefined;
}

/** Where the application is, by the first of its redirect URIs that is one of the guide's. */
export const originOf = (guide: Guide, redirectUris: readonly string[]): string | undefined =>
  redirectUris.map((uri) => baseOf(guide, uri)).find((origin) => origin !== undefined);

/**
 * The values of one application in a guide: the registered redirect URI that fits it, else the one that has to be registered.
 * @returns also whether it is registered
 */
export function valuesFor(
  guide: Guide,
  { name, clientId, redirectUris }: Application,
  { issuer, baseUrl }: Server,
): GuideValues & { readonly isRegistered: boolean } {
  const found = redirectUris.find((uri) => baseOf(guide, uri) !== undefined);
  // Where nothing fits, what is registered says at least where the application is.
  const known = isWeb(guide.origin) ? URL.parse(redirectUris.find(isWeb) ?? '')?.origin : undefined;
  const origin = (found === undefined ? known : baseOf(guide, found)) ?? guide.origin;
  const [wanted = ''] = redirectUrisOf(guide, origin);
  return {
    name,
    clientId,
    issuer,
    discovery: `${baseUrl}/.well-known/openid-configuration`,
    jwks: `${baseUrl}/.well-known/jwks.json`,
    redirectUri: found ?? wanted,
    origin,
    isRegistered: guide.redirects.length === 0 || found !== undefined,
  };
}
