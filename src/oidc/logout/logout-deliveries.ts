// Notifies applications that a session has ended (OIDC Back-Channel Logout §2.5, decision 0005): queued before the session is
// removed, so that no crash loses one, first attempted as soon as it is gone, and attempted again by the job. No sign-out waits
// for an application.
import type { Clients } from '../../clients/index.ts';
import type { Clock } from '../../clock.ts';
import type { Events } from '../../events/index.ts';
import { newId } from '../../ids.ts';
import type { Job } from '../../jobs/index.ts';
import type { Logger } from '../../log.ts';
import type { RateLimits } from '../../rate-limits/index.ts';
import { type LogoutDeliveryRecord, logoutDeliveries } from '../../store/collections.ts';
import type { Page, Query, Store } from '../../store/port.ts';
import type { ProtocolMount } from '../mount.ts';
import { createDeliverLogout, isDelivered } from './deliver-logout.ts';
import { deliverLogoutTokens } from './deliver-logout-job.ts';
import { createLogoutOutbox, type LogoutDelivery } from './logout-outbox.ts';

export interface LogoutDeliveries {
  query(clientId: string, query: Query): Promise<Page<LogoutDeliveryRecord>>;
  /**
   * Sends a logout token for a user and a session that do not exist, at once, under the same rules as every other.
   * @throws AppError request.rate_limited
   */
  sendTest(clientId: string): Promise<LogoutDelivery>;
  readonly jobs: readonly Job[];
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: Pick<Events, 'on'>;
  readonly clients: Pick<Clients, 'find'>;
  readonly mount: Pick<ProtocolMount, 'sendLogoutToken'>;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

export function createLogoutDeliveries({
  store,
  clock,
  events,
  clients,
  mount,
  limits,
  log,
}: Deps): LogoutDeliveries {
  const outbox = createLogoutOutbox({ collection: store.collection(logoutDeliveries), clock, newId });
  const deliver = createDeliverLogout({
    outbox,
    send: (notice) => mount.sendLogoutToken(notice),
    clock,
    log,
  });
  const queued = new WeakMap<ReadonlyMap<string, string>, readonly LogoutDelivery[]>();

  async function isNotified(clientId: string): Promise<boolean> {
    const client = await clients.find(clientId);
    return client?.value.isActive === true && client.value.metadata.backchannel_logout_uri !== undefined;
  }

  events.on('sessionEnding', async ({ uid, accountId, sids }) => {
    try {
      const added = await Promise.all(
        [...sids].map(async ([clientId, sid]) =>
          (await isNotified(clientId))
            ? outbox.add(`${uid}.${clientId}`, { clientId, sub: accountId, sid })
            : undefined,
        ),
      );
      queued.set(
        sids,
        added.filter((delivery) => delivery !== undefined),
      );
    } catch (error) {
      // The session ends whether or not an application can be notified.
      log.warn({ err: error, session: uid }, 'back-channel logout not queued');
    }
  });
  events.on('sessionEnded', ({ sids, returnsTo }) => {
    for (const delivery of queued.get(sids) ?? []) {
      // The application that asked for the sign-out ends its own session, some (Keycloak as a broker) when the browser is back, and
      // with an error when that session is gone by then. Its token comes after that, by the job.
      if (delivery.value.clientId !== returnsTo) deliver.offer(delivery);
    }
  });
  events.on('clientRemoving', ({ clientId }) => outbox.removeOfClient(clientId));
  events.on('accountRemoving', ({ accountId }) => outbox.removeOfAccount(accountId));

  return {
    query: outbox.query,
    async sendTest(clientId) {
      await limits.consume('logout_test_client', clientId);
      const notice = { clientId, sub: newId(), sid: newId() };
      const outcome = await mount.sendLogoutToken(notice);
      return outbox.addTest(notice, isDelivered(outcome) ? 'delivered' : 'failed', outcome);
    },
    jobs: [deliverLogoutTokens(deliver)],
  };
}
