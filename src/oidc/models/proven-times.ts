// What the person authenticated within the authorization that a code or token comes from, and when: the mark by which a token is fresh
// (decision 0011). A code of a silent authorization has none, however fresh its session is, nor has a device code or a password given
// to a program; refresh tokens hand it on as it is. Stored only beside scopes for which freshness is asked.
import { memberOf } from '../../json.ts';
import { type MethodTimes, readMethodTimes } from '../../sessions/index.ts';
import { INTERACTIVE_SCOPES } from '../entitlements/scopes.ts';
import { ProviderBase } from '../provider-base.ts';

interface Scoped {
  readonly scope?: string | undefined;
}

const isAskedFor = ({ scope = '' }: Scoped): boolean =>
  scope.split(' ').some((name) => INTERACTIVE_SCOPES.has(name));

/** Of a session, code or token; nothing where it has no mark. */
export const provenTimesOf = (artifact: object): MethodTimes =>
  readMethodTimes(memberOf(artifact, 'methodTimes'));

/** For a code that this request issues: of the sign-in in this very authorization, if there was one. */
export function timesOfSignIn(code: Scoped): MethodTimes | undefined {
  const { oidc } = ProviderBase.ctx ?? {};
  const login = oidc?.route === 'resume' ? oidc.result?.login : undefined;
  return login !== undefined && isAskedFor(code) ? readMethodTimes(login.methodTimes) : undefined;
}

/** For a token: what the code or refresh token of this request has. */
export function timesOfSource(token: Scoped): MethodTimes | undefined {
  const { AuthorizationCode, RotatedRefreshToken, RefreshToken } = ProviderBase.ctx?.oidc.entities ?? {};
  const source = AuthorizationCode ?? RotatedRefreshToken ?? RefreshToken;
  if (source === undefined || source === token || !isAskedFor(token)) return undefined;
  const times = provenTimesOf(source);
  return Object.keys(times).length === 0 ? undefined : times;
}
