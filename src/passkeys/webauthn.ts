// The door to @simplewebauthn/server, loaded with the first ceremony: it brings a certificate library along, which takes
// longer to load than the rest of the server together and is of no use to who signs in otherwise.

export const webauthn = () => import('@simplewebauthn/server');

/**
 * COSE algorithms (RFC 9053) that a passkey may have, the best first: EdDSA, ES256, RS256. Named here, because the library
 * otherwise tries out what the runtime has beyond these, and the runtime warns of that on the console.
 */
export const ALGORITHMS = [-8, -7, -257];
