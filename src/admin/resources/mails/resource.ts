// Outbound mail: sent, queued and failed mails, and the readable ones stored because no mail server is configured.
import { Enum, Integer, Object as ObjectSchema, String as StringSchema } from 'typebox';
import type { OutboxMail } from '../../../mail/index.ts';
import { mails as collection, type MailRecord } from '../../../store/collections.ts';
import { defineResource, type ListPorts } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { MailPort } from '../../api/ports.ts';
import type { Sensitivity } from '../../api/route.ts';
import { DOCUMENTED, iso, nullable, strict, timestamp } from '../../api/schema-parts.ts';

interface Ports extends ListPorts {
  readonly mail: MailPort;
}

const address = () => StringSchema({ minLength: 3, maxLength: 254 });
const stateSchema = () => Enum(['queued', 'sent', 'failed', 'kept']);

/** The fields that sorting needs; the outbox handles the texts. */
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
    text: nullable(
      StringSchema({ description: 'Only of mails in the state kept; others are only delivered.' }),
    ),
    html: nullable(StringSchema()),
    attempts: Integer(),
    due_at: timestamp(),
    last_error: nullable(StringSchema()),
    created_at: timestamp(),
    sent_at: nullable(timestamp()),
  },
  strict,
);

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

/** Only stored mails include texts: they contain codes and links that let any reader act as the recipient. */
const hasTexts: Exclude<Sensitivity, string>['is'] = ({ query }) => {
  const { state }: { state?: unknown } = { ...(typeof query === 'object' && query) };
  return typeof state !== 'string' || !['queued', 'sent', 'failed'].includes(state);
};

export const mails = defineResource(
  {
    path: '/mails',
    tag: 'Mail',
    target: 'mail',
    view: mailSchema,
    present: (items: readonly OutboxMail[], _: Ports) => items.map(show),
  },
  (on) => ({
    list: on.list({
      summary: 'List outbound mails, latest first',
      sensitivity: { when: 'except by state queued, sent or failed, which have no texts', is: hasTexts },
      // The texts contain codes and links that let any reader act as the recipient.
      needs: 'admin',
      list,
      query: (wanted, { mail }) => mail.list(wanted),
      recordOf: (mail): Sorted => mail,
    }),
    read: on.read({
      summary: 'Read an outbound mail',
      sensitivity: 'sensitive',
      needs: 'admin',
      find: (id, { mail }) => mail.find(id),
      missing: 'request.not_found',
    }),
    test: on.route({
      method: 'POST',
      path: '/settings/test-email',
      sensitivity: 'plain',
      summary: 'Send a test mail with the current settings immediately',
      recorded: { event: 'mail.test_sent', target: 'mail' },
      body: ObjectSchema(
        { to: StringSchema({ minLength: 3, maxLength: 254, [DOCUMENTED]: { format: 'email' } }) },
        strict,
      ),
      success: {
        status: 200,
        schema: ObjectSchema(
          {
            state: Enum(['sent', 'kept', 'failed'], { description: 'kept: no mail server is configured.' }),
            problem: nullable(StringSchema({ description: 'The reason of a failure.' })),
          },
          strict,
        ),
      },
      async run({ body }, { mail }) {
        const outcome = await mail.sendTest(body.to);
        return { data: { state: outcome.state, problem: outcome.problem ?? null } };
      },
    }),
  }),
);
