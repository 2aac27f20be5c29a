// The words of fuzzed requests: names of OAuth and the API, valid values, and values known from vulnerabilities.

export const PARAMETERS =
  `response_type response_mode client_id client_secret redirect_uri scope state nonce display prompt max_age ui_locales
  id_token_hint login_hint acr_values claims claims_locales request request_uri registration code_challenge
  code_challenge_method code_verifier code grant_type refresh_token username password token token_type_hint
  client_assertion client_assertion_type assertion resource audience authorization_details dpop_jkt device_code user_code
  post_logout_redirect_uri logout_hint interaction csrf action method confirm abort xsrf id_token access_token
  confirm_password email name type redirect_uris`.split(/\s+/);

export const FIELDS =
  `username password email role is_email_verified totp_verified is_active name address phone_number birthdate picture
  client_name redirect_uris grant_types response_types token_endpoint_auth_method scope contacts jwks jwks_uri logo_uri
  application_type client_type skip_consent access_token_seconds label uses expires_in_seconds overlap_seconds user_id
  product_name accent_color access_token_seconds require_pkce lockout_threshold post_logout_redirect_uris client_uri
  backchannel_logout_uri default_max_age initiate_login_uri software_id __proto__ constructor id client_id`.split(
    /\s+/,
  );

export const QUERY =
  'limit offset cursor sort order search role is_active is_locked created_at_from created_at_to user_id'.split(
    ' ',
  );

export const RIGHT = {
  response_type: ['code', 'token', 'id_token', 'code id_token', 'none'],
  response_mode: ['query', 'fragment', 'form_post', 'jwt', 'web_message'],
  prompt: ['none', 'login', 'consent', 'select_account', 'none login', 'create'],
  grant_type: [
    'authorization_code',
    'refresh_token',
    'client_credentials',
    'password',
    'urn:ietf:params:oauth:grant-type:device_code',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'implicit',
  ],
  scope: ['openid', 'openid profile email', 'openid offline_access', 'admin', 'openid openid', ''],
  code_challenge_method: ['S256', 'plain', 's256'],
  token_type_hint: ['access_token', 'refresh_token', 'id_token'],
  client_assertion_type: ['urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
  action: ['allow', 'deny', 'cancel', 'continue'],
  method: ['totp', 'email', 'recovery'],
  type: ['web', 'spa', 'native', 'machine'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const CLAIMS = [
  '{}',
  '{"userinfo":{"email":null}}',
  '{"id_token":{"acr":{"essential":true}}}',
  '{"userinfo":1}',
  '[]',
  '{',
];

export const HOSTILE: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  'true',
  '[]',
  '{"a":1}',
  '%',
  '%00',
  '\u0000',
  '\u202e',
  '😀'.repeat(50),
  'ﷺ'.repeat(100),
  '\ud800',
  'a\r\nSet-Cookie: a=b',
  "' or '1'='1",
  '"; DROP TABLE accounts; --',
  '{"$ne":null}',
  '../../../etc/passwd',
  '#{7*7}{{7*7}}<%= 7*7 %>',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'http://169.254.169.254/latest/meta-data/',
  'https://user:pass@evil.example:99999/#?',
  'https://[::1',
  '//evil.example',
  '1e309',
  '99999999999999999999',
  '9'.repeat(400),
  'a'.repeat(2000),
  'eyJhbGciOiJub25lIn0.e30.',
  'eyJhbGciOiJSUzI1NiIsImtpZCI6Ii4uLy4uLyJ9.eyJzdWIiOiIxIn0.AAAA',
  `eyJhbGciOiJIUzI1NiJ9.${'A'.repeat(500)}.A`,
  'a.b.c.d.e',
  'urn:ietf:params:oauth:request_uri:nothing',
  '2026-02-30T25:61:61Z',
  '__proto__',
  'constructor',
];

export const CONTENT_TYPES = [
  'application/x-www-form-urlencoded',
  'application/json',
  'text/plain',
  'multipart/form-data',
  '',
  'a/b;;;=',
];
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'];
export const HEADER_NAMES = [
  'Accept',
  'Accept-Language',
  'Origin',
  'Referer',
  'If-Match',
  'If-None-Match',
  'X-Forwarded-For',
  'Forwarded',
  'DPoP',
  'Sec-Fetch-Site',
  'Cookie',
  'Range',
  'Content-Encoding',
];
