// Attack: a request that misstates its origin address (authentik CVE-2024-47070 was a password bypass
// by `X-Forwarded-For: a`). Session list and log show the true one.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Agent } from '../support/agent.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { honestRequest, isAccepted, openSignIn } from './sign-in-form.ts';

const SOCKET = '127.0.0.1';

/** What the header says, and who it is with one trusted proxy in front. */
const claims: readonly (readonly [header: string, behindOneProxy: string])[] = [
  ['6.6.6.6', '6.6.6.6'],
  ['6.6.6.6, 192.0.2.7', '192.0.2.7'],
  ['6.6.6.6,192.0.2.7', '192.0.2.7'],
  ['6.6.6.6, 192.0.2.7:4711', '192.0.2.7'],
  ['6.6.6.6, [2001:db8::7]:4711', '2001:db8::7'],
  ['6.6.6.6, 2001:DB8:0:0:0:0:0:7', '2001:db8::7'],
  ['6.6.6.6, ::ffff:192.0.2.7', '192.0.2.7'],
  ['6.6.6.6, fe80::1%eth0', SOCKET],
  ['a', SOCKET],
  ['unknown', SOCKET],
  ['', SOCKET],
  [',', SOCKET],
  ['6.6.6.6,', SOCKET],
  ['6.6.6.6, 999.1.1.1', SOCKET],
  ['6.6.6.6, 0x7f.1', SOCKET],
  ['6.6.6.6, 192.0.2.7 evil', SOCKET],
  ['6.6.6.6, <script>alert(1)</script>', SOCKET],
  ['6.6.6.6, "192.0.2.7"', SOCKET],
  [`${'6.6.6.6, '.repeat(1100)}192.0.2.7`, '192.0.2.7'],
  ['9'.repeat(10_000), SOCKET],
];

async function signInFrom(app: TestApp, clientId: string, headers: Record<string, string>): Promise<string> {
  const form = await openSignIn(app, clientId);
  const fields = { ...form.hidden, username: 'alice', password: 'correct horse battery staple' };
  const accepted = await form.browser.post('/oauth2/login', fields, { headers });
  assert.ok(isAccepted(accepted), `${accepted.status}`);
  const end = await form.browser.get(accepted.location ?? '', { headers });
  assert.match(end.location ?? '', /[?&]code=/);
  const { body } = await app.admin('GET', '/sessions?is_active=true');
  const addresses = (body.data.items ?? []).map(({ ip_address: address }) => String(address));
  for (const { id } of body.data.items ?? []) await app.admin('DELETE', `/sessions/${id}`);
  assert.equal(new Set(addresses).size, 1, addresses.join());
  return addresses[0] ?? '';
}

const loggedAddresses = (app: TestApp): Set<string> =>
  new Set(
    app.logged.flatMap((line) => {
      const { ip, path }: { ip?: string; path?: string } = JSON.parse(line);
      return ip !== undefined && path !== undefined && !path.startsWith('/admin') ? [ip] : [];
    }),
  );

async function withApp(env: Record<string, string>, act: (app: TestApp, clientId: string) => Promise<void>) {
  const app = await startApp({ env });
  try {
    const client = await app.register();
    await app.createUser('alice');
    await act(app, client.id);
  } finally {
    await app.stop();
  }
}

suite('attack: spoofed address in the session list and the log', () => {
  test('without a trusted proxy no header counts', async () => {
    await withApp({}, async (app, clientId) => {
      for (const [header] of claims) {
        const headers = { 'x-forwarded-for': header, 'x-real-ip': '6.6.6.6', forwarded: 'for=6.6.6.6' };
        assert.equal(await signInFrom(app, clientId, headers), SOCKET, header.slice(0, 80));
      }
      assert.deepEqual([...loggedAddresses(app)], [SOCKET]);
    });
  });

  test('one trusted proxy: the address it saw, or the proxy itself', async () => {
    await withApp({ TRUST_PROXY: '1' }, async (app, clientId) => {
      for (const [header, expected] of claims) {
        const headers = { 'x-forwarded-for': header, 'x-real-ip': '6.6.6.6', 'client-ip': '6.6.6.6' };
        assert.equal(await signInFrom(app, clientId, headers), expected, header.slice(0, 80));
      }
    });
  });

  test('two trusted proxies: the last entry but one', async () => {
    await withApp({ TRUST_PROXY: '2' }, async (app, clientId) => {
      const two: readonly (readonly [string, string])[] = [
        ['6.6.6.6, 192.0.2.7, 198.51.100.1', '192.0.2.7'],
        ['192.0.2.7, 198.51.100.1', '192.0.2.7'],
        ['6.6.6.6, a, 198.51.100.1', SOCKET],
        // Fewer entries than proxies: someone came past one of them.
        ['198.51.100.1', SOCKET],
      ];
      for (const [header, expected] of two) {
        assert.equal(await signInFrom(app, clientId, { 'x-forwarded-for': header }), expected, header);
      }
    });
  });

  test('headers with an underscore are other headers', async () => {
    await withApp({ TRUST_PROXY: '1' }, async (app, clientId) => {
      assert.equal(await signInFrom(app, clientId, { x_forwarded_for: '6.6.6.6' }), SOCKET);
    });
  });
});

test('attack: a malformed address makes the server hash a password', async (t) => {
  const app = await startApp({ env: { TRUST_PROXY: '1' } });
  t.after(() => app.stop());
  const client = await app.register();
  await app.createUser('alice');
  await app.admin('PATCH', '/settings', { lockout_threshold: 100 });
  for (const [header] of claims) {
    const headers = { 'x-forwarded-for': header };
    const browser = new Agent(app);
    const page = await browser.get(`/oauth2/authorize?${new URLSearchParams(honestRequest(client.id))}`, {
      headers,
    });
    assert.equal(page.status, 200);
    assert.match(page.body, /name="password"/);
    const form = await openSignIn(app, client.id);
    const fields = { ...form.hidden, username: 'alice', password: '' };
    assert.equal(isAccepted(await form.browser.post('/oauth2/login', fields, { headers })), false);
  }
});
