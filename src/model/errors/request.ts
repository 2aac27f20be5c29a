import { type ErrorRow, readAgain } from './error-row.ts';

export const requestErrors = {
  'request.not_found': {
    status: 404,
    message: 'No resource exists at this address.',
    cause: 'No page or route has this path.',
    remedy:
      'Compare the path with docs/api.md or `/admin/api/openapi.json`. Paths are exact: no trailing slash.',
  },
  'request.method_not_allowed': {
    status: 405,
    message: 'This address does not support this method.',
    cause: 'The path exists and does not take this method.',
    remedy: 'Use a method of the `Allow` header.',
  },
  'request.too_large': {
    status: 413,
    message: 'The request body is too large.',
    cause: 'The body is over 100 kB, or over the limit of the route.',
    remedy: 'Send less. Import users line by line with `POST /admin/api/users/import`.',
  },
  'request.unsupported_media_type': {
    status: 415,
    message: 'The request body has an unsupported content type.',
    cause: 'The `Content-Type` is not the one that the route reads.',
    remedy:
      'Send `application/json` to the APIs, `application/x-www-form-urlencoded` to OAuth endpoints and pages.',
  },
  'request.malformed': {
    status: 400,
    message: 'The request could not be parsed.',
    cause: 'The body is not valid JSON or not a valid form, or a header cannot be parsed.',
    remedy: 'Fix the syntax of the request. Repeating it unchanged fails again.',
  },
  'request.invalid': {
    status: 400,
    message: 'Some fields are not valid.',
    cause: 'A field is unknown, missing, of the wrong type or out of bounds.',
    remedy: 'Read `fields` in the answer: it names each field and what it must be.',
  },
  'request.key_reused': {
    status: 422,
    message: 'This Idempotency-Key was already used for a different request.',
    cause: 'The `Idempotency-Key` came with a different request before.',
    remedy: 'Use a new key for every new request; repeat a key with the same body only.',
  },
  'request.in_progress': {
    status: 409,
    message:
      'A request with this Idempotency-Key is in progress or was interrupted. Check whether it took effect, then use a new key.',
    cause: 'A request with this `Idempotency-Key` still runs, or its process ended before it answered.',
    remedy: 'Wait for `Retry-After`. If it stays, read whether the resource exists, then use another key.',
  },
  'request.changed': {
    status: 412,
    message: 'The resource was changed since you read it.',
    cause: '`If-Match` names an older version of the resource.',
    remedy: readAgain,
  },
  'request.csrf': {
    status: 403,
    message: 'This form is no longer valid. Go back, reload the page and try again.',
    cause: 'The form was rendered for another browser or has expired, or the request came from another site.',
    remedy: 'Load the page again and submit it there. Behind a proxy, check `BASE_URL`.',
    outsideAdminApi: true,
  },
  'request.cross_site': {
    status: 403,
    message: 'Another website sent this request. Open this page directly and try again.',
    cause:
      'A page of another site sent the request without the person (a frame, a picture, a script, a form), as `Sec-Fetch-Site` or `Origin` says.',
    remedy:
      'Lead the browser here by a link or a redirect; scripts use the endpoints with CORS (docs/decisions/0022-cross-origin.md), with `mode: cors`.',
  },
  'request.cookies_off': {
    status: 400,
    message: 'Your browser did not send a cookie. Allow cookies for this site and try again.',
    cause: 'A form arrived without the cookie that the page had set.',
    remedy: 'Allow cookies for this site. With `BASE_URL` on https, open the https address.',
    outsideAdminApi: true,
  },
  'request.rate_limited': {
    status: 429,
    message: 'Too many attempts. Wait a moment and try again.',
    cause: 'A limit named `limit_…` is reached for this address, account or client.',
    remedy:
      'Wait for `Retry-After`. Operators: check `TRUST_PROXY`, then the setting (docs/configuration.md).',
  },
  'auth.required': {
    status: 401,
    message: 'A bearer token is required.',
    cause: 'The route takes a bearer token and none was sent.',
    remedy: 'Send `Authorization: Bearer …`; which tokens count is in docs/api.md.',
  },
  'auth.invalid_token': {
    status: 401,
    message: 'The bearer token is not valid.',
    cause: 'The token is unknown, expired or revoked, or its account is inactive.',
    remedy: 'Get a new token. Do not retry with the same one.',
    isChallenge: true,
  },
  'auth.use_dpop_nonce': {
    status: 401,
    message: 'Send the DPoP proof with the nonce of the header DPoP-Nonce (RFC 9449 §8).',
    cause: 'The DPoP proof has a nonce that this server did not give, or gave minutes ago.',
    remedy:
      'Repeat the request with a new proof that has the nonce of the header `DPoP-Nonce`. Libraries do so by themselves.',
    oauth: 'use_dpop_nonce',
    isChallenge: true,
  },
  'auth.insufficient_scope': {
    status: 403,
    message: 'This token does not belong to an administrator.',
    cause:
      'The token is valid and does not authorize this request: no `admin` scope, at the account API no `account` scope, or read-only.',
    remedy:
      'Use a token with the scope `admin` (or `admin:read` to read), of a user who may have it now; at the account API, let a first-party application ask for `account` (or `account:read`) when the user signs in (docs/api.md).',
    oauth: 'insufficient_scope',
    isChallenge: true,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
