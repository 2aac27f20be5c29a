// Mail delivery: nothing is lost or out of order, and duplicates only after a crash, whatever the mail server does.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createMemoryStore } from '../../adapters/memory/store.ts';
import { createSmtp, type OpenSmtp } from '../../src/mail/smtp.ts';
import { Undelivered } from '../../src/mail/undelivered.ts';
import { type MailRecord, mails } from '../../src/store/collections.ts';
import type { Collection } from '../../src/store/port.ts';
import {
  baseUrl,
  HOUR,
  impatient,
  type MailServer,
  type MailServerOptions,
  MINUTE,
  startMailServer,
  type TestMail,
  testMail,
} from './support.ts';

async function withServer(
  options: MailServerOptions,
  use: (server: MailServer, given: TestMail) => Promise<void>,
): Promise<void> {
  const server = await startMailServer(options);
  try {
    await use(server, testMail({ smtpUrl: server.url() }));
  } finally {
    await server.close();
  }
}

/** The six digits in each mail, in the order of arrival. */
const codesOf = ({ received }: MailServer): string[] =>
  received.map(({ mail }) => /\b\d{6}\b/.exec(mail.text ?? '')?.[0] ?? '');

const figures = { sent: 0, postponed: 0, failed: 0, kept: 0 };

// Most of the time is waiting: the test server greets late on purpose, to find clients that talk too early.
describe('delivery', { concurrency: 4 }, () => {
  test('queued mail: arrives with both texts and a stable Message-ID, then its texts are erased', () =>
    withServer({}, async (server, { mail, settings, run, records, time }) => {
      settings.mail_reply_to = 'help@example.com';
      const url = `${baseUrl}/oauth2/reset?token=abc`;
      await mail.queue({
        to: 'ann@example.com',
        template: 'password_reset',
        values: {
          url,
          expiresSeconds: 1800,
          username: 'ann',
          ipAddress: '203.0.113.5',
          device: 'Firefox on Windows',
        },
        language: 'de-AT',
      });
      assert.equal(server.received.length, 0, 'queueing talks to nobody');
      assert.deepEqual(await run(), { ...figures, sent: 1 });
      const [record] = await records();
      const [got] = server.received;
      assert.ok(got && record);
      assert.deepEqual([got.from, got.to], ['robot@example.com', ['ann@example.com']]);
      assert.equal(got.mail.from?.text, '"Latchkey" <robot@example.com>');
      assert.equal(got.mail.replyTo?.text, 'help@example.com');
      assert.equal(got.mail.messageId, `<${record.id}@example.com>`);
      assert.equal(got.mail.date?.getTime(), time.now);
      assert.equal(got.mail.subject, 'Neues Passwort für Latchkey wählen');
      for (const text of [got.mail.text, got.mail.html]) {
        assert.ok(typeof text === 'string');
        for (const part of [url, '30 Minuten', '203.0.113.5', 'Firefox unter Windows'])
          assert.ok(text.includes(part));
      }
      assert.deepEqual(
        [record.value.state, record.value.sealedText, record.value.sealedHtml, record.value.sentAt],
        ['sent', '', '', time.now],
      );
      assert.ok(record.expiresAt !== undefined);
      assert.deepEqual(await run(), figures);
      assert.equal(server.received.length, 1);
    }));

  test('mail order: a hundred and fifty mails go out as queued', () =>
    withServer({}, async (server, { queueCode, run }) => {
      const codes = Array.from({ length: 150 }, (_, n) => String(100_000 + n));
      for (const code of codes) await queueCode(`user${Number(code) % 7}@example.com`, code);
      assert.equal((await run()).sent, 150);
      assert.deepEqual(codesOf(server), codes);
    }));

  test('temporary refusal (4xx): retried after a minute; only that recipient’s later mails wait', () => {
    let isBusy = true;
    return withServer(
      { onRecipient: (to) => (isBusy && to === 'ann@example.com' ? 450 : undefined) },
      async (server, { queueCode, run, time, records }) => {
        await queueCode('ann@example.com', '100001');
        await queueCode('bob@example.com', '200001');
        await queueCode('ann@example.com', '100002');
        assert.deepEqual(await run(), { ...figures, sent: 1, postponed: 1 });
        assert.deepEqual(codesOf(server), ['200001']);
        assert.match((await records())[0]?.value.lastError ?? '', /450/);
        isBusy = false;
        time.now += MINUTE - 1;
        assert.deepEqual(await run(), figures);
        time.now += 1;
        assert.deepEqual(await run(), { ...figures, sent: 2 });
        assert.deepEqual(codesOf(server), ['200001', '100001', '100002']);
        assert.deepEqual(
          (await records()).map(({ value }) => value.lastError),
          [undefined, undefined, undefined],
        );
      },
    );
  });

  test('repeated refusal: retried after 1 minute doubling to an hour, given up after three days', async () => {
    let attempts = 0;
    // Eighty sessions with a real server would take eight seconds; what its answers mean is shown in smtp.test.ts.
    const putsOff: OpenSmtp = async () => ({
      async send() {
        attempts += 1;
        throw new Undelivered('later', 'busy');
      },
      close: () => undefined,
    });
    const given = testMail({ smtpUrl: 'smtp://127.0.0.1:1', transport: putsOff });
    const { queueCode, run, time, records, events } = given;
    await queueCode('ann@example.com');
    const began = time.now;
    const at: number[] = [];
    for (;;) {
      await run();
      const [record] = await records();
      at.push((time.now - began) / MINUTE);
      if (record?.value.state !== 'queued') break;
      time.now = record.value.dueAt - 1;
      assert.deepEqual(await run(), figures, 'not a moment before');
      time.now += 1;
    }
    assert.equal(attempts, at.length);
    assert.deepEqual(at.slice(0, 9), [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    assert.equal(at.at(-1), 72 * 60 + 3);
    const [record] = await records();
    assert.deepEqual([record?.value.state, record?.value.sealedText], ['failed', '']);
    assert.deepEqual(events, ['mail_failed']);
  });

  test('permanent refusal (5xx): that mail alone fails, at once and finally', () =>
    withServer(
      { onMail: ({ mail }) => (mail.text?.includes('666666') ? 554 : undefined) },
      async (server, { queueCode, run, records, time }) => {
        await queueCode('ann@example.com', '100001');
        await queueCode('ann@example.com', '666666');
        await queueCode('bob@example.com', '200001');
        assert.deepEqual(await run(), { ...figures, sent: 2, failed: 1 });
        // The later one to the same person waited for the outcome of this run only.
        await queueCode('ann@example.com', '100002');
        time.now += 1;
        assert.deepEqual(await run(), { ...figures, sent: 1 });
        assert.deepEqual(codesOf(server), ['100001', '200001', '100002']);
        const [, poisoned] = await records();
        assert.deepEqual([poisoned?.value.state, poisoned?.value.sealedText], ['failed', '']);
        assert.match(poisoned?.value.lastError ?? '', /554/);
      },
    ));

  test('SMTP outage of an hour: every mail is sent afterwards, in order, once', async () => {
    const first = await startMailServer();
    const given = testMail({ smtpUrl: first.url() });
    const { mail, queueCode, run, time, records, events } = given;
    await queueCode('user0@example.com', '100000');
    await run();
    await first.close();
    const codes: string[] = [];
    let attempts = 0;
    for (let second = 0; second < 3600; second += 2) {
      time.now += 2000;
      if (second % 60 === 0) {
        const code = String(100_001 + codes.length);
        codes.push(code);
        await queueCode(`user${codes.length % 5}@example.com`, code);
      }
      attempts += (await run()).postponed;
    }
    assert.equal(codes.length, 60);
    assert.ok(attempts >= 12 && attempts <= 30, `${attempts} attempts`);
    assert.ok((await records()).every(({ value }, n) => value.state === (n === 0 ? 'sent' : 'queued')));
    assert.match((await mail.lastFailure())?.problem ?? '', /Connection refused/);
    const back = await startMailServer({ port: first.port });
    let waited = 0;
    while ((await run()).sent === 0) {
      time.now += 2000;
      waited += 2000;
      assert.ok(waited <= 5 * MINUTE, 'asked again within five minutes');
    }
    for (let turn = 0; turn < 30; turn += 1) {
      time.now += 10 * MINUTE;
      await run();
    }
    await back.close();
    assert.deepEqual(codesOf(back), codes);
    assert.equal(await mail.lastFailure(), undefined);
    assert.deepEqual(events, ['mail_server_away', 'mail_server_back']);
    assert.ok((await records()).every(({ value }) => value.state === 'sent'));
    assert.deepEqual(
      (await records()).map(({ value }) => value.attempts),
      [1, attempts + 1, ...codes.slice(1).map(() => 1)],
      'as often as it was tried',
    );
  });

  test('SMTP outage of four days: mails older than three are given up, the rest arrives', async () => {
    const first = await startMailServer();
    await first.close();
    const { queueCode, run, time, records } = testMail({ smtpUrl: first.url() });
    await queueCode('ann@example.com', '100001');
    await queueCode('bob@example.com', '100002');
    time.now += 2 * 24 * HOUR;
    await queueCode('ann@example.com', '100003');
    await run();
    time.now += 2 * 24 * HOUR;
    assert.deepEqual(await run(), { ...figures, failed: 2 });
    const back = await startMailServer({ port: first.port });
    time.now += HOUR;
    assert.deepEqual(await run(), { ...figures, sent: 1 });
    await back.close();
    assert.deepEqual(codesOf(back), ['100003']);
    assert.deepEqual(
      (await records()).map(({ value }) => value.state),
      ['failed', 'failed', 'sent'],
    );
  });

  test('wrong password or refused sender: no mail is lost; corrected settings count at once', () =>
    withServer(
      { password: 'right', onSender: (from) => (from === 'robot@example.com' ? undefined : 553) },
      async (server, { settings, queueCode, run }) => {
        settings.smtp_url = server.url({ credentials: 'robot:wrong' });
        await queueCode('ann@example.com', '100001');
        assert.deepEqual(await run(), { ...figures, postponed: 1 });
        assert.deepEqual(await run(), figures, 'the server is left alone for a while');
        settings.smtp_url = server.url({ credentials: 'robot:right' });
        settings.mail_from = 'somebody@example.com';
        assert.deepEqual(await run(), { ...figures, postponed: 1 });
        settings.mail_from = 'robot@example.com';
        assert.deepEqual(await run(), { ...figures, sent: 1 });
        assert.deepEqual(codesOf(server), ['100001']);
      },
    ));

  test('server that hangs up after every second mail: all arrive in one run', () => {
    let inSession = 0;
    return withServer(
      {
        onSender: () => {
          inSession += 1;
          if (inSession <= 2) return undefined;
          inSession = 0;
          return 421;
        },
      },
      async (server, { queueCode, run, events }) => {
        const codes = Array.from({ length: 7 }, (_, n) => String(100_000 + n));
        for (const code of codes) await queueCode('ann@example.com', code);
        assert.equal((await run()).sent, 7);
        assert.deepEqual(codesOf(server), codes);
        assert.deepEqual(events, []);
      },
    );
  });

  test('server that hangs on one mail: no other mail waits', () => {
    const { promise: silence, resolve: endSilence } = Promise.withResolvers<undefined>();
    return withServer(
      {
        onMail: ({ mail }) => (mail.text?.includes('666666') ? silence : undefined),
      },
      async (server, { queueCode, another }) => {
        await queueCode('ann@example.com', '666666');
        await queueCode('bob@example.com', '200001');
        // Its patience is longer than any of ours for a busy machine.
        const sender = another(createSmtp({ name: 'id.example.com', waitMs: 5000, sendMs: 5000 }));
        const figure = await sender.sendDue(new AbortController().signal);
        assert.deepEqual(figure, { ...figures, sent: 1, postponed: 1 });
        assert.deepEqual(codesOf(server), ['200001']);
        endSilence(undefined);
      },
    );
  });

  test('server that hangs: queueing does not wait', () => {
    const { promise: silence, resolve: endSilence } = Promise.withResolvers<undefined>();
    return withServer({ onMail: () => silence }, async (_server, given) => {
      await given.queueCode('ann@example.com');
      const running = given.run();
      // Would last for ever, since nobody ends the silence.
      for (let n = 0; n < 20; n += 1) await given.queueCode('bob@example.com');
      endSilence(undefined);
      await running;
    });
  });

  test('stopped run: ends after the current mail', () =>
    withServer({}, async (server, { mail, queueCode }) => {
      const stopping = new AbortController();
      for (let n = 0; n < 5; n += 1) await queueCode('ann@example.com', `10000${n}`);
      const running = mail.sendDue(stopping.signal);
      while (server.received.length < 2) await new Promise(setImmediate);
      stopping.abort();
      const { sent } = await running;
      assert.ok(sent >= 2 && sent < 5, `${sent}`);
      assert.equal(server.received.length, sent);
    }));

  test('settings without a server: queued mails are kept, readable but for proofs of the mailbox', async () => {
    const { mail, settings, queueCode, run, records } = testMail({ smtpUrl: 'smtp://127.0.0.1:1' });
    await queueCode('ann@example.com', '123123');
    const values = { url: `${baseUrl}/oauth2/go?token=abc`, expiresSeconds: 600 };
    const queue = (template: 'email_verification' | 'invitation') =>
      mail.queue({ to: 'ann@example.com', template, values });
    await queue('email_verification');
    await queue('invitation');
    settings.smtp_url = '';
    assert.deepEqual(await run(), { ...figures, kept: 3 });
    // Made where there is none, an invitation has a link to hand over.
    await queue('email_verification');
    await queue('invitation');
    const { items } = await mail.list({ sort: 'id', order: 'asc', limit: 9 });
    assert.deepEqual(
      items.map(({ state, text, html }) => [state, text !== undefined, html !== undefined]),
      [true, false, false, false, true].map((isShown) => ['kept', isShown, isShown]),
    );
    assert.match(items[0]?.text ?? '', /123123/);
    assert.deepEqual(
      (await records()).map(({ value }) => value.sealedText === ''),
      [false, true, true, true, false],
    );
  });

  /** A store that dies when a mail is to be marked as sent. */
  const dyingBeforeAck =
    (state: { isDying: boolean }) =>
    (collection: Collection<MailRecord>): Collection<MailRecord> => ({
      ...collection,
      replace: (id, version, value, options) => {
        if (state.isDying && value.state === 'sent') throw new Error('killed');
        return collection.replace(id, version, value, options);
      },
    });

  test('crash between sending and recording: one duplicate at most, with the same Message-ID', async () => {
    const state = { isDying: true };
    const server = await startMailServer();
    const given = testMail({
      smtpUrl: server.url(),
      collection: (clock) => dyingBeforeAck(state)(createMemoryStore({ clock }).collection(mails)),
    });
    await given.queueCode('ann@example.com', '100001');
    await given.queueCode('ann@example.com', '100002');
    await assert.rejects(given.run(), /killed/);
    state.isDying = false;
    const next = given.another();
    const signal = new AbortController().signal;
    assert.deepEqual(await next.sendDue(signal), figures, 'not before the back-off is over');
    given.time.now += MINUTE;
    assert.deepEqual(await next.sendDue(signal), { ...figures, sent: 2 });
    given.time.now += HOUR;
    assert.deepEqual(await next.sendDue(signal), figures);
    await server.close();
    assert.deepEqual(codesOf(server), ['100001', '100001', '100002']);
    assert.equal(server.received[0]?.mail.messageId, server.received[1]?.mail.messageId);
  });

  test('many runs on one store without a lease: each mail once, in order per recipient', () =>
    withServer({}, async (server, given) => {
      for (let n = 0; n < 60; n += 1) await given.queueCode(`user${n % 6}@example.com`, String(100_000 + n));
      const senders = [given.mail, given.another(), given.another(), given.another()];
      const signal = new AbortController().signal;
      for (let turn = 0; turn < 40 && server.received.length < 60; turn += 1) {
        await Promise.all(senders.map((sender) => sender.sendDue(signal)));
      }
      assert.deepEqual(
        codesOf(server).toSorted(),
        Array.from({ length: 60 }, (_, n) => String(100_000 + n)),
      );
      for (let user = 0; user < 6; user += 1) {
        const own = codesOf(server).filter((code) => (Number(code) - 100_000) % 6 === user);
        assert.deepEqual(own, own.toSorted(), `user${user}`);
      }
    }));

  test('SECRET_KEY missing for a mail: it waits, others go', () =>
    withServer({}, async (server, { collection, queueCode, run, records, time }) => {
      await queueCode('ann@example.com', '100001');
      await queueCode('bob@example.com', '200001');
      const [first] = await records();
      assert.ok(first);
      await collection.put(first.id, { ...first.value, sealedText: 'v1.other.AAAAAAAAAAAAAAAA.AAAA' });
      assert.deepEqual(await run(), { ...figures, sent: 1, postponed: 1 });
      await collection.put(first.id, { ...first.value });
      time.now += MINUTE;
      assert.equal((await run()).sent, 1);
      assert.deepEqual(codesOf(server), ['200001', '100001']);
    }));

  test('test mail: sent at once, or a coded reason, within its time limit', async () => {
    await withServer({ password: 'right' }, async (server, { mail, settings, records }) => {
      assert.deepEqual(await mail.sendTest('ann@example.com', 'fr').then(({ state }) => state), 'failed');
      settings.smtp_url = server.url({ credentials: 'robot:right' });
      assert.deepEqual(await mail.sendTest('ann@example.com', 'fr'), { state: 'sent' });
      assert.equal(server.received[0]?.mail.subject, 'E-mail de test de Latchkey');
      assert.deepEqual(await records(), [], 'nothing stays behind');
      settings.smtp_url = '';
      const kept = await mail.sendTest('ann@example.com');
      const { items } = await mail.list({ sort: 'id', order: 'asc', limit: 9 });
      assert.deepEqual([kept], [{ state: 'kept', id: items[0]?.id }]);
    });
  });

  test('test mail: waits for a bounded time of its own', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const transport: OpenSmtp = (server, signal) => {
      signals.push(signal);
      return impatient(server, signal);
    };
    const { mail } = testMail({ smtpUrl: 'smtp://127.0.0.1:1', transport });
    const outcome = await mail.sendTest('ann@example.com');
    assert.ok(outcome.state === 'failed' && /no server listens/.test(outcome.problem));
    assert.ok(signals[0] !== undefined);
  });
});
