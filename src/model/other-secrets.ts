// Beside the credentials (credentials.ts).

/** Other places that read, compare or look up a secret, and why no one's way to sign in is changed by it. */
export const OTHER_SECRETS = {
  'interactions/known-browser-cookie.ts': 'a known browser is counted apart, and proves nothing',
  'src/accounts/known-browsers.ts': 'as above',
  'interactions/own-cookie.ts': 'reads the cookies of known browsers, trusted devices and remembered people',
  'interactions/passkey-offer-cookie.ts': 'that a passkey was not wanted',
  'interactions/preference-cookie.ts': 'language and method used last',
  'interactions/remembered-people.ts': 'names to choose from; the choice proves nothing',
  'src/admin/api/cursor.ts': 'a position in a list',
  'src/admin/test-sign-in/create.ts': 'the test sign-in of this administrator’s browser',
  'src/oidc/test-sign-in/test-sign-ins.ts': 'the state of a test sign-in',
  'src/agents/document.ts': 'what a metadata document says',
  'src/clients/quarantine.ts': 'what an application says of itself',
  'src/apis/apis.ts': 'an API’s introspection credentials, which read',
  'src/http/boundary.ts': 'the scheme of the challenge in an answer',
  'src/http/metrics.ts': 'METRICS_TOKEN, which reads',
  'src/http/one-time.ts': 'values of one browser or session, shown once',
  'src/oidc/legacy/browser-state.ts': 'whether the session of a browser is another one',
  'src/oidc/logout/logout-programs.ts': 'a token ends its own grant and session',
  'src/oidc/models/oidc-context.ts': 'the method of client authentication',
  'src/oidc/plain/plain-request.ts': 'client authentication and bearers of usual requests',
  'src/oidc/requests/public-basic.ts': 'the id of a public client',
  'src/oidc/requests/request-client.ts': 'the client that a request names, for the log',
  'src/oidc/requests/request-parameters.ts': 'whether a request brings credentials, for its limit',
  'src/oidc/tokens/dpop-nonces.ts': 'nonces of proofs',
  'src/rate-limits/key.ts': 'names of counters',
} as const;
