// The probes: cheap, public, unlogged, and correct about whether this process can serve.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthOptions, healthRoutes } from '../../src/http/health.ts';
import { StoreUnavailable } from '../../src/store/port.ts';
import { type Answer, type SendOptions, type Site, serve } from './serve.ts';

async function withHealth(
  options: HealthOptions,
  act: (get: (path: string, options?: SendOptions) => Promise<Answer>, site: Site) => Promise<void>,
): Promise<void> {
  const site = await serve(healthRoutes(options));
  try {
    await act(site.send, site);
  } finally {
    await site.close();
  }
}

const isUp = (): Promise<void> => Promise.resolve();

test('readiness: a process that can serve says so, uncached and unlogged', async () => {
  await withHealth({ ping: isUp }, async (get, site) => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, headers, body } = await get(path);
      assert.deepEqual([status, body], [200, '{"status":"ok"}']);
      assert.equal(headers['cache-control'], 'no-store');
      assert.match(headers['content-type'] ?? '', /^application\/json/);
      assert.equal((await get(path, { method: 'HEAD' })).status, 200);
    }
    assert.deepEqual(site.lines, []);
  });
});

test('readiness: a store outage makes it unready but alive, and reveals no more', async () => {
  const ping = (): Promise<void> => Promise.reject(new StoreUnavailable('mongodb://user:secret@host'));
  await withHealth({ ping }, async (get) => {
    assert.equal((await get('/healthz')).status, 200);
    const { status, body } = await get('/readyz');
    assert.deepEqual([status, body], [503, '{"status":"unavailable","down":["store"]}']);
  });
});

test('readiness: of two backends the unavailable one is named', async () => {
  const ping = (): Promise<void> =>
    Promise.reject(new StoreUnavailable('redis://:secret@host', { down: ['redis'] }));
  await withHealth({ ping }, async (get) => {
    assert.equal((await get('/readyz')).body, '{"status":"unavailable","down":["redis"]}');
  });
});

test('readiness: recovers by itself', async () => {
  let isDown = true;
  const ping = (): Promise<void> =>
    isDown ? Promise.reject(new StoreUnavailable('away')) : Promise.resolve();
  await withHealth({ ping }, async (get) => {
    assert.equal((await get('/readyz')).status, 503);
    isDown = false;
    assert.equal((await get('/readyz')).status, 200);
  });
});

test('readiness: a hanging store counts as down after the timeout', async () => {
  await withHealth({ ping: () => new Promise(() => undefined), timeoutMs: 30 }, async (get) => {
    assert.equal((await get('/readyz')).status, 503);
    assert.equal((await get('/healthz')).status, 200);
  });
});

test('readiness: concurrent probes ask the store once', async () => {
  let pings = 0;
  const ping = async (): Promise<void> => {
    pings += 1;
    await new Promise((resolve) => setTimeout(resolve, 800));
  };
  await withHealth({ ping }, async (get) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get('/readyz')));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(pings, 1);
  });
});

test('draining: unready at once, and alive', async () => {
  let isDraining = false;
  await withHealth({ ping: isUp, isDraining: () => isDraining }, async (get) => {
    isDraining = true;
    const { status, body } = await get('/readyz');
    assert.deepEqual([status, body], [503, '{"status":"unavailable","down":["process"]}']);
    assert.equal((await get('/healthz')).status, 200);
  });
});

test('probes: GET and HEAD only, at these two paths only', async () => {
  await withHealth({ ping: isUp }, async (get) => {
    const refused = await get('/healthz', { method: 'POST' });
    assert.deepEqual([refused.status, refused.headers.allow], [405, 'GET, HEAD']);
    assert.equal((await get('/healthz/')).status, 404);
    assert.equal((await get('/readyz/x')).status, 404);
  });
});
