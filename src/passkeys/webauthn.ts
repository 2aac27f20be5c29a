// The only import of @simplewebauthn/server, loaded at the first ceremony: its certificate library takes longer to
// load than the rest of the server, and other ways to sign in do not need it.

export const webauthn = () => import('@simplewebauthn/server');

/**
 * COSE algorithms (RFC 9053) of accepted passkeys, preferred first: EdDSA, ES256, RS256. Listed here, because the
 * library would otherwise try further ones of the runtime, which prints warnings about them.
 */
export const ALGORITHMS = [-8, -7, -257];
