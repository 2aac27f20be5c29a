// Initial metadata of the four kinds of application; the metadata rules apply to it as well.

export type ApplicationKind = 'web' | 'spa' | 'native' | 'machine';

const signIn = {
  response_types: ['code'],
  scope: 'openid profile email offline_access',
} as const;

const defaults: Readonly<Record<ApplicationKind, Readonly<Record<string, unknown>>>> = {
  // A server renders the pages and keeps a secret.
  web: {
    ...signIn,
    application_type: 'web',
    grant_types: ['authorization_code', 'refresh_token'],
  },
  // Code in the browser cannot keep a secret (RFC 9700 §2.1.1: PKCE instead).
  spa: {
    ...signIn,
    application_type: 'web',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
  },
  // RFC 8252 §8.4: native applications are public clients.
  native: {
    ...signIn,
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
  },
  // No user signs in: the program acts for itself (RFC 6749 §4.4).
  machine: {
    application_type: 'web',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  },
};

/** @returns a fresh copy of the metadata that a new application of this kind starts with */
export const applicationDefaults = (kind: ApplicationKind): Record<string, unknown> =>
  structuredClone(defaults[kind]);
