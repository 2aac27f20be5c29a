// The part of an application's page about the addresses that this server calls: what keeps it from them, their approval, the
// last sign-outs that were sent, and a test of them.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Agent, hiddenFields, type Page } from '../support/agent.ts';
import { PASSWORD, REDIRECT_URI, startApp, type TestApp } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { bearer, call } from './support.ts';

let status = 200;
const receiver = await startReceiver((_request, response) => {
  response.writeHead(status).end();
});
const inside = `127.0.0.1:${receiver.port}`;

let app: TestApp;
let admin: Agent;
let auditor: Agent;

async function enter(username: string, role: string): Promise<Agent> {
  await app.createUser(username, { role });
  const agent = new Agent(app);
  const signIn = await agent.follow(await agent.get('/admin'));
  equal((await agent.submit(signIn, { username, password: PASSWORD })).status, 200);
  return agent;
}

before(async () => {
  app = await startApp({ env: { OUTBOUND_ALLOW: inside } });
  admin = await enter('root-admin', 'admin');
  auditor = await enter('ann', 'auditor');
});
after(async () => {
  await app.stop();
  receiver.close();
});

const textOf = ({ body }: Page): string => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const open = (id: string, agent = admin): Promise<Page> => agent.get(`/admin/applications/${id}`);

/** An application that registered itself with an address inside, over https. */
async function registeredItself(): Promise<{ id: string; uri: string }> {
  const { body: made } = await app.admin('POST', '/initial-access-tokens', { label: 'x' });
  const uri = `https://${inside}/logout`;
  const { body } = await call(app, 'POST', '/oauth2/register', {
    headers: { ...bearer(String(made.data.token)), 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], backchannel_logout_uri: uri }),
  });
  return { id: String(body.client_id), uri };
}

/** Presses the button whose form leads there, with what the form hides. */
async function press(page: Page, path: string, more: Record<string, string> = {}): Promise<Page> {
  const form = page.body.split('<form').find((part) => part.includes(`action="/admin${path}"`));
  ok(form !== undefined, `no form to ${path}`);
  return admin.post(`/admin${path}`, { ...hiddenFields(`<form${form}`), ...more });
}

const approvedOf = async (id: string): Promise<unknown> =>
  (await app.admin('GET', `/clients/${id}`)).body.data.approved_addresses;

test('application page: an address inside waits for approval, is approved, and withdrawn', async () => {
  const { id, uri } = await registeredItself();
  const page = await open(id);
  match(textOf(page), /Waits for approval/);
  match(textOf(page), /no administrator approved it\. Approve this address\./);
  const approved = await press(page, `/applications/${id}/approve-address`);
  equal(approved.status, 303);
  deepEqual(await approvedOf(id), [uri]);
  const shown = await admin.follow(approved);
  match(textOf(shown), /Address approved/);
  match(textOf(shown), /Approved/);
  ok(!shown.body.includes('/approve-address'));
  equal((await press(shown, `/applications/${id}/withdraw-approval`)).status, 303);
  deepEqual(await approvedOf(id), []);
});

test('approval: of the address that was shown, not of one that came since', async () => {
  const { id } = await registeredItself();
  const page = await open(id);
  await app.admin('PATCH', `/clients/${id}`, { client_name: 'Changed meanwhile' });
  equal((await press(page, `/applications/${id}/approve-address`)).status, 412);
  deepEqual(await approvedOf(id), []);
  const again = await open(id);
  const other = await press(again, `/applications/${id}/approve-address`, { address: 'https://10.0.0.1/' });
  equal(other.status, 400);
  match(textOf(other), /The application has no such address/);
  deepEqual(await approvedOf(id), []);
  const forged = await press(await open(id), `/applications/${id}/approve-address`, { csrf: 'forged' });
  equal(forged.status, 403);
});

test('application page: says which entry of OUTBOUND_ALLOW is missing', async () => {
  const client = await app.register({ backchannel_logout_uri: 'https://10.1.2.3:8443/logout' });
  match(textOf(await open(client.id)), /Add 10\.1\.2\.3:8443 to OUTBOUND_ALLOW and restart/);
});

test('application page: sends a test and shows the last sign-outs in words', async () => {
  const client = await app.register({ backchannel_logout_uri: `http://${inside}/logout` });
  const path = `/applications/${client.id}/test-logout`;
  match(textOf(await open(client.id)), /None in the last 7 days/);
  const sent = await admin.follow(await press(await open(client.id), path));
  match(textOf(sent), /Test sent\. The application accepted it\./);
  match(textOf(sent), /Delivered \(200\)\./);
  status = 400;
  const refused = await admin.follow(await press(sent, path));
  match(textOf(refused), /The test did not arrive/);
  match(textOf(refused), /It received the logout token and refused it \(400\)\./);
  status = 200;
  equal(receiver.received.length, 2);
  const forged = await press(refused, path, { csrf: 'forged' });
  equal(forged.status, 403);
  equal(receiver.received.length, 2);
});

test('application page: auditors see the addresses and deliveries, and no button', async () => {
  const { id } = await registeredItself();
  const page = await open(id, auditor);
  match(textOf(page), /Waits for approval/);
  match(textOf(page), /None in the last 7 days/);
  for (const path of ['approve-address', 'withdraw-approval', 'test-logout']) ok(!page.body.includes(path));
});

test('application page: without such an address there is no such part', async () => {
  const client = await app.register();
  ok(!(await open(client.id)).body.includes('Addresses that this server calls'));
});
