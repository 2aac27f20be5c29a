// The SMTP client: plain, encrypted, authenticated, and with servers that refuse, hang or are not mail servers.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import tls from 'node:tls';
import { createSmtp, tlsOptions } from '../../src/mail/smtp.ts';
import { Undelivered } from '../../src/mail/undelivered.ts';
import { parseSmtpUrl } from '../../src/model/smtp-url.ts';
import { isWithin } from '../support/patience.ts';
import { makeCertificate } from './certificate.ts';
import { impatient, type MailServer, type MailServerOptions, startMailServer, steady } from './support.ts';

const envelope = { from: 'robot@example.com', to: 'ann@example.com' };
const message = Buffer.from('Subject: Hello\r\n\r\nA mail.\r\n');

async function deliver(url: string, open = steady): Promise<void> {
  const server = parseSmtpUrl(url);
  assert.ok(server);
  const session = await open(server);
  await session.send(envelope, message);
  session.close();
}

const failsWith =
  (consequence: Undelivered['consequence'], text: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof Undelivered, String(error));
    assert.equal(error.consequence, consequence, error.message);
    assert.match(error.message, text);
    return true;
  };

async function withServer(
  options: MailServerOptions,
  use: (server: MailServer) => Promise<void>,
): Promise<void> {
  const server = await startMailServer(options);
  try {
    await use(server);
  } finally {
    await server.close();
  }
}

const trusted = makeCertificate();
const untrusted = makeCertificate();
const authorities = tls.getCACertificates('default');
before(() => tls.setDefaultCACertificates([...authorities, trusted.cert]));
after(() => tls.setDefaultCACertificates(authorities));

test('plain SMTP: the mail arrives, one sender, one recipient', () =>
  withServer({}, async (server) => {
    await deliver(server.url(), steady);
    const [got, ...more] = server.received;
    assert.deepEqual(
      [got?.from, got?.to, got?.isEncrypted, got?.mail.subject, more.length],
      ['robot@example.com', ['ann@example.com'], false, 'Hello', 0],
    );
  }));

test('SMTP session: carries many mails', () =>
  withServer({}, async (server) => {
    const target = parseSmtpUrl(server.url());
    assert.ok(target);
    const session = await steady(target);
    for (let n = 0; n < 20; n += 1) await session.send(envelope, message);
    session.close();
    assert.equal(server.received.length, 20);
  }));

describe('encryption', { concurrency: 4 }, () => {
  test('STARTTLS is used when offered, with an untrusted certificate too', () =>
    withServer({ tls: untrusted }, async (server) => {
      await deliver(server.url(), steady);
      assert.equal(server.received[0]?.isEncrypted, true);
    }));

  test('smtp+starttls:// continues with a trusted certificate', () =>
    withServer({ tls: trusted }, async (server) => {
      await deliver(server.url({ scheme: 'smtp+starttls' }), steady);
      assert.equal(server.received[0]?.isEncrypted, true);
    }));

  test('attack: STARTTLS is stripped; smtp+starttls:// sends nothing', () =>
    withServer({ encryption: 'none' }, async (server) => {
      await assert.rejects(
        deliver(server.url({ scheme: 'smtp+starttls' })),
        failsWith('server', /TLS|server replied/),
      );
      assert.equal(server.received.length, 0);
    }));

  for (const scheme of ['smtp+starttls', 'smtps']) {
    test(`attack: another server with its own certificate; ${scheme}:// sends nothing`, () =>
      withServer({ tls: untrusted, encryption: scheme === 'smtps' ? 'tls' : 'starttls' }, async (server) => {
        await assert.rejects(deliver(server.url({ scheme })), failsWith('server', /self-signed/));
        assert.equal(server.received.length, 0);
      }));
  }

  test('smtps:// is encrypted from the first byte', () =>
    withServer({ tls: trusted, encryption: 'tls' }, async (server) => {
      await deliver(server.url({ scheme: 'smtps' }), steady);
      assert.equal(server.received[0]?.isEncrypted, true);
    }));

  test('credentials are sent over verified TLS only', () => {
    const optionsOf = (url: string) => {
      const server = parseSmtpUrl(url);
      assert.ok(server);
      const { secure, requireTLS, tls: options } = tlsOptions(server);
      return [secure, requireTLS, options?.rejectUnauthorized];
    };
    assert.deepEqual(optionsOf('smtp://user:secret@mail.example.com'), [false, true, true]);
    assert.deepEqual(optionsOf('smtp+starttls://user:secret@localhost'), [false, true, true]);
    assert.deepEqual(optionsOf('smtps://user:secret@localhost'), [true, false, true]);
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]']) {
      assert.deepEqual(optionsOf(`smtp://user:secret@${host}`), [false, false, false], host);
    }
    assert.deepEqual(optionsOf('smtp://mail.example.com'), [false, false, false]);
  });
});

describe('authentication', { concurrency: 4 }, () => {
  test('correct password, with %-escapes', () =>
    withServer({ password: 'p@ss/w:rd%' }, async (server) => {
      await deliver(server.url({ credentials: 'robot%40example.com:p%40ss%2Fw%3Ard%25' }));
      assert.equal(server.received[0]?.user, 'robot@example.com');
    }));

  test('wrong password: a settings error, and its text appears nowhere', () =>
    withServer({ password: 'right' }, async (server) => {
      const failure = await deliver(server.url({ credentials: 'robot:hunter2hunter2' })).catch(
        (error) => error,
      );
      assert.ok(failsWith('server', /535/)(failure));
      assert.doesNotMatch(failure.message, /hunter2/);
    }));

  test('server that requires authentication, none configured: no mail is lost', () =>
    withServer({ password: 'right' }, async (server) => {
      await assert.rejects(deliver(server.url()), failsWith('server', /530/));
    }));
});

describe('refusals', { concurrency: 4 }, () => {
  const cases = [
    ['onSender', 550, 'server'],
    ['onSender', 451, 'server'],
    ['onRecipient', 550, 'never'],
    ['onRecipient', 450, 'later'],
    ['onRecipient', 530, 'server'],
    ['onMail', 554, 'never'],
    ['onMail', 452, 'later'],
    // RFC 5321 §4.2.1: out of sequence, so the session was at fault.
    ['onMail', 503, 'later'],
  ] as const;
  for (const [phase, code, consequence] of cases) {
    test(`${phase} ${code}: ${consequence}`, () =>
      withServer({ [phase]: () => code }, async (server) => {
        await assert.rejects(deliver(server.url()), failsWith(consequence, new RegExp(`replied: ${code} `)));
      }));
  }

  test('connection refused', async () => {
    const server = await startMailServer();
    await server.close();
    await assert.rejects(deliver(server.url()), failsWith('server', /no server listens/));
  });

  test('unknown host name', async () => {
    await assert.rejects(
      deliver('smtp://no-such-host.invalid', createSmtp({ name: 'x', waitMs: 3000 })),
      failsWith('server', /does not exist|could not be resolved|in time/),
    );
  });
});

/** Answers as its script says: to each line that matches, what stands beside it; '' is silence. */
async function withScript(
  script: readonly (readonly [RegExp, string])[],
  use: (url: string, sockets: Socket[]) => Promise<void>,
  greeting = '220 ready\r\n',
): Promise<void> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(greeting);
    socket.on('data', (chunk) => {
      for (const line of chunk.toString('latin1').split('\r\n').filter(Boolean)) {
        const answer = script.find(([pattern]) => pattern.test(line))?.[1] ?? '';
        if (answer !== '') socket.write(answer);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    // Of a TCP server that listens, the address is an object.
    await use(`smtp://robot:secret@127.0.0.1:${(server.address() as AddressInfo).port}`, sockets);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
}

const willing = [
  [/^EHLO/, '250-test\r\n250 AUTH PLAIN\r\n'],
  [/^STARTTLS/, '220 go\r\n'],
  [/^AUTH/, '235 ok\r\n'],
  [/^MAIL/, '250 ok\r\n'],
  [/^RCPT/, '250 ok\r\n'],
  [/^DATA/, '354 go\r\n'],
  [/^\.$/, '250 ok\r\n'],
] as const;

describe('a server that hangs is abandoned at the time limit', { concurrency: 16 }, () => {
  const silentAt = (phase: string) => willing.filter(([pattern]) => !pattern.source.includes(phase));
  const offering = [[/^EHLO/, '250-test\r\n250 STARTTLS\r\n'] as const, ...willing.slice(1)];
  const cases = [
    ['before its greeting', willing, '', 'server'],
    ['after EHLO', silentAt('EHLO'), undefined, 'server'],
    ['at the sign-in', silentAt('AUTH'), undefined, 'server'],
    [
      'at STARTTLS',
      offering.filter(([pattern]) => !pattern.source.includes('STARTTLS')),
      undefined,
      'server',
    ],
    ['in the TLS handshake', offering, undefined, 'server'],
    ['at MAIL FROM', silentAt('MAIL'), undefined, 'later'],
    ['at RCPT TO', silentAt('RCPT'), undefined, 'later'],
    ['at DATA', silentAt('DATA'), undefined, 'later'],
    ['after the mail', silentAt('\\.'), undefined, 'later'],
  ] as const;
  for (const [name, script, greeting, consequence] of cases) {
    test(name, () =>
      withScript(
        script,
        async (url, sockets) => {
          const began = performance.now();
          await assert.rejects(deliver(url, impatient), failsWith(consequence, /in time/));
          assert.ok(isWithin(performance.now() - began, 6000), `${performance.now() - began} ms`);
          for (const socket of sockets) if (!socket.closed) await once(socket, 'close');
        },
        greeting,
      ),
    );
  }

  test('one byte now and then, without end', () =>
    withScript(
      willing,
      async (url, sockets) => {
        const drip = setInterval(() => {
          for (const socket of sockets) if (socket.writable) socket.write('2');
        }, 20);
        const began = performance.now();
        await assert
          .rejects(deliver(url, impatient), failsWith('server', /in time/))
          .finally(() => clearInterval(drip));
        assert.ok(isWithin(performance.now() - began, 6000));
      },
      '2',
    ));

  test('an endless response', () =>
    withScript([[/^EHLO/, `250-${'x'.repeat(70_000)}\r\n`.repeat(3)]], (url) =>
      assert.rejects(deliver(url), failsWith('server', /SMTP/)),
    ));

  test('slow while it receives the mail', () =>
    withScript(silentAt('DATA'), async (url, sockets) => {
      const server = parseSmtpUrl(url);
      assert.ok(server);
      const session = await impatient(server);
      const [socket] = sockets;
      assert.ok(socket);
      // Not before DATA is sent: a reply to nothing would end the session while it is idle.
      let drip: NodeJS.Timeout | undefined;
      socket.on('data', (chunk) => {
        if (/^DATA/m.test(chunk.toString('latin1'))) drip ??= setInterval(() => socket.write('3'), 20);
      });
      const began = performance.now();
      await assert
        .rejects(session.send(envelope, message), failsWith('later', /in time/))
        .finally(() => clearInterval(drip));
      assert.ok(drip);
      assert.ok(isWithin(performance.now() - began, 6000));
    }));

  test('the caller can cancel the wait', () =>
    withScript(silentAt('EHLO'), async (url) => {
      const server = parseSmtpUrl(url);
      assert.ok(server);
      const patient = createSmtp({ name: 'id.example.com' });
      const began = performance.now();
      await assert.rejects(patient(server, AbortSignal.timeout(100)), failsWith('server', /in time/));
      assert.ok(isWithin(performance.now() - began, 6000));
    }));
});

describe('not a mail server', () => {
  test('attack: SMTP probes internal services; their responses are not disclosed', () =>
    withScript(
      [],
      (url) =>
        assert.rejects(deliver(url), (error) => {
          assert.ok(failsWith('server', /SMTP|in time|reached/)(error));
          assert.ok(error instanceof Error);
          assert.doesNotMatch(error.message, /redis|topsecret/);
          return true;
        }),
      '-ERR redis topsecret\r\n',
    ));

  test('attack: a reply with line breaks, escape sequences or the mail’s link is not disclosed', () =>
    withScript(
      [
        ...willing.slice(0, 5),
        [/^DATA/, '554 spam: \u001b[2Jhttps://id.example.com/reset?token=abc 12345678 end\r\n'],
      ],
      (url) =>
        assert.rejects(deliver(url), (error) => {
          assert.ok(failsWith('never', /554 spam: .*end/)(error));
          assert.ok(error instanceof Error);
          assert.doesNotMatch(error.message, /token|\p{Cc}|12345678/u);
          return true;
        }),
    ));
});
