import { integer } from '../kinds.ts';
import { setting } from './setting.ts';

const DAY = 86_400;
const YEAR = 365 * DAY;

export const tokensSettings = {
  access_token_seconds: setting(integer(5, DAY), {
    group: 'Tokens',
    label: 'Access tokens expire after',
    description: 'How long an access token is valid, in seconds.',
    absent: 900,
    mayShutOut: false,
    unit: 'seconds',
  }),
  api_jwt_seconds: setting(integer(30, DAY), {
    group: 'Tokens',
    label: 'JWT access tokens for APIs expire after',
    description:
      'How long an access token for an API is valid that is a JWT, in seconds: an API that checks it without introspection ' +
      'accepts it for so long even after a revocation. An API can have its own value.',
    absent: 300,
    mayShutOut: false,
    unit: 'seconds',
  }),
  api_opaque_seconds: setting(integer(30, DAY), {
    group: 'Tokens',
    label: 'Opaque access tokens for APIs expire after',
    description:
      'How long an opaque access token for an API is valid, in seconds. An API can have its own value.',
    absent: 900,
    mayShutOut: false,
    unit: 'seconds',
  }),
  id_token_seconds: setting(integer(5, DAY), {
    group: 'Tokens',
    label: 'ID tokens expire after',
    description: 'How long an ID token is valid, in seconds.',
    absent: 3600,
    mayShutOut: false,
    unit: 'seconds',
  }),
  refresh_token_idle_seconds: setting(integer(5, YEAR), {
    group: 'Tokens',
    label: 'Unused refresh tokens expire after',
    description: 'A refresh token expires after this long without use, in seconds.',
    absent: 30 * DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
  refresh_token_absolute_seconds: setting(integer(5, 10 * YEAR), {
    group: 'Tokens',
    label: 'Refresh tokens expire in any case after',
    description: 'A refresh token can be rotated for at most this long after the sign-in, in seconds.',
    absent: YEAR,
    mayShutOut: false,
    unit: 'seconds',
  }),
  browser_refresh_token_seconds: setting(integer(5, YEAR), {
    group: 'Tokens',
    label: 'Refresh tokens in browsers expire after',
    description:
      'For how long after the sign-in a browser application (public, of type `web`) can rotate its refresh token, in seconds.',
    absent: DAY,
    mayShutOut: false,
    unit: 'seconds',
  }),
  refresh_token_grace_seconds: setting(integer(0, 60), {
    group: 'Tokens',
    label: 'A used refresh token still works for',
    description: 'For this long after its use, a refresh token still returns the same successor, in seconds.',
    absent: 10,
    mayShutOut: false,
    unit: 'seconds',
  }),
  authorization_code_seconds: setting(integer(10, 600), {
    group: 'Tokens',
    label: 'Authorization codes expire after',
    description: 'How long an authorization code can be exchanged, in seconds.',
    absent: 60,
    mayShutOut: false,
    unit: 'seconds',
  }),
};
