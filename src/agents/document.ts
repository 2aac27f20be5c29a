// What a metadata document must say to become a client: RFC 7591 members about itself, with addresses of its own origin or of the
// user's machine (decision 0026). The rules for what such a client may have are those of every quarantined one.

import { secretDigest } from '../ids.ts';
import { isMembers, parseJson } from '../json.ts';
import { isLoopbackHost } from '../model/uris.ts';
import { isBlank } from '../untrusted-text.ts';

export interface DocumentClient {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Digest of what it says about keys and authentication, which is not kept. */
  readonly says: string;
}

/** Why a document is not used, for the person and its author. */
export class DocumentRefused extends Error {
  override readonly name = 'DocumentRefused';
}

const refuse = (why: string): never => {
  throw new DocumentRefused(why);
};

/** What would be a shared secret in public (draft §4.1). */
const SECRETS = ['client_secret', 'client_secret_expires_at'];

function membersIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseJson(text, 'document');
    if (isMembers(value)) return value;
  } catch {
    // The same answer as for other JSON.
  }
  return refuse('It is not a JSON object.');
}

/** @returns whether one of them is on the user's machine */
function checkRedirects(address: URL, uris: unknown): boolean {
  if (!Array.isArray(uris) || uris.length === 0) return refuse('It has no redirect_uris.');
  let isLocal = false;
  for (const uri of uris) {
    const url = typeof uri === 'string' ? URL.parse(uri) : null;
    const isLoopback = url?.protocol === 'http:' && isLoopbackHost(url.hostname);
    if (url?.origin !== address.origin && !isLoopback)
      refuse('A redirect URI is neither of the origin of the document nor on the loopback interface.');
    isLocal ||= isLoopback;
  }
  return isLocal;
}

/** @throws DocumentRefused */
export function readDocument(address: URL, text: string): DocumentClient {
  const members = membersIn(text);
  const { client_id: id, token_endpoint_auth_method: method = 'none', jwks, jwks_uri: keys } = members;
  if (id !== address.href) refuse('Its client_id is not the address of the document.');
  if (SECRETS.some((name) => Object.hasOwn(members, name))) refuse('It contains a secret.');
  if (method !== 'none') refuse('Only token_endpoint_auth_method none is accepted.');
  const isLocal = checkRedirects(address, members.redirect_uris);
  const { client_name: name, application_type: type, redirect_uris: redirects } = members;
  return {
    metadata: {
      client_name: typeof name === 'string' && !isBlank(name) ? name : address.hostname,
      // RFC 8252 §7.3: a program on the user's machine takes the port that is free.
      application_type: type ?? (isLocal ? 'native' : 'web'),
      redirect_uris: redirects,
      grant_types: members.grant_types,
      scope: members.scope,
      software_id: members.software_id,
      software_version: members.software_version,
      token_endpoint_auth_method: 'none',
    },
    says: secretDigest(JSON.stringify([method, jwks ?? null, keys ?? null])),
  };
}
