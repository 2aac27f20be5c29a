// Attack: writing lines into the log, or into the terminal that shows it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent } from '../support/agent.ts';
import { PASSWORD, startApp } from '../support/app.ts';
import { exchange, plainRequest, send } from './raw-http.ts';
import { openSignIn } from './sign-in-form.ts';

const FAKE = '{"level":"info","event":"signin","outcome":"success","msg":"forged"}';
const injections = [
  `a\r\n${FAKE}`,
  `a\n${FAKE}\n`,
  `a","event":"forged","x":"`,
  `a\\","event":"forged`,
  '\u001b[2J\u001b[31mred\u001b]0;title\u0007',
  '\u009b31m',
  `a\u2028${FAKE}`,
  `a\u2029${FAKE}`,
  `a\u0085${FAKE}`,
  'a\u0000b',
  '%0d%0aforged',
];

// Tab and line end are how a line ends; nothing else of the kind may be in it.
const CONTROL = /[^\x20-\x7e\u00a0-\u2027\u202a-\uffff]/;

test('attack: log injection; every record stays one line of JSON and describes its event', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const client = await app.register();
  const form = await openSignIn(app, client.id);

  for (const text of injections) {
    const inHeader = text.replace(/[^\x20-\x7e\x80-\xff]/g, '');
    await form.attempt(text, 'not the password');
    await form.attempt('alice', text);
    await send(app.url, {
      path: `/${encodeURIComponent(text)}?q=${encodeURIComponent(text)}`,
      headers: [
        ['User-Agent', inHeader],
        ['Referer', inHeader],
        ['X-Forwarded-For', inHeader],
        ['X-Request-Id', inHeader],
        ['Origin', inHeader],
      ],
    });
    await app.admin('POST', '/users', { username: text, password: PASSWORD });
    await app.admin('POST', '/clients', { client_name: text, redirect_uris: [text] });
    await app.admin('PATCH', '/settings', { product_name: text, [text]: 1 });
    await new Agent(app).authorize({ client_id: text, redirect_uri: text, state: text, login_hint: text });
    // Refusals of an application, which are also shown to administrators (refusals-of-an-application.test.ts).
    const query = new URLSearchParams({
      client_id: client.id,
      post_logout_redirect_uri: `https://a:b@c/${text}`,
    });
    await send(app.url, { path: `/oauth2/logout?${query}`, headers: [] });
    await new Agent(app).authorize({
      client_id: client.id,
      redirect_uri: `https://a:b@c/${text}`,
      scope: text,
    });
    await exchange(app.url, plainRequest(app.url, `GET /${text.replace(/\s/g, '')} HTTP/1.1`, []));
  }

  const requests = app.logged.map((line) => {
    assert.equal(line.indexOf('\n'), line.length - 1, `more than one line: ${JSON.stringify(line)}`);
    assert.doesNotMatch(line.slice(0, -1), CONTROL, JSON.stringify(line));
    const record: Record<string, unknown> = JSON.parse(line);
    assert.notEqual(record.event, 'forged');
    assert.notEqual(record.msg, 'forged');
    return record.request_id;
  });
  // An id from outside would let anyone write into the trail of another user.
  for (const id of requests) if (id !== undefined) assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.equal(app.logged.filter((line) => line.includes('"outcome":"success"')).length, 0);
});
