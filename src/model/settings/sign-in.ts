import { choice, flag, integer } from '../kinds.ts';
import { origins, realms } from '../word-kinds.ts';
import { setting } from './setting.ts';

/** A stored lock that is longer is of a clock that was set back since (src/accounts/lockout.ts). */
export const MAX_LOCKOUT_SECONDS = 900;

export const signInSettings = {
  lockout_threshold: setting(integer(1, 100), {
    group: 'Sign-in',
    label: 'Wrong passwords until a lockout',
    description:
      'Consecutive wrong passwords that lock password sign-in in browsers in which the user has not signed in before.',
    absent: 5,
    mayShutOut: true,
  }),
  lockout_seconds: setting(integer(1, MAX_LOCKOUT_SECONDS), {
    group: 'Sign-in',
    label: 'A lockout lasts',
    description:
      'How long a lockout lasts, in seconds. Sessions, tokens, passkeys and mailed links are not affected.',
    absent: 900,
    mayShutOut: false,
    unit: 'seconds',
  }),
  password_min_length: setting(integer(8, 64), {
    group: 'Sign-in',
    label: 'Shortest new password',
    description:
      'The minimum length of a new password. At least 15 where a password is the only possible factor: with ' +
      '`auth_mode` `password` and `mfa_mode` `off`. Passwords that people have keep working.',
    absent: 8,
    mayShutOut: false,
    unit: 'characters',
  }),
  auth_mode: setting(
    choice({
      password: 'Password',
      password_and_passkey: 'Password or passkey',
      passkey_only: 'Passkey only',
    }),
    {
      group: 'Sign-in',
      label: 'How people sign in',
      description:
        'How users sign in: with a password, with a password or a passkey, or with a passkey only. With `password`, existing ' +
        'passkeys still work as second factors. `passkey_only` requires an administrator with a passkey.',
      absent: 'password_and_passkey',
      mayShutOut: true,
    },
  ),
  passkey_extra_origins: setting(origins, {
    group: 'Sign-in',
    label: 'Further origins for passkeys',
    description:
      'Further origins at which the passkeys of this service may be used, separated by spaces ' +
      '(such as https://example.net); they are listed at /.well-known/webauthn.',
    absent: '',
    mayShutOut: false,
  }),
  require_pkce: setting(flag, {
    group: 'Sign-in',
    label: 'Every application must use PKCE',
    description:
      'Every application must use PKCE with S256. Public, native and self-registered applications (of these not with the ' +
      'legacy profile) must in any case, and each application can require it by itself.',
    absent: false,
    mayShutOut: true,
    former: { since: 1, was: true },
  }),
  realm_aliases: setting(realms, {
    group: 'Sign-in',
    label: 'Further realm names',
    description:
      'Names under which /realms/{name}/protocol/openid-connect/… answers, separated by spaces, for clients of another ' +
      'identity provider. The one in the path of ISSUER always answers; empty: no other, or any where ISSUER has none. ' +
      'All names lead to the same users and applications.',
    absent: '',
    mayShutOut: true,
  }),
};
