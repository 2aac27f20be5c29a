// The mail server of `npm run dev`: listens on this machine only and prints received mails.
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

export interface MailPrinter {
  /** For SMTP_URL. */
  readonly url: string;
  close(): void;
}

export async function startMailPrinter(print: (text: string) => void): Promise<MailPrinter> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _session, done) => {
      simpleParser(stream).then(({ to, subject, text }) => {
        const recipients = [to ?? []].flat().map((address) => address.text);
        print(`\n──── Mail to ${recipients.join(', ')}: ${subject ?? ''}\n\n${(text ?? '').trim()}\n\n────`);
        done();
      }, done);
    },
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  // A client that disconnects early must not stop the server.
  server.off('error', reject).on('error', () => undefined);
  const address = server.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the mail server has no port');
  return { url: `smtp://127.0.0.1:${address.port}`, close: () => server.close() };
}
