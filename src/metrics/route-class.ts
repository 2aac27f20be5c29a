// Classifies request paths into a fixed list, so that requests cannot create metric series.

const OAUTH: Readonly<Record<string, string>> = {
  authorize: 'authorize',
  auth: 'authorize',
  token: 'token',
  userinfo: 'userinfo',
  introspect: 'introspect',
  revoke: 'revoke',
  logout: 'logout',
  register: 'register',
  par: 'par',
  device_authorization: 'device',
  device: 'device',
};

const SIGN_IN = new Set([
  'login',
  'consent',
  'mfa',
  'passkey',
  'recover',
  'signup',
  'enrol',
  'onboard',
  'forgot-password',
  'reset-password',
  'verify-email',
  'magic-link',
]);

const AREAS: Readonly<Record<string, string>> = {
  admin: 'admin_ui',
  account: 'account',
  assets: 'assets',
  avatars: 'assets',
  onboard: 'sign_in',
  '.well-known': 'documents',
};

const known = (names: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(names, name) ? names[name] : undefined;

/** `{oauth2,realms/any}/protocol/openid-connect/` paths of other products map to ours. */
const ALIAS = /^\/(?:oauth2|realms\/[^/]{1,256})\/protocol\/openid-connect\/(?:token\/(?=introspect$))?/;

/** @param path below BASE_URL's path */
export function routeClassOf(path: string): string {
  const [, area = '', second = ''] = path.replace(ALIAS, '/oauth2/').slice(0, 512).split('/', 3);
  if (area === 'oauth2') {
    if (second === '.well-known' || second === 'certs') return 'documents';
    return known(OAUTH, second) ?? (SIGN_IN.has(second) ? 'sign_in' : 'other');
  }
  if (area === 'admin' && second === 'api') return 'admin_api';
  return known(AREAS, area) ?? 'other';
}
