// The kinds of application that the Admin UI offers, and the metadata that one of each starts with; the metadata rules apply to
// it as well.
import { DEVICE_GRANT, defaultGrantTypes } from '../../../model/grant-types.ts';
import type { ApplicationTemplate } from '../../guides/guide.ts';

interface Template {
  readonly kind: ApplicationTemplate;
  readonly label: string;
  readonly about: string;
  readonly icon: string;
}

export const templates: readonly Template[] = [
  {
    kind: 'web',
    label: 'Web app with a server',
    about: 'Its server renders pages and keeps a secret: Express, Django, Rails, Spring.',
    icon: 'server',
  },
  {
    kind: 'spa',
    label: 'Single-page app',
    about: 'All of its code runs in the browser, so it has no secret: React, Vue, Angular.',
    icon: 'browser',
  },
  {
    kind: 'native',
    label: 'Native or mobile app',
    about: 'Installed on phones and desktops, or run in a terminal; it has no secret.',
    icon: 'phone',
  },
  {
    kind: 'product',
    label: 'Self-hosted product',
    about: 'Grafana, Nextcloud, GitLab and others that you host; what it needs is filled in.',
    icon: 'box',
  },
  {
    kind: 'machine',
    label: 'Service without users',
    about: 'A job or an API that gets tokens for itself, by its own secret.',
    icon: 'cog',
  },
  {
    kind: 'device',
    label: 'Device without a browser',
    about: 'A television or a command line: the user confirms a code on a phone.',
    icon: 'screen',
  },
  {
    kind: 'agent',
    label: 'Agent or MCP client',
    about: 'An AI agent that acts for a user. Those that register themselves need no entry here.',
    icon: 'spark',
  },
];

export const isTemplate = (value: string | undefined): value is ApplicationTemplate =>
  templates.some(({ kind }) => kind === value);

const signIn = {
  response_types: ['code'],
  scope: 'openid profile email offline_access',
} as const;

// A server renders the pages and keeps a secret.
const web = { ...signIn, application_type: 'web', grant_types: defaultGrantTypes };

const defaults: Readonly<Record<ApplicationTemplate, Readonly<Record<string, unknown>>>> = {
  web,
  product: web,
  // Code in the browser cannot keep a secret (RFC 9700 §2.1.1: PKCE instead).
  spa: { ...web, token_endpoint_auth_method: 'none' },
  // RFC 8252 §8.4: native applications are public clients.
  native: {
    ...signIn,
    application_type: 'native',
    grant_types: [...defaultGrantTypes, DEVICE_GRANT],
    token_endpoint_auth_method: 'none',
  },
  // No user signs in: the program acts for itself (RFC 6749 §4.4).
  machine: {
    application_type: 'web',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
  },
  // The user confirms a code elsewhere, so nothing is redirected (RFC 8628).
  device: {
    application_type: 'native',
    grant_types: [DEVICE_GRANT, 'refresh_token'],
    response_types: [],
    redirect_uris: [],
    scope: signIn.scope,
    token_endpoint_auth_method: 'none',
  },
  // Runs on the user's own machine or in a service, and is public in both (MCP authorization, OAuth 2.1).
  agent: {
    ...signIn,
    application_type: 'native',
    grant_types: defaultGrantTypes,
    token_endpoint_auth_method: 'none',
  },
};

/** Whether users come back to it by a redirect. */
export const hasRedirect = (kind: ApplicationTemplate): boolean => kind !== 'machine' && kind !== 'device';

/** Whether PKCE is a choice: public and native applications always use it. */
export const hasPkceChoice = (kind: ApplicationTemplate): boolean => kind === 'web' || kind === 'product';

/** @returns a fresh copy of the metadata that a new application of this kind starts with */
export const applicationDefaults = (kind: ApplicationTemplate): Record<string, unknown> =>
  structuredClone(defaults[kind]);
