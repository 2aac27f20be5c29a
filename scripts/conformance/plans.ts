// The plans of the OpenID Foundation's conformance suite that are run here, with what their applications are registered with.
type Members = Readonly<Record<string, unknown>>;

export interface Plan {
  /** Here. */
  readonly name: string;
  /** In the suite. */
  readonly plan: string;
  readonly variant: Readonly<Record<string, string>>;
  /** Registers its applications by itself. */
  readonly isDynamic?: boolean;
  readonly metadata?: (callbacks: string) => Members;
  readonly fapi?: Fapi;
}

/** What FAPI 2.0 asks of an application: a key for its assertions, pushed requests, tokens bound to a key (DPoP). */
interface Fapi {
  readonly scope: string;
  /** What its tokens open, after BASE_URL. */
  readonly resource: string;
  readonly isForAdmin?: boolean;
}

const discovery = { server_metadata: 'discovery', client_registration: 'static_client' };
const code = { client_registration: 'static_client', response_type: 'code' };
const legacy = () => ({ profile: 'legacy' });
const fragments = () => ({
  profile: 'legacy',
  grant_types: ['authorization_code', 'refresh_token', 'implicit'],
  response_types: [
    'code',
    'id_token',
    'id_token token',
    'code id_token',
    'code token',
    'code id_token token',
  ],
});
const certification = (name: string, more: Omit<Plan, 'name' | 'plan'>): Plan => ({
  name,
  plan: `oidcc-${name}-certification-test-plan`,
  ...more,
});

const dpop = {
  client_auth_type: 'private_key_jwt',
  sender_constrain: 'dpop',
  fapi_profile: 'plain_fapi',
  authorization_request_type: 'simple',
};
const openid: Fapi = { scope: 'openid profile email address phone', resource: '/oauth2/userinfo' };

export const plans: readonly Plan[] = [
  certification('config', { variant: {} }),
  certification('basic', { variant: discovery }),
  certification('formpost-basic', { variant: discovery }),
  certification('implicit', { variant: discovery, metadata: fragments }),
  certification('hybrid', { variant: discovery, metadata: fragments }),
  certification('formpost-implicit', { variant: discovery, metadata: fragments }),
  certification('formpost-hybrid', { variant: discovery, metadata: fragments }),
  certification('dynamic', { variant: { response_type: 'code' }, isDynamic: true }),
  certification('3rdparty-init-login', { variant: { response_type: 'code' }, isDynamic: true }),
  certification('rp-initiated-logout', { variant: code }),
  certification('backchannel-rp-initiated-logout', {
    variant: code,
    metadata: (callbacks) => ({
      backchannel_logout_uri: `${callbacks}/backchannel_logout`,
      backchannel_logout_session_required: true,
    }),
  }),
  certification('frontchannel-rp-initiated-logout', {
    variant: code,
    metadata: (callbacks) => ({
      ...legacy(),
      frontchannel_logout_uri: `${callbacks}/frontchannel_logout`,
      frontchannel_logout_session_required: true,
    }),
  }),
  certification('session-management', { variant: code, metadata: legacy }),
  {
    name: 'fapi2-oauth',
    plan: 'fapi2-security-profile-final-test-plan',
    variant: { ...dpop, openid: 'plain_oauth' },
    fapi: { scope: 'admin:read', resource: '/admin/api/users?limit=1', isForAdmin: true },
  },
  {
    name: 'fapi2-openid',
    plan: 'fapi2-security-profile-final-test-plan',
    variant: { ...dpop, openid: 'openid_connect' },
    fapi: openid,
  },
  {
    name: 'fapi2-jar',
    plan: 'fapi2-message-signing-final-test-plan',
    variant: {
      ...dpop,
      openid: 'openid_connect',
      fapi_request_method: 'signed_non_repudiation',
      fapi_response_mode: 'plain_response',
    },
    metadata: () => ({ ...legacy(), require_signed_request_object: true }),
    fapi: openid,
  },
  {
    name: 'fapi2-jarm',
    plan: 'fapi2-message-signing-final-test-plan',
    variant: {
      ...dpop,
      openid: 'openid_connect',
      fapi_request_method: 'signed_non_repudiation',
      fapi_response_mode: 'jarm',
    },
    metadata: () => ({
      ...legacy(),
      require_signed_request_object: true,
      authorization_signed_response_alg: 'ES256',
    }),
    fapi: openid,
  },
];
