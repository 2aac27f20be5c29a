// The device flow (RFC 8628): refused and abandoned; the device is told each outcome. Typed and granted: the journey.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch } from '../pages/browser.ts';
import { DEVICE_GRANT, television } from '../support/television.ts';
import { type RunningServer, startServer } from './processes.ts';
import { shoot } from './shots.ts';
import { enter, loaded, USER } from './steps.ts';
import { openWindow, type Window } from './window.ts';

let browser: Browser;
let server: RunningServer;
let clientId: string;
let person: Window;

before(async () => {
  [browser, server] = await Promise.all([launch(), startServer()]);
  await server.admin('POST', '/users', USER);
  const client = await server.admin('POST', '/clients', television);
  clientId = String(client.client_id);
});

after(async () => {
  await browser.close();
  await server.stop();
});

beforeEach(async () => {
  person = await openWindow(browser);
});

afterEach(async () => {
  await person.close();
  assert.deepEqual(person.complaints, []);
});

async function post(path: string, fields: Record<string, string>): Promise<Record<string, string>> {
  const body = new URLSearchParams({ client_id: clientId, ...fields });
  return JSON.parse(await (await fetch(server.issuer + path, { method: 'POST', body })).text());
}

interface Device {
  readonly userCode: string;
  readonly addressWithCode: string;
  /** @returns the error, or undefined when the device has its tokens */
  poll(): Promise<string | undefined>;
}

async function startDevice(): Promise<Device> {
  const started = await post('/device_authorization', { scope: 'openid profile' });
  const { device_code: deviceCode = '', user_code: userCode = '' } = started;
  return {
    userCode,
    addressWithCode: String(started.verification_uri_complete),
    poll: async () => (await post('/token', { grant_type: DEVICE_GRANT, device_code: deviceCode })).error,
  };
}

test('device flow: a code from a link is shown for comparison and can be refused', async () => {
  const { page } = person;
  const device = await startDevice();
  await page.goto(device.addressWithCode);
  assert.equal(await page.getByLabel('Code').inputValue(), device.userCode);
  await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
  await loaded(page, () => page.getByRole('button', { name: 'Don’t connect' }).click());
  assert.match((await page.getByRole('alert').textContent()) ?? '', /No device was connected/);
  await shoot(page, 'device-refused');
  assert.equal(await device.poll(), 'access_denied');
});

test('device flow: cancelled at sign-in or denied at consent, the device gets nothing', async () => {
  const { page } = person;
  for (const ending of ['Cancel', 'Deny']) {
    const device = await startDevice();
    await page.goto(device.addressWithCode);
    await loaded(page, () => page.getByRole('button', { name: 'Continue' }).click());
    await loaded(page, () => page.getByRole('button', { name: 'Connect', exact: true }).click());
    if (ending === 'Deny') await loaded(page, () => enter(page, USER));
    await loaded(page, () => page.getByRole('button', { name: ending }).click());
    assert.match((await page.getByRole('alert').textContent()) ?? '', /No device was connected/);
    assert.equal(await device.poll(), 'access_denied');
  }
});
