// The form of the mail server, beside the other settings of mails: host, port, encryption, user and password.
import { apiCall } from '../../pages/curl.ts';
import { numberOrText } from '../../pages/field-values.ts';
import type { AdminContext } from '../../pages/page.ts';
import { mailServer } from './mail-server.ts';

/** What was typed, and what the route says of it. */
export interface GivenServer {
  readonly values: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
  readonly alert: string;
}

/** @param facts who set it, and when */
export async function serverModel(
  context: AdminContext,
  facts: { readonly by: string; readonly updated_at: string | null },
  given?: GivenServer,
) {
  const { data } = await context.call(mailServer.read, {});
  const { host, port, encryption, user, has_password: hasPassword } = data;
  const stored = { host, port: port === null ? '' : String(port), encryption: encryption ?? 'tls', user };
  return {
    values: given?.values ?? stored,
    errors: given?.errors ?? {},
    alert: given?.alert,
    hasPassword,
    by: facts.by,
    updated_at: facts.updated_at,
    call: apiCall('PUT', '/settings/mail-server', { ...stored, port, password: '…' }),
  };
}

export async function saveServer(context: AdminContext): Promise<void> {
  const { form } = context;
  const port = (form.get('port') ?? '').trim();
  const body: Record<string, unknown> = {
    host: form.get('host') ?? '',
    port: port === '' ? null : numberOrText(port),
    encryption: form.get('encryption') ?? '',
    user: form.get('user') ?? '',
    password: form.get('password') ?? '',
  };
  await context.call(mailServer.replace, { body });
  context.go('/settings/mail', 'settings-saved');
}
