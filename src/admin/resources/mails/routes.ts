// Owns the routes of outbound mail (decisions §8): what was sent, waits or failed, the mails kept where there is no
// server, readable, and an administrator's test of the settings.
import { Enum, Integer, Object as ObjectSchema, String as StringSchema } from 'typebox';
import type { Clock } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import type { OutboxMail } from '../../../mail/index.ts';
import { mails as collection, type MailRecord } from '../../../store/collections.ts';
import type { Cursors } from '../../api/cursor.ts';
import { pageSchema, readPage } from '../../api/list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from '../../api/list-query.ts';
import type { MailPort } from '../../api/ports.ts';
import { defineRoute, type Route, type Sensitivity } from '../../api/route.ts';
import { nullable, strict, timestamp } from '../../api/schema-parts.ts';
import { idParams } from '../../api/shared.ts';

interface Deps {
  readonly mail: MailPort;
  readonly cursors: Cursors;
  readonly clock: Clock;
}

const address = () => StringSchema({ minLength: 3, maxLength: 254 });
const stateSchema = () => Enum(['queued', 'sent', 'failed', 'kept']);

/** What sorting needs; the texts are the outbox's own matter. */
type Sorted = Pick<MailRecord, 'state' | 'to' | 'createdAt' | 'dueAt'>;

const list: ListDefinition<Sorted> = {
  name: 'mails',
  collection: {
    ...collection,
    indexes: {},
    fields: {
      created_at: { type: 'number', of: (mail) => mail.createdAt },
      due_at: { type: 'number', of: (mail) => mail.dueAt },
      state: { type: 'string', of: (mail) => mail.state },
      to: { type: 'string', of: (mail) => mail.to },
    },
  },
  sorts: ['created_at', 'due_at', 'state', 'to', 'id'],
  defaultOrder: 'desc',
  searches: ['to'],
  filters: { state: { schema: stateSchema() }, to: { schema: address() } },
  times: ['created_at', 'due_at'],
};

const mailSchema = ObjectSchema(
  {
    id: StringSchema(),
    state: stateSchema(),
    to: StringSchema(),
    template: StringSchema(),
    subject: StringSchema(),
    text: nullable(StringSchema({ description: 'Of kept mails alone; others go to their mailboxes only.' })),
    html: nullable(StringSchema()),
    attempts: Integer(),
    due_at: timestamp(),
    last_error: nullable(StringSchema()),
    created_at: timestamp(),
    sent_at: nullable(timestamp()),
  },
  strict,
);

const iso = (at: number): string => new Date(at).toISOString();
const show = (mail: OutboxMail) => ({
  id: mail.id,
  state: mail.state,
  to: mail.to,
  template: mail.template,
  subject: mail.subject,
  text: mail.text ?? null,
  html: mail.html ?? null,
  attempts: mail.attempts,
  due_at: iso(mail.dueAt),
  last_error: mail.lastError ?? null,
  created_at: iso(mail.createdAt),
  sent_at: mail.sentAt === undefined ? null : iso(mail.sentAt),
});

const tag = 'Mail';

/** Texts carry codes and links: whoever reads them can be who they are for. Only kept mails have them. */
const hasTexts: Exclude<Sensitivity, string>['is'] = ({ query }) => {
  const { state }: { state?: unknown } = { ...(typeof query === 'object' && query) };
  return typeof state !== 'string' || !['queued', 'sent', 'failed'].includes(state);
};

export function mailRoutes({ mail, cursors, clock }: Deps): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/mails',
      sensitivity: { when: 'except by state queued, sent or failed, which have no texts', is: hasTexts },
      tag,
      summary: 'List outbound mails, the latest first',
      // Their texts carry codes and links: whoever reads them can be who they are for.
      needs: 'admin',
      query: listQuerySchema(list),
      success: { status: 200, schema: pageSchema(mailSchema) },
      handle: async ({ query }) => {
        const page = await readPage<Sorted, OutboxMail>({
          list,
          request: readListQuery(list, query, clock()),
          cursors,
          query: (wanted) => mail.list(wanted),
          recordOf: (item) => item,
          idOf: ({ id }) => id,
        });
        return { data: { ...page, items: page.items.map(show) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/mails/{id}',
      sensitivity: 'sensitive',
      tag,
      summary: 'Read an outbound mail',
      needs: 'admin',
      params: idParams,
      success: { status: 200, schema: mailSchema },
      handle: async ({ params }) => {
        const found = await mail.find(params.id);
        if (found === undefined) throw new AppError('request.not_found');
        return { data: show(found) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/settings/test-email',
      sensitivity: 'plain',
      tag,
      summary: 'Send a test mail with the settings as they are, at once',
      body: ObjectSchema({ to: address() }, strict),
      success: {
        status: 200,
        schema: ObjectSchema(
          {
            state: Enum(['sent', 'kept', 'failed'], { description: 'kept: there is no server set up.' }),
            problem: nullable(StringSchema({ description: 'Why it failed.' })),
          },
          strict,
        ),
      },
      handle: async ({ body }) => {
        const outcome = await mail.sendTest(body.to);
        return { data: { state: outcome.state, problem: outcome.problem ?? null } };
      },
    }),
  ];
}
