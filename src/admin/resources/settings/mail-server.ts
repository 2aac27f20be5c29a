// The mail server by its parts, which people know, beside the setting smtp_url, which has all of them in one secret address.

import { changedSmtpUrl, mailServerOf } from '../../../settings/index.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import type { AdminPorts } from '../../api/ports.ts';
import {
  boolean,
  integer,
  isoOrNull,
  object,
  oneOf,
  optional,
  orNull,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';
import { nameOf } from './resource.ts';

const host = { description: 'Its name or IP address; empty: mails are kept for administrators to read.' };
const port = { minimum: 1, maximum: 65_535 };
const encryption = () =>
  oneOf(
    ['tls', 'starttls', 'offered'],
    '`tls`: from the start; `starttls`: required; `offered`: where the server offers STARTTLS.',
  );
const user = { description: 'The user that it asks for; empty: none.' };

const viewSchema = object(
  {
    host: string(host),
    port: orNull(integer(port), 'The TCP port; null: there is no mail server.'),
    encryption: orNull(encryption(), 'How the connection is protected; null: there is no mail server.'),
    user: string(user),
    has_password: boolean('Whether there is a password, which is never shown.'),
    accepted_at: timestampOrNull(
      'When it was first found to accept a mail, as it is set now; null: it has not yet.',
    ),
    failed_at: timestampOrNull(
      'When it was first found to fail, or a test last failed; null: it has accepted a mail since, or was not tried.',
    ),
    last_error: stringOrNull('Why it failed then; null: it did not.'),
  },
  'The mail server.',
);

const bodySchema = object({
  host: string({ ...host, maxLength: 253, examples: ['mail.example.com'] }),
  port: optional(
    orNull(integer({ ...port, examples: [465] }), 'The TCP port; null or absent: 465 with `tls`, else 587.'),
  ),
  encryption: encryption(),
  user: optional(string({ ...user, maxLength: 254, examples: ['robot'] })),
  password: optional(
    string({
      maxLength: 512,
      description:
        'Absent or empty: the stored one, which stays with its server and user. Must be given again for another host, ' +
        'port or user, or less encryption.',
    }),
  ),
});

async function show({ settingsInStore: settings, mail }: AdminPorts) {
  await settings.refresh();
  const server = mailServerOf(settings.current().smtp_url);
  const failure = await mail.lastFailure();
  const data = {
    host: server?.host ?? '',
    port: server?.port ?? null,
    encryption: server?.encryption ?? null,
    user: server?.user ?? '',
    has_password: server?.hasPassword ?? false,
    accepted_at: isoOrNull(await mail.provenAt()),
    failed_at: isoOrNull(failure?.at),
    last_error: failure?.problem ?? null,
  };
  return { data, version: settings.version() };
}

const success = { answer: viewSchema, hasVersion: true } as const;

export const mailServer = defineRoutes('Settings', (on) => ({
  read: on.route('GET /settings/mail-server', {
    summary: 'Read the mail server by its parts, without the password',
    ...success,
    run: (_, ports) => show(ports),
  }),
  replace: on.route('PUT /settings/mail-server', {
    hasTarget: true,
    recorded: { event: 'settings.changed', target: 'setting', view: 'settings' },
    summary: 'Set the mail server by its parts: writes the setting `smtp_url`',
    body: bodySchema,
    ...success,
    async run({ body, actor, ifVersion }, ports) {
      const { settingsInStore: settings } = ports;
      await settings.refresh();
      const url = changedSmtpUrl(settings.current().smtp_url, body);
      await settings.patch({ smtp_url: url }, nameOf(actor), { ifVersion: ifVersion ?? settings.version() });
      return show(ports);
    },
  }),
}));
