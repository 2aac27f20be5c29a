// The only import of @simplewebauthn/server, loaded at the first ceremony: its certificate library takes longer to
// load than the rest of the server, and other ways to sign in do not need it.

export const webauthn = () => import('@simplewebauthn/server');

/**
 * COSE algorithms (RFC 9053) of accepted passkeys, preferred first: EdDSA, ES256, RS256. Listed here, because the
 * library would otherwise try further ones of the runtime, which prints warnings about them.
 */
export const ALGORITHMS = [-8, -7, -257];

/**
 * What an authenticator sent without its attestation, which is neither requested nor verified (decision 0014). The library
 * verifies whatever format it is sent, for `android-key` up to a root that the sender brings, and fetches revocation lists from the
 * addresses in the sender's certificates. `none` is the one format that it only parses.
 * @returns undefined for what is no attestation object (WebAuthn §6.5.4), or one without authenticator data
 */
export async function withoutAttestation(attestationObject: string): Promise<string | undefined> {
  const { isoBase64URL, isoCBOR } = await import('@simplewebauthn/server/helpers');
  const sent = isoCBOR.decodeFirst<unknown>(isoBase64URL.toBuffer(attestationObject));
  const authData: unknown = sent instanceof Map ? sent.get('authData') : undefined;
  if (!(authData instanceof Uint8Array)) return undefined;
  const bare = new Map<string, string | Uint8Array | Map<string, string>>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, string>()],
    ['authData', authData],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(bare));
}
