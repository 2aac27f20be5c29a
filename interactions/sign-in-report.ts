// Reports of sign-ins for the audit log: completed, with all methods; a session that was stepped up; or a first step after which
// another is required, which is not a sign-in yet.
import type { AccountDomain } from '../src/accounts/index.ts';
import { WAYS, type WayToSignIn } from '../src/model/ways-to-sign-in.ts';
import type { BoundInteraction } from '../src/oidc/sign-in.ts';
import type { MethodTimes } from '../src/sessions/index.ts';
import { clientIdOf } from './page-options.ts';

type SignInReport = Parameters<AccountDomain['reportSignIn']>[0];

const FIRST = WAYS.filter(({ step }) => step !== 'second');

/** Whether the first factor comes from the earlier session and was not requested in this interaction. */
const isStepUp = (amr: readonly string[], times: MethodTimes): boolean =>
  amr.some((value) => {
    const ways = FIRST.filter((way) => way.amr.some((one) => one === value));
    return ways.length > 0 && ways.every(({ id }) => times[id] === undefined);
  });

/** @param sessionId of the session that begins, or goes on @returns the report of a completed sign-in */
export function reportOfCompletion(
  interaction: BoundInteraction,
  accountId: string,
  amr: readonly string[],
  times: MethodTimes,
  sessionId: string,
): SignInReport {
  const isAgain = interaction.session?.accountId === accountId;
  return {
    kind: isAgain && isStepUp(amr, times) ? 'stepped_up' : 'complete',
    accountId,
    clientId: clientIdOf(interaction),
    amr,
    methods: Object.keys(times),
    isAgain,
    sessionId,
  };
}

/** @returns the report of a first step that needs another; undefined when it is reported elsewhere */
export function reportOfStep(
  interaction: BoundInteraction,
  accountId: string,
  { amr, methods }: { readonly amr: readonly string[]; readonly methods: readonly WayToSignIn[] },
  next: string,
): SignInReport | undefined {
  const about = { accountId, clientId: clientIdOf(interaction), amr, methods, next };
  if (methods.includes('password')) return { kind: 'password_accepted', ...about };
  return methods.includes('email_link') ? { kind: 'link_used', ...about } : undefined;
}
