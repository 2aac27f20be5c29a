// Opened by another name than BASE_URL (the address of a NAS, 127.0.0.1), a page says where to open it: its forms, which are refused
// there, were there to be filled in for ever (decision 0011). What the browser shows decides: proxies may rewrite Host.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { after, test } from 'node:test';
import { launch } from '../pages/browser.ts';
import { startApp } from '../support/app.ts';
import { withWindow } from './window.ts';

const browser = await launch();
after(() => browser.close());

/** nginx with its defaults: Host is that of the address behind it. */
async function startProxy(portOf: () => number) {
  const server = createServer((incoming, outgoing) => {
    const { method, url, headers } = incoming;
    const host = `127.0.0.1:${portOf()}`;
    const behind = request(
      { host: '127.0.0.1', port: portOf(), method, path: url, headers: { ...headers, host } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(outgoing);
      },
    );
    behind.on('error', () => outgoing.destroy());
    incoming.pipe(behind);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://localhost:${port}`, close: () => server.close().closeAllConnections() };
}

const linesOf = (app: { readonly logged: readonly string[] }): string[] =>
  app.logged.filter((line) => line.includes('"opened_elsewhere"'));

test('a page at another address than BASE_URL: the form is hidden, the address named and logged', async (t) => {
  const app = await startApp();
  t.after(() => app.stop());
  const elsewhere = app.url.replace('127.0.0.1', 'localhost');
  // Not a window of the other tests: those complain about a second host.
  const page = await browser.newPage();
  t.after(() => page.close());
  // The very first page, and one after it.
  for (const path of ['/onboard', '/oauth2/login']) {
    await page.goto(`${elsewhere}${path}`);
    const link = page.locator('#elsewhere a');
    await link.waitFor();
    equal(await link.textContent(), app.url);
    equal(await link.getAttribute('href'), page.url().replace(elsewhere, app.url));
    equal(await page.locator('form:visible').count(), 0);
    await link.click();
    await page.locator('form:visible').first().waitFor();
    ok(page.url().startsWith(app.url), page.url());
    equal(await page.locator('#elsewhere:visible').count(), 0);
  }
  const lines = linesOf(app);
  equal(lines.length, 1, 'once');
  match(lines[0] ?? '', new RegExp(elsewhere.replaceAll('.', '\\.')));
});

test('behind a proxy that rewrites Host: nothing is hidden, nothing logged', async (t) => {
  const ports: number[] = [];
  const proxy = await startProxy(() => ports[0] ?? 0);
  t.after(proxy.close);
  const app = await startApp({ env: { BASE_URL: proxy.url } });
  t.after(() => app.stop());
  ports.push(Number(new URL(app.url).port));
  await withWindow(browser, async ({ page }) => {
    await page.goto(`${proxy.url}/onboard`);
    await page.locator('form:visible').first().waitFor();
    equal(await page.locator('#elsewhere:visible').count(), 0);
  });
  deepEqual(linesOf(app), []);
});
