// A page of another site and one of a sibling in a real Chromium do all it can with hidden requests; then the reader
// signs in with password and second step, by a passkey, and by a reset, as if nothing had been.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type MailWorld, startMailWorld } from './mail-world.ts';
import { codeOf, enrol, spaced, type } from './phone-steps.ts';
import { heading, loaded } from './steps.ts';
import { plugIn, withoutAutofill } from './virtual-authenticator.ts';

const ROUNDS = process.env.LONG === '1' ? 8 : 3;
const LIMITS = {
  limit_mfa_ip: 6,
  limit_register_ip: 6,
  limit_mail_ip: 6,
  limit_public_requests_ip: 6,
  limit_open_signins_ip: 12,
  limit_authorize_ip: 60,
  // So that each answer says why.
  limit_refusals_ip: 10_000,
};

/** Everything that a page can have a browser send without its reader, many times each. */
const attack = (
  target: string,
  authorize: string,
): string => `<!doctype html><title>attacking</title><body><script>
const target = ${JSON.stringify(target)};
const posts = ['mfa', 'recover', 'reset-password', 'signup', 'signup/verify', 'enrol', 'forgot-password', 'magic-link',
  'verify-email', 'mfa/email', 'passkey/login/begin', 'passkey/login/finish', 'language', 'login', 'device', 'token', 'par'];
const gets = [${JSON.stringify(authorize)}, target + '/oauth2/device', target + '/oauth2/login', target + '/account', target + '/admin'];
const settled = [];
const wait = (one) => settled.push(new Promise((resolve) => { one.onload = one.onerror = resolve; setTimeout(resolve, 8000); }));
const add = (name, more) => { const one = Object.assign(document.createElement(name), more); one.hidden = true; document.body.append(one); return one; };
for (let round = 0; round < ${ROUNDS}; round += 1) {
  for (const path of posts) {
    settled.push(fetch(target + '/oauth2/' + path, { method: 'POST', mode: 'no-cors', credentials: 'include',
      body: new URLSearchParams({ code: '123456', token: 'x', username: 'grace', response: '{}' }) }).catch(() => {}));
    settled.push(fetch(target + '/oauth2/' + path, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }).catch(() => {}));
  }
  for (const url of gets) {
    wait(add('img', { src: url + (url.includes('?') ? '&' : '?') + 'n=' + round }));
    wait(add('iframe', { src: url }));
    settled.push(fetch(url, { mode: 'no-cors', credentials: 'include' }).catch(() => {}));
    const socket = new WebSocket(url.replace('http', 'ws'));
    settled.push(new Promise((resolve) => { socket.onerror = resolve; }));
    const urls = [url + (url.includes('?') ? '&' : '?') + 'early=' + round];
    const rules = Object.assign(document.createElement('script'), { type: 'speculationrules',
      textContent: JSON.stringify({ prefetch: [{ source: 'list', urls }], prerender: [{ source: 'list', urls: [urls[0] + 'er'] }] }) });
    document.head.append(rules);
  }
  const frame = add('iframe', { name: 'frame' + round });
  const form = add('form', { method: 'post', target: 'frame' + round, action: target + '/oauth2/' + posts[round % posts.length] });
  add('input', { name: 'code', value: '1' });
  form.append(document.createElement('input'));
  form.submit();
  wait(frame);
}
// What is fetched in advance tells nobody when it ends.
Promise.all(settled).then(() => new Promise((resolve) => setTimeout(resolve, 3000))).then(() => { document.title = 'done'; });
</script>`;

let site: Server;
let page = '';
before(async () => {
  site = createServer((_request, response) => response.setHeader('content-type', 'text/html').end(page));
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
});
after(() => site.close());
const portOf = (): number => (site.address() as AddressInfo).port;

async function visit(browser: Browser, url: string, target: string, authorize: string): Promise<number[]> {
  page = attack(target, authorize);
  const context = await browser.newContext();
  const statuses: number[] = [];
  context.on('response', (response) => {
    if (response.url().startsWith(target)) statuses.push(response.status());
  });
  const window = await context.newPage();
  await window.goto(url);
  await window.waitForFunction('document.title === "done"', undefined, { timeout: 240_000 });
  await context.close();
  return statuses;
}

const counted = (statuses: readonly number[]): string[] => [...new Set(statuses)].toSorted().map(String);

test('a page of another site and one of a sibling: the reader signs in by every way at once', async () => {
  const world: MailWorld = await startMailWorld({
    mfa_mode: 'required',
    allow_magic_link: true,
    allow_self_signup: true,
  });
  try {
    const { server, sample, clientId } = world;
    const grace = await world.createPerson('grace');
    let uri = new URL('about:blank');
    await world.inWindow(async (window) => {
      await world.signIn(window, grace);
      ({ uri } = await enrol(window));
      await world.expectHello(window, grace);
    });
    await server.admin('PATCH', '/settings', LIMITS);
    const authorize = `${server.issuer}/authorize?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: `${sample.origin}/callback`,
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    })}`;
    for (const host of ['127.0.0.1', 'localhost']) {
      const statuses = await visit(world.browser, `http://${host}:${portOf()}/`, server.origin, authorize);
      // Of what Cross-Origin-Resource-Policy keeps from the page Chromium reports no answer: these are the frames.
      ok(statuses.length >= 6 * ROUNDS, `${statuses.length} answers`);
      // Of the token endpoint alone come others than refusals.
      deepEqual(
        counted(statuses).filter((one) => !['400', '401', '403'].includes(one)),
        [],
        host,
      );
    }

    await world.inWindow(async (window) => {
      await world.signIn(window, grace);
      equal(await heading(window), 'Enter the code from your app');
      await type(window, spaced(codeOf(uri, 1)));
      await world.expectHello(window, grace);
    });
    await world.inWindow(async (window) => {
      await world.openSignIn(window);
      await loaded(window, () => window.getByRole('button', { name: 'Forgot password?' }).click());
      await window.getByLabel('Username or e-mail').fill(grace.email);
      await loaded(window, () => window.getByRole('button', { name: 'Send reset link' }).click());
      await window.goto(await world.mailedLink(grace.email));
      await window.getByLabel('New password').fill('eleven quiet herons at dusk');
      await window.getByLabel('Confirm password').fill('eleven quiet herons at dusk');
      await loaded(window, () => window.getByRole('button', { name: 'Change password' }).click());
      equal(await window.getByRole('alert').count(), 0);
    });
    const alan = await world.createPerson('alan');
    await server.admin('PATCH', '/settings', { mfa_mode: 'optional' });
    await world.inWindow(async (window) => {
      await withoutAutofill(window);
      const device = await plugIn(window, { kind: 'platform' });
      await world.signIn(window, alan);
      await loaded(window, () => window.getByRole('button', { name: 'Create a passkey' }).click());
      await window.waitForURL(`${sample.origin}/**`);
      equal(await device.count(), 1);
      await world.signOut(window);
      await world.openSignIn(window);
      await window.getByRole('button', { name: 'Sign in with a passkey' }).click();
      await window.waitForURL(`${sample.origin}/**`);
      await world.expectHello(window, alan);
    });
  } finally {
    await world.stop();
  }
});
