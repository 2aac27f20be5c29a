// What only an administrator decides about an application, beside its metadata.

import { phrase } from '../../phrase.ts';
import { ACR } from '../acr.ts';
import { choice, flag, seconds } from '../kinds.ts';
import { list } from '../list-kinds.ts';
import { originProblem } from '../uris.ts';
import { line } from './member-kinds.ts';
import { byAdministrators, fact, ofClients } from './row.ts';
import { signedWith } from './vocabulary.ts';

const YEAR_SECONDS = 31_536_000;
const MAX_ORIGINS = 50;

const rotationWords = {
  auto: 'Only where nothing else proves who uses them',
  always: 'At every use',
  never: 'Never',
};

const lifetime = { ...ofClients, absent: null, form: 'pages' } as const;

const acrWords = {
  [ACR.singleFactor]: 'One factor',
  [ACR.emailCode]: 'Two steps (e-mail code is enough)',
  [ACR.multiFactor]: 'Two factors',
};

export const settingRows = {
  is_active: fact(flag, {
    ...byAdministrators,
    stored: 'isActive',
    absent: true,
    isAlwaysStored: true,
    label: 'Active',
    description: 'Whether the application is active.',
  }),
  default_resource: fact(line({ maxLength: 500, schema: { maxLength: 500 } }), {
    ...ofClients,
    stored: 'defaultApi.identifier',
    absent: null,
    isSpecial: true,
    label: 'Default API',
    hint: 'The identifier of the API that its tokens are for when a request names none. Empty: none.',
    description:
      'The identifier of the API that its tokens are for when a request names none; null: none. With the scope `openid` and ' +
      'no API named they are for userinfo all the same.',
    form: 'main',
  }),
  skip_consent: fact(flag, {
    ...ofClients,
    stored: 'skipConsent',
    absent: false,
    isAlwaysStored: true,
    isForAgents: false,
    label: 'First-party application',
    hint: 'Users are not asked for consent. If you turn this off, access granted without consent is revoked.',
    description:
      'First-party: users are not asked for consent. Turning it off revokes grants given without consent.',
    form: 'main',
  }),
  may_introspect: fact(flag, {
    ...ofClients,
    stored: 'mayIntrospect',
    absent: false,
    isForAgents: false,
    label: 'May check any access token',
    hint: 'For an API that asks this server about the tokens it is sent (introspection). Without it, the application learns about its own tokens only.',
    description:
      'With its secret or key it may introspect any access token without `admin` scopes, as a resource server does; ' +
      'otherwise those issued to it.',
    form: 'main',
    only: 'confidential',
  }),
  require_pkce: fact(flag, {
    ...ofClients,
    setBy: 'registrant',
    shownTo: 'everyone',
    stored: 'requirePkce',
    absent: false,
    isSpecial: true,
    label: 'Require PKCE',
    hint: 'A code is then worthless to anyone else. Leave it off only if the framework does not send PKCE.',
    description:
      'Whether it must use PKCE. Always true for public, native and self-registered applications (of these not with the legacy ' +
      'profile), for redirect URIs with a custom scheme and for admin scopes; the runtime setting of the same name requires it of all.',
    form: 'main',
    only: 'sign_in',
  }),
  required_acr: fact(
    { ...choice(acrWords), words: { '': 'Whatever the account has', ...acrWords } },
    {
      ...byAdministrators,
      stored: 'requiredAcr',
      absent: null,
      label: 'Sign-ins must reach',
      hint: 'Users without it set it up at the next sign-in where they may.',
      description:
        'The minimum `acr` of sign-ins to it; users without a second factor are asked to enrol one where that is allowed. null: any.',
      form: 'sign_in',
    },
  ),
  max_auth_age: fact(seconds(30, YEAR_SECONDS), {
    ...byAdministrators,
    stored: 'maxAuthAgeSeconds',
    absent: null,
    label: 'Sign in again after',
    hint: 'Empty: as long as the session lasts.',
    description:
      'The maximum age of a sign-in at an authorization request, in seconds; users with an older one sign in again. null: any.',
    form: 'sign_in',
  }),
  logout_needs_auth: fact(flag, {
    ...ofClients,
    stored: 'logoutNeedsAuth',
    absent: false,
    label: 'Its server authenticates to sign users out',
    hint: 'Without it, an ID token of the session is enough for its server to end that session.',
    description:
      'A sign-out that a server requests with an ID token, without a browser, also requires client authentication.',
    form: 'sign_in',
    only: 'confidential',
  }),
  access_token_seconds: fact(seconds(30, 86_400), {
    ...lifetime,
    stored: 'accessTokenSeconds',
    label: 'Access tokens expire after',
    description: 'How long its access tokens are valid, in seconds; null: the runtime setting applies.',
  }),
  id_token_seconds: fact(seconds(30, 86_400), {
    ...lifetime,
    stored: 'idTokenSeconds',
    label: 'ID tokens expire after',
    description: 'How long its ID tokens are valid, in seconds; null: the runtime setting applies.',
  }),
  refresh_token_seconds: fact(seconds(60, YEAR_SECONDS), {
    ...lifetime,
    stored: 'refreshTokenSeconds',
    label: 'Unused refresh tokens expire after',
    description:
      'How long its refresh tokens are valid without being used, in seconds; null: the runtime setting applies.',
  }),
  rotate_refresh_tokens: fact(
    { ...choice(rotationWords), words: rotationWords },
    {
      ...ofClients,
      stored: 'rotateRefreshTokens',
      // Of records of earlier versions, save those of FAPI 2.0.
      absent: 'always',
      isSpecial: true,
      label: 'Refresh token rotation',
      hint: 'A rotated token works once: if it comes back, access is revoked, even when only an answer got lost.',
      description:
        'Whether each use of a refresh token gives a new one. `auto`, the default of new applications: where the application does not ' +
        'authenticate, is native or has `web_origins`, and the token is bound to no key. `never` needs authentication, or ' +
        'tokens that are always bound to a key.',
      form: 'pages',
      only: 'sign_in',
    },
  ),
  minimal_id_tokens: fact(flag, {
    ...ofClients,
    stored: 'minimalIdTokens',
    absent: false,
    label: 'ID tokens without profile',
    hint: 'They say who signed in and how. Name, e-mail address, roles and groups come from userinfo alone (OpenID Connect Core §5.4).',
    description:
      'Where it also gets an access token, its ID tokens say who signed in and how, and no more: the claims of the scopes ' +
      '`profile`, `email` and others come from userinfo alone (OpenID Connect Core §5.4).',
    form: 'pages',
  }),
  keycloak_tokens: fact(flag, {
    ...ofClients,
    stored: 'keycloakTokens',
    absent: false,
    isForAgents: false,
    label: 'Tokens as Keycloak has them',
    hint: 'For adapters and libraries made for Keycloak, such as keycloak-js. With the scope “roles” its tokens also contain realm_access.',
    description:
      'Its tokens have what clients of Keycloak read: `typ`, `azp`, `session_state`, with the scope `roles` also ' +
      '`realm_access` and `resource_access`; its refresh tokens are JWTs.',
    form: 'pages',
  }),
  access_token_audience: fact(
    {
      ...choice({ issuer: 'issuer', client_id: 'client_id' }),
      control: 'check',
      words: {},
      typed: (text) => (text === 'on' ? 'client_id' : 'issuer'),
    },
    {
      ...ofClients,
      stored: 'accessTokenAudience',
      // Of records of earlier versions.
      absent: 'client_id',
      isForAgents: false,
      label: 'Its access tokens are addressed to itself',
      hint: 'Their “aud” is its client ID, for APIs that compare it. Otherwise it is the address of this server, so that no access token passes for an ID token.',
      description:
        'The `aud` of its access tokens. `issuer`, the default of new applications: none of them passes for an ID token. ' +
        '`client_id`: for APIs that compare `aud` with the id of the application.',
      form: 'pages',
    },
  ),
  authorization_signed_response_alg: fact(
    { ...choice(signedWith), words: { '': 'Not signed', ...signedWith } },
    {
      ...ofClients,
      stored: 'signedResponseAlg',
      absent: null,
      isForAgents: false,
      label: 'Authorization responses',
      hint: 'Only where the application asks for it by a response mode with jwt (JARM).',
      description:
        'It may ask for signed authorization responses (JARM: the response modes `jwt`, `query.jwt`, `fragment.jwt` and ' +
        '`form_post.jwt`), which are then signed with this algorithm, errors too; null: it may not, and nobody who registers an ' +
        'application can set it.',
      form: 'signatures',
    },
  ),
  allow_self_signup: fact(flag, {
    ...byAdministrators,
    stored: 'allowSelfSignup',
    absent: null,
    isForAgents: false,
    label: 'Sign-up',
    description: 'Whether users may sign up while signing in to it; null: the runtime setting applies.',
  }),
  allowed_groups: fact(
    list({ maxItems: 100, maxLength: 64, problem: 'Must be a list of group names, or null.', isSet: true }),
    {
      ...byAdministrators,
      stored: 'allowedGroups',
      absent: null,
      label: 'Groups',
      description: 'Only members of one of these groups may sign in to it; null: all users, []: none.',
      example: ['staff'],
    },
  ),
  web_origins: fact(
    list({
      maxItems: MAX_ORIGINS,
      maxLength: 300,
      problem: phrase`Must be a list of at most ${MAX_ORIGINS} origins.`,
      isSet: true,
      why: originProblem,
    }),
    {
      ...ofClients,
      stored: 'webOrigins',
      absent: [],
      label: 'Web origins',
      hint: 'One per line. Where its scripts run, if not at the redirect URIs; they may read its tokens there.',
      description:
        'Origins of its scripts, in addition to those of its redirect URIs: they may read its token, userinfo and revocation ' +
        'responses. An application with web origins always uses PKCE.',
      form: 'main',
      only: 'sign_in',
      example: ['https://app.example.com'],
    },
  ),
  profile: fact(
    {
      ...choice({ legacy: 'legacy' }),
      control: 'check',
      words: {},
      typed: (text) => (text === 'on' ? 'legacy' : null),
    },
    {
      ...ofClients,
      stored: 'profile',
      absent: null,
      isForAgents: false,
      label: 'Legacy profile',
      hint: 'It may use what newer standards advise against: the flows below, signed request objects and session management. Only for a library that knows nothing else.',
      description:
        '`legacy`: it may use implicit and hybrid response types, signed request objects and session management while the setting ' +
        '`legacy_profiles` is on; never native applications and those with admin scopes. Null: the code flow alone.',
      form: 'legacy',
    },
  ),
  approved_addresses: fact(list({ maxItems: 10, maxLength: 2000, problem: 'Must be a list of addresses.' }), {
    ...ofClients,
    stored: 'approvedAddresses',
    absent: [],
    isSpecial: true,
    isForAgents: false,
    label: 'Approved addresses',
    description:
      'Which of `jwks_uri`, `backchannel_logout_uri` and `request_uris` an administrator approved; those entered by an administrator are. ' +
      'Only approved addresses may be on the internal network, where OUTBOUND_ALLOW covers them.',
    example: [],
  }),
} as const;
