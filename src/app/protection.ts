// Owns putting together what protects accounts from guessing and writes down what happens: origins of events, the audit
// log, the rate limits (create-app.ts builds the rest).
import { noteFailedForms } from '../../interactions/current.ts';
import type { SignInOutcome } from '../accounts/authenticate.ts';
import {
  chargeRefusedClient,
  chargeUserCode,
  limitBearerGuesses,
  limitSignIns,
} from '../accounts/guess-limits.ts';
import { createAuditLogs } from '../audit/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Events } from '../events/index.ts';
import type { Logger } from '../log.ts';
import { createRateLimits, type RateSettings } from '../rate-limits/limits.ts';
import { createOpenSignIns } from '../rate-limits/open-sign-ins.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { interactions } from '../store/protocol-collections.ts';
import { auditedSignIns } from './audit.ts';
import { createKnownBrowsers } from './known-browsers.ts';

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly baseUrl: string;
  readonly events: Events;
  readonly settings: () => RateSettings & { readonly limit_open_signins_ip: number };
}

type CheckPassword<Account> = Parameters<typeof limitSignIns<Account>>[0];
type Authorize<Actor, More extends unknown[]> = (
  authorization: string | undefined,
  ...more: More
) => Promise<Actor>;

/** What is known of a bearer that is refused; one that is missing is no attempt. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['auth.invalid_token', 'auth.insufficient_scope']);

export type Protection = ReturnType<typeof createProtection>;

export function createProtection({ store, clock, log, baseUrl, events, settings }: Deps) {
  const { origins } = events;
  const { audit, tokenLog } = createAuditLogs({ store, clock, events, log });
  const limits = createRateLimits({ collection: store.ephemeral(model.rates), clock, settings, log });
  const openSignins = createOpenSignIns({
    collection: store.ephemeral(interactions),
    clock,
    limit: () => settings().limit_open_signins_ip,
  });
  const address = (): string => origins.current()?.ipAddress ?? '';
  const told = auditedSignIns(audit);

  return {
    events,
    origins,
    audit,
    tokenLog,
    limits,
    refusalTimeUnknown(err: unknown): void {
      log.warn({ event: 'refusal_time', err }, 'how long refused passwords are to take cannot be told');
    },
    knownBrowsers: createKnownBrowsers({ store, clock, baseUrl }),
    /** For createAuthenticate. */
    signInEvents: {
      onOutcome(event: SignInOutcome) {
        log.info({ event: 'signin', ...event }, 'sign-in attempt');
        return told.onOutcome(event);
      },
      onLocked({ isNoticeDue, ...event }: { accountId: string; lockedUntil: number; isNoticeDue: boolean }) {
        log.warn({ event: 'account_locked', ...event }, 'password sign-in closed for unknown browsers');
        events.emit('accountLocked', { ...event, isNoticeDue });
        return told.onLocked(event);
      },
    },
    noteFailedForms: noteFailedForms(openSignins.markInUse),
    /** For the protocol core. */
    guards: {
      chargeUserCode: chargeUserCode(limits),
      takePlace: openSignins.take,
      chargeRefusedClient: chargeRefusedClient(limits),
    },
    limitSignIns: <Account>(check: CheckPassword<Account>) => limitSignIns(check, { limits, address }),
    /** Counts wrong bearers, and has what the right one's bearer causes be theirs. */
    limitAdmins<Actor extends Parameters<typeof origins.setActor>[0], More extends unknown[]>(
      authorize: Authorize<Actor, More>,
    ): Authorize<Actor, More> {
      const limited = limitBearerGuesses(authorize, { limits, address });
      return async (authorization, ...more) => {
        const actor = await limited(authorization, ...more).catch((error: unknown) => {
          if (error instanceof AppError && REFUSALS.has(error.code))
            events.emit('tokensRefused', { endpoint: 'admin', error: error.code });
          throw error;
        });
        origins.setActor({ kind: actor.kind, id: actor.id });
        return actor;
      };
    },
  };
}
