// What a user meets while signing in: the pages of sign-in, sign-up, second factors, consent, recovery and links by mail, and
// which of them comes next (routes.ts, where to start, and signin-steps.ts). What they may do is decided by the domains below;
// the protocol around them is src/oidc.
export { markFailedForms } from './current.ts';
export { createKnownBrowsers } from './known-browsers.ts';
export { createInteractions, type Interactions } from './routes.ts';
