/**
 * Whether an access token came in a fragment (OIDC Core §3.2.2.5, §3.3.2.5). Such a token serves userinfo alone (decision 0026):
 * it opens no API, ends no session and tells resource servers nothing.
 */
export const isOfFragment = (token: { readonly kind?: unknown; readonly gty?: unknown }): boolean =>
  token.gty === 'implicit';
