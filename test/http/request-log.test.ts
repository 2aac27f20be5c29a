// The log line per request: what it contains, and what it must not.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestIdOf } from '../../src/http/request-log.ts';
import { type Answer, type SendOptions, type Site, serve } from './serve.ts';

const handle: Parameters<typeof serve>[0] = async (ctx) => {
  if (ctx.path === '/slow') await sleep(150);
  if (ctx.path === '/slower') await sleep(3_000);
  ctx.body = requestIdOf(ctx);
};

async function withSite(act: (site: Site) => Promise<void>): Promise<void> {
  const site = await serve(handle);
  try {
    await act(site);
  } finally {
    await site.close();
  }
}

async function logged(path: string, options?: SendOptions): Promise<[Answer, string[]]> {
  let answer: Answer | undefined;
  let lines: string[] = [];
  await withSite(async (site) => {
    answer = await site.send(path, options);
    lines = [...site.lines];
  });
  assert.ok(answer);
  return [answer, lines];
}

test('request log: one line with address, request and outcome', async () => {
  const [answer, lines] = await logged('/oauth2/login?code=canary', {
    method: 'POST',
    headers: { 'User-Agent': 'Test/1.0' },
    body: 'password=canary',
  });
  assert.equal(lines.length, 1);
  const { time, pid, ms, request_id, ...rest } = JSON.parse(lines[0] ?? '{}') as Record<string, unknown>;
  assert.deepEqual(rest, {
    level: 'info',
    msg: 'request',
    method: 'POST',
    path: '/oauth2/login',
    status: 200,
    ip: '127.0.0.1',
    user_agent: 'Test/1.0',
  });
  assert.ok(typeof ms === 'number' && ms >= 0 && ms < 5_000);
  assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/);
  assert.equal(pid, process.pid);
  assert.equal(request_id, answer.headers['x-request-id']);
  assert.equal(request_id, answer.body);
});

test('attack: a request id from outside is ignored', async () => {
  const [answer, lines] = await logged('/', {
    headers: { 'X-Request-Id': 'forged', 'X-Correlation-Id': 'forged' },
  });
  assert.match(String(answer.headers['x-request-id']), /^[0-9a-f-]{36}$/);
  assert.ok(!lines.join().includes('forged'));
});

test('attack: secrets in query, cookie, authorization and body are not logged', async () => {
  const [, lines] = await logged('/a?token=canary&code=canary#canary', {
    method: 'POST',
    headers: {
      Authorization: 'Bearer canary',
      Cookie: 'session=canary',
      Referer: 'https://a.example/?code=canary',
      'User-Agent': 'agent Bearer canary-canary',
    },
    body: 'canary',
  });
  assert.equal(lines.length, 1);
  assert.ok(!lines.join().includes('canary'), lines.join());
});

describe('attack: log injection', () => {
  test('control characters and quotes stay inside one record', async () => {
    const agent = 'x"}\t{"level":"fatal"} \u009b31m \u0085 end';
    const [, lines] = await logged('/a%0d%0a%1b[31m"b', { headers: { 'User-Agent': agent } });
    assert.equal(lines.length, 1);
    const line = lines[0] ?? '';
    assert.equal(line.indexOf('\n'), line.length - 1);
    assert.doesNotMatch(line.slice(0, -1), /[^\x20-\x7e\u00a0-\uffff]/);
    const { user_agent, level } = JSON.parse(line) as Record<string, unknown>;
    assert.equal(user_agent, agent);
    assert.equal(level, 'info');
  });

  test('a long path or User-Agent is truncated', async () => {
    const [, lines] = await logged(`/${'p'.repeat(6_000)}`, { headers: { 'User-Agent': 'u'.repeat(6_000) } });
    assert.ok((lines[0] ?? '').length < 1_200);
  });
});

test('request log: a caller that disconnects is logged as such', async () => {
  await withSite(async (site) => {
    const socket = connect(site.port, '127.0.0.1');
    socket.write('GET /slower HTTP/1.1\r\nHost: a\r\n\r\n');
    await sleep(40);
    socket.destroy();
    for (let turn = 0; turn < 1_000 && !site.lines.join('').includes('is_aborted'); turn += 1)
      await sleep(20);
    assert.match(site.lines.join(''), /"is_aborted":true/);
  });
});
