// The form of the mail server, beside the other settings of mails: provider, host, port, encryption, user and password. One press
// saves it and sends a test mail, since nothing but a mail that was accepted shows that it works.

import { invalid } from '../../../errors.ts';
import { isMailAddress } from '../../../model/mail-address.ts';
import { mailProviders } from '../../../model/mail-providers.ts';
import { apiCall } from '../../pages/curl.ts';
import { numberOrText } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';
import { mails } from '../mails/resource.ts';
import { mailServer } from './mail-server.ts';

/** What was typed, and what the route says of it. */
export interface GivenServer {
  readonly values: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly alert: string;
}

const PATH = '/settings/mail';

type ProviderId = (typeof mailProviders)[number]['id'];

/** What their words for user and password are. */
const hints: Readonly<Record<ProviderId, string>> = {
  gmail: 'User: the whole address. Password: an app password, which needs two-step sign-in.',
  microsoft365:
    'User: the mailbox’s address. An administrator there must allow authenticated SMTP for the mailbox.',
  ses: 'Replace us-east-1 with your region. User and password: the SMTP credentials, not an access key.',
  postmark: 'User and password: both the server’s API token.',
  mailgun: 'User and password: the SMTP credentials of your domain.',
  'mailgun-eu': 'User and password: the SMTP credentials of your domain.',
  sendgrid: 'User: the word apikey. Password: an API key.',
  brevo: 'User: the SMTP login. Password: an SMTP key, not an API key.',
  resend: 'User: the word resend. Password: an API key.',
  fastmail: 'User: the whole address. Password: an app password.',
};

/** @param facts who set it, and when */
export async function serverModel(
  context: AdminContext,
  facts: { readonly by: string; readonly updated_at: string | null },
  given?: GivenServer,
) {
  const { data } = await context.call(mailServer.read, {});
  const { host, port, encryption, user, has_password: hasPassword, accepted_at: acceptedAt } = data;
  const { failed_at: failedAt, last_error: problem } = data;
  const stored = { host, port: port === null ? '' : String(port), encryption: encryption ?? 'tls', user };
  const values: Readonly<Record<string, string>> = given?.values ?? stored;
  return {
    values,
    errors: given?.errors ?? {},
    alert: given?.alert,
    hasPassword,
    isSet: host !== '',
    acceptedAt,
    failedAt,
    problem,
    providers: mailProviders.map((one) => ({ ...one, hint: hints[one.id] })),
    provider: values.provider || mailProviders.find((one) => one.host === values.host)?.id,
    by: facts.by,
    updated_at: facts.updated_at,
    call: apiCall('PUT', '/settings/mail-server', { ...stored, port, password: '…' }),
  };
}

/** What a provider was chosen for, where no script has filled it in. */
function serverIn({ form }: AdminContext) {
  const host = (form.get('host') ?? '').trim();
  const provider = host === '' ? mailProviders.find(({ id }) => id === form.get('provider')) : undefined;
  const port = (form.get('port') ?? '').trim();
  const user = form.get('user') ?? '';
  const typed = {
    host,
    port: port === '' ? null : numberOrText(port),
    encryption: form.get('encryption') ?? '',
    user,
    password: form.get('password') ?? '',
  };
  if (provider === undefined) return typed;
  const known = 'user' in provider ? provider.user : '';
  const { host: at, port: on, encryption } = provider;
  return { ...typed, host: at, port: on, encryption, user: user || known };
}

export async function saveServer(context: AdminContext): Promise<void> {
  const body = serverIn(context);
  const to = (context.form.get('to') ?? '').trim();
  // Before anything is saved: what follows is one act.
  if (body.host !== '' && !isMailAddress(to)) throw invalid({ to: 'Must be one e-mail address.' });
  await context.call(mailServer.replace, { body });
  if (body.host === '') return context.go(PATH, 'mail-server-removed');
  const { data } = await context.call(mails.test, { body: { to } });
  const test = { ...data, to };
  // Kept by us for this administrator; it always fits.
  if (!(await context.goOnce(PATH, { test }))) context.go(PATH, 'settings-saved');
}
