// The plans of the OpenID Foundation's conformance suite that are run here, with what their applications are registered with.
export interface Plan {
  readonly name: string;
  readonly variant: Readonly<Record<string, string>>;
  /** Registers its applications by itself. */
  readonly isDynamic?: boolean;
  readonly metadata?: (callbacks: string) => Readonly<Record<string, unknown>>;
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
const certification = (name: string): string => `oidcc-${name}-certification-test-plan`;

export const plans: readonly Plan[] = [
  { name: certification('config'), variant: {} },
  { name: certification('basic'), variant: discovery },
  { name: certification('formpost-basic'), variant: discovery },
  { name: certification('implicit'), variant: discovery, metadata: fragments },
  { name: certification('hybrid'), variant: discovery, metadata: fragments },
  { name: certification('formpost-implicit'), variant: discovery, metadata: fragments },
  { name: certification('formpost-hybrid'), variant: discovery, metadata: fragments },
  { name: certification('dynamic'), variant: { response_type: 'code' }, isDynamic: true },
  { name: certification('3rdparty-init-login'), variant: { response_type: 'code' }, isDynamic: true },
  { name: certification('rp-initiated-logout'), variant: code },
  {
    name: certification('backchannel-rp-initiated-logout'),
    variant: code,
    metadata: (callbacks) => ({
      backchannel_logout_uri: `${callbacks}/backchannel_logout`,
      backchannel_logout_session_required: true,
    }),
  },
  {
    name: certification('frontchannel-rp-initiated-logout'),
    variant: code,
    metadata: (callbacks) => ({
      ...legacy(),
      frontchannel_logout_uri: `${callbacks}/frontchannel_logout`,
      frontchannel_logout_session_required: true,
    }),
  },
  { name: certification('session-management'), variant: code, metadata: legacy },
];
