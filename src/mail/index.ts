// Outbound mail: what a mail is made of (templates.ts), what may fill them (values.ts), how they look (views.ts), the outbox and
// its delivery (mail.ts, where to start), and mails that anyone may ask for (requested.ts). Who gets which mail, and when, is
// decided by the domains above; they subscribe to requests by kind.
import type { Clock } from '../clock.ts';
import type { Events } from '../events/index.ts';
import { createTimeSortedIds } from '../ids.ts';
import type { Job } from '../jobs/index.ts';
import type { Logger } from '../log.ts';
import type { SettingValues } from '../settings/index.ts';
import * as model from '../store/collections.ts';
import type { Store } from '../store/port.ts';
import { type PageLook, themeOf } from '../views/index.ts';
import { answerMailRequests } from './answer-requests-job.ts';
import type { FindLogo } from './delivery.ts';
import { createOutboundMail, type OutboundMail } from './mail.ts';
import type { MailSealer } from './outbox.ts';
import { createRequestedMails, type RequestedMails } from './requested.ts';
import { sendMail } from './send-job.ts';
import type { MailTexts } from './texts.ts';
import { createMailViews, type PlaceOf } from './views.ts';

export { lintMail } from './lint.ts';
export type { TestOutcome } from './mail.ts';
export type { OutboxMail, Queued } from './outbox.ts';
export { createMailPreviews } from './previews.ts';
export { accountValues, readerValues, requestValues } from './request-values.ts';
export type { Requester } from './requested.ts';
export { resealMails } from './reseal-mails.ts';
export type { MailValues } from './templates.ts';
export {
  blocksOf,
  MAX_TEXT as MAX_MAIL_TEXT,
  type MailTexts,
  mailBlocks,
  problemOf,
} from './texts.ts';
export type { PlaceOf } from './views.ts';

export interface Mail extends OutboundMail {
  /** Mails that anyone may ask for. */
  readonly requests: RequestedMails;
  readonly jobs: readonly Job[];
}

export function createMail(deps: {
  store: Pick<Store, 'collection'>;
  sealer: MailSealer;
  clock: Clock;
  settings: () => SettingValues;
  /** Links in mails must lead there. */
  baseUrl: string;
  events: Pick<Events, 'on'>;
  log: Pick<Logger, 'info' | 'warn'>;
  /** The logo that mails show; without, they show the product's name. Read for each mail, as the look is. */
  logo?: FindLogo;
  look?: () => PageLook | undefined;
  /** What an administrator wrote in place of shipped texts. */
  ownTexts?: () => MailTexts | undefined;
  /** Words for where an IP address is. */
  placeOf?: PlaceOf;
}): Mail {
  const { store, clock, settings } = deps;
  const outbound = createOutboundMail({
    ...deps,
    collection: store.collection(model.mails),
    facts: store.collection(model.facts),
    newId: createTimeSortedIds(clock),
    render: createMailViews({ ...deps, theme: () => themeOf(settings(), deps.look?.()) }),
  });
  const requests = createRequestedMails({
    collection: store.collection(model.mailRequests),
    clock,
    sealer: deps.sealer,
    newId: createTimeSortedIds(clock),
  });
  deps.events.on('accountRemoving', async ({ accountId, mailboxes }) => {
    await outbound.removeAllOf(accountId, mailboxes);
  });
  return {
    ...outbound,
    requests,
    jobs: [answerMailRequests({ process: requests.process }), sendMail({ mail: outbound })],
  };
}
