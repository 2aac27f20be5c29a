// Which client ids are addresses of metadata documents (Client ID Metadata Documents, draft-ietf-oauth-client-id-metadata-document §3).

/** The protocol core finds no client by a longer id. */
const MAX_LENGTH = 200;

/** @returns the address, or undefined when it is none that is ever fetched; compared as text, so it has one spelling only */
export function documentAddress(clientId: string): URL | undefined {
  if (!clientId.startsWith('https://') || clientId.length > MAX_LENGTH) return undefined;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId) return undefined;
  const { hostname, pathname, port, username, password, search, hash } = url;
  const isPlain = port === '' && username === '' && password === '' && search === '' && hash === '';
  const isNamed = hostname.includes('.') && !hostname.endsWith('.') && /[a-z]/.test(hostname);
  // A document of its own, not whatever a host answers at its root.
  return isPlain && isNamed && pathname !== '/' && !/[%;]/.test(pathname) ? url : undefined;
}
