// The security headers of every response.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/errors.ts';
import { type Answer, sendRaw, serve } from './serve.ts';

const handle: Parameters<typeof serve>[0] = (ctx) => {
  if (ctx.path === '/refused') throw new AppError('request.csrf');
  if (ctx.path === '/bug') throw new Error('bug');
  if (ctx.path === '/cors') ctx.set('Access-Control-Allow-Origin', 'https://app.example');
  if (ctx.path === '/page') ctx.set('Content-Security-Policy', "default-src 'self'");
  if (ctx.path === '/empty') ctx.status = 204;
  else if (ctx.path !== '/missing') ctx.body = 'ok';
};

function assertHardened({ headers }: Pick<Answer, 'headers'>, isSecure: boolean): void {
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['x-frame-options'], 'DENY');
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
  assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
  assert.equal(headers['cache-control'], 'no-store');
  const policy = headers['content-security-policy'] ?? '';
  for (const directive of ['default-src', 'frame-ancestors', 'base-uri', 'form-action', 'object-src']) {
    assert.ok(String(policy).includes(`${directive} 'none'`), directive);
  }
  const hsts = headers['strict-transport-security'];
  if (isSecure) assert.ok(Number(/^max-age=(\d+)/.exec(hsts ?? '')?.[1]) >= 31_536_000);
  else assert.equal(hsts, undefined);
}

for (const baseUrl of ['https://id.example.com', 'http://localhost:3000']) {
  test(`security headers: every response of ${baseUrl}, errors included`, async () => {
    const site = await serve(handle, { baseUrl });
    const isSecure = baseUrl.startsWith('https:');
    try {
      for (const path of ['/', '/empty', '/missing', '/refused', '/bug', '/admin/api/x', '/oauth2/token']) {
        for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
          assertHardened(await site.send(path, { method }), isSecure);
        }
      }
      assertHardened(await site.send('/', { method: 'TRACE' }), isSecure);
      assertHardened(await site.send(`/?${'q'.repeat(9_000)}`), isSecure);
      const unparsed = await sendRaw(site.port, 'not http\r\n\r\n');
      const lines = unparsed.split('\r\n').slice(1);
      const headers = Object.fromEntries(
        lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.replace(/^[^:]*: ?/, '')]),
      );
      assertHardened({ headers }, isSecure);
    } finally {
      await site.close();
    }
  });
}

test('security headers: a page may set its own policy; public resources get a fitting one', async () => {
  const site = await serve(handle);
  try {
    assert.equal((await site.send('/page')).headers['content-security-policy'], "default-src 'self'");
    const { headers } = await site.send('/cors');
    assert.equal(headers['access-control-allow-origin'], 'https://app.example');
    assert.equal(headers['cross-origin-resource-policy'], undefined);
  } finally {
    await site.close();
  }
});
