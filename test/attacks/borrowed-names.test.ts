// Attack (decision 0026): a program that anyone may register calls itself like this server or like an application here, so that the
// consent page speaks for it.
import { deepEqual, equal } from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Answer, bearer, call, change, type Json } from '../flows/support.ts';
import { startApp } from '../support/app.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { agents: true, product_name: 'Riverside Login' });
await app.register({ client_name: 'Payroll' });

const asked = { redirect_uris: ['http://127.0.0.1:33418/callback'], application_type: 'native' };
const headers = { 'content-type': 'application/json' };
const register = (name: string): Promise<Answer> =>
  call(app, 'POST', '/oauth2/register', {
    headers,
    body: JSON.stringify({ ...asked, client_name: name }),
  });

const BORROWED: Readonly<Record<string, string>> = {
  'of an application': 'Payroll',
  'in other letters': 'PAYROLL',
  'with Cyrillic letters': 'Pаyrоll',
  'with a capital i': 'PayroIl',
  'with spaces and hyphens': 'Pay - roll',
  'with an invisible space': 'Pay\u200broll',
  'with an invisible letter': 'Pay\u3164roll',
  'in wide letters': 'Ｐａｙｒｏｌｌ',
  'of this server': 'Riverside Login',
  'of this server and more': 'Riverside Login support',
  'of the product': 'Latchkey',
  'of the product and more': 'Security of Lаtchkey',
};

const isRefused = ({ status, body }: Answer, what: string): void => {
  deepEqual([status, body.error], [400, 'invalid_client_metadata'], `${what}: ${JSON.stringify(body)}`);
  equal(String(body.error_description).startsWith('client_name: Its name is'), true, what);
};

test('attack: open registration under the name of this server or of an application here', async () => {
  for (const [what, name] of Object.entries(BORROWED)) isRefused(await register(name), what);
  equal((await register('Payroll reader')).status, 201, 'a name that only contains one is another');
});

test('attack: an agent takes such a name afterwards, by PUT', async () => {
  const { status, body } = await register('Notes agent');
  equal(status, 201);
  const put = (changes: Json): Promise<Answer> =>
    call(app, 'PUT', new URL(String(body.registration_client_uri)).pathname, {
      headers: { ...headers, ...bearer(String(body.registration_access_token)) },
      body: JSON.stringify({ ...asked, client_id: body.client_id, ...changes }),
    });
  for (const [what, name] of Object.entries(BORROWED)) isRefused(await put({ client_name: name }), what);
  const shown = await app.admin('GET', `/clients/${String(body.client_id)}`);
  equal(shown.body.data.client_name, 'Notes agent');
  equal((await put({ client_name: 'Better notes agent' })).status, 200);
});
