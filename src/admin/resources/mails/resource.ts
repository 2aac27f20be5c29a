// Outbound mail: sent, queued and failed mails, and the readable ones stored because no mail server is configured.
import type { OutboxMail, TestOutcome } from '../../../mail/index.ts';
import { mailNames } from '../../../model/mails.ts';
import { mails as collection, type MailRecord } from '../../../store/collections.ts';
import { languages } from '../../../views/index.ts';
import { defineResource } from '../../api/define-resource.ts';
import type { ListDefinition } from '../../api/list-query.ts';
import type { Answer } from '../../api/route.ts';
import {
  createdAt,
  DOCUMENTED,
  integer,
  iso,
  object,
  oneOf,
  optional,
  string,
  stringOrNull,
  timestamp,
  timestampOrNull,
} from '../../api/schema-parts.ts';

const address = () =>
  string({ minLength: 3, maxLength: 254, description: 'Only mails to this e-mail address.' });
const stateSchema = (description: string) => oneOf(['queued', 'sent', 'failed', 'kept'], description);

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
  filters: { state: { schema: stateSchema('Only mails in this state.') }, to: { schema: address() } },
  times: ['created_at', 'due_at'],
};

const mailSchema = object(
  {
    id: string('The ID of the mail.'),
    state: stateSchema(
      '`queued`: there is another attempt; `failed`: it was given up; `kept`: no mail server is configured.',
    ),
    to: string('The e-mail address of the recipient.'),
    template: string('What it is about, such as `password-reset`.'),
    subject: string('The subject.'),
    text: stringOrNull(
      'The plain text. Only of mails in the state `kept`, and none that shows that its reader has the mailbox; others are only delivered.',
    ),
    html: stringOrNull('The same as HTML.'),
    attempts: integer('How often delivery was attempted.'),
    due_at: timestamp('When the next attempt is due, or the last one was.'),
    last_error: stringOrNull('Why the last attempt failed; null: it did not.'),
    created_at: createdAt(),
    sent_at: timestampOrNull('When the mail server accepted it; null: not yet.'),
  },
  'An outbound mail.',
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

/** Sent is what the mail server accepted: everything else has another name, since names tell more than outcomes do. */
const outcomeOf = (outcome: TestOutcome): Answer<unknown>['recorded'] => {
  if (outcome.state === 'sent') return {};
  const failure = { event: 'mail.test_failed', outcome: 'failure' } as const;
  if (outcome.state === 'kept') return { ...failure, reason: 'no_mail_server' };
  return { ...failure, reason: 'refused', details: { problem: outcome.problem } };
};

export const mails = defineResource(
  {
    path: '/mails',
    tag: 'Mail',
    target: 'mail',
    view: mailSchema,
    present: (items: readonly OutboxMail[]) => items.map(show),
  },
  (on) => ({
    list: on.list({
      summary: 'List outbound mails, latest first',
      // The texts contain codes and links that let any reader act as the recipient.
      needs: 'admin',
      list,
      query: (wanted, { mail }) => mail.list(wanted),
      recordOf: (mail): Sorted => mail,
    }),
    read: on.read({
      summary: 'Read an outbound mail',
      needs: 'admin',
      find: (id, { mail }) => mail.find(id),
      missing: 'request.not_found',
    }),
    test: on.route('POST /settings/test-email', {
      summary: 'Send a test mail with the current settings immediately',
      recorded: { event: 'mail.test_sent', target: 'mail' },
      body: object({
        to: string({
          minLength: 3,
          maxLength: 254,
          description: 'The e-mail address of the recipient.',
          [DOCUMENTED]: { format: 'email' },
        }),
        mail: optional(oneOf([...mailNames], 'The e-mail to send, with made-up values. Default: `test`.')),
        language: optional(oneOf([...languages], 'Its language. Default: `en`.')),
      }),
      answer: object(
        {
          state: oneOf(
            ['sent', 'kept', 'failed'],
            '`sent`: the mail server accepted it; `kept`: no mail server is configured, so it was stored.',
          ),
          problem: stringOrNull('Why it failed; null: it did not.'),
          mail_id: stringOrNull('Of a `kept` mail its ID, as in `GET /mails`; null: it was not stored.'),
        },
        'What became of the test mail.',
      ),
      async run({ body }, { mail }) {
        const outcome = await mail.sendTest(body.to, body.language, body.mail);
        const { state } = outcome;
        const problem = state === 'failed' ? outcome.problem : null;
        const mailId = state === 'kept' ? outcome.id : null;
        return { data: { state, problem, mail_id: mailId }, recorded: outcomeOf(outcome) };
      },
    }),
  }),
);
