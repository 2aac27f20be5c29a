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
  'with a stroke for a letter': 'Payrol|',
  'with a letter in a box': '\u{1f17f}ayroll',
  'with a trade mark': 'Payroll™',
  'of this server': 'Riverside Login',
  'of the product, with a stroke': '|atchkey',
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

/** Of alphabets that no list of look-alikes has whole. */
const MIXED: Readonly<Record<string, string>> = {
  'a Cherokee letter': '\u13e2ayroll',
  'a Coptic letter': '\u2ca2ayroll',
  'a letter of Lisu': '\ua4d1ayroll',
  'a Canadian syllable': '\u146dayroll',
  'a Deseret letter for the first of the product': '\u{1041b}atchkey',
  'a Hebrew and a Latin letter in one word': 'Payro\u05df\u05df',
  'an Arabic letter at the end': 'Payrol\u0627',
  'all in Lisu': '\ua4d1\ua4ee\ua4ec\ua4e3\ua4f3\ua4e1\ua4e1',
  'digits of two systems': 'Pay 1\u0661',
};

test('attack: a name in letters of an alphabet that looks like another (UTS #39 §5)', async () => {
  for (const [what, name] of Object.entries(MIXED)) isRefused(await register(name), what);
  for (const honest of ['Яндекс Mail', 'Заметки', 'ノートApp用', '工资 Notes', 'Café Münster 3', 'ملاحظات 2'])
    equal((await register(honest)).status, 201, honest);
});

test('attack: an invisible name', async () => {
  for (const name of ['\u200b', '\u3164', '\u2800', '\u115f\u1160', '\u{e0061}', ' \u00ad ', '\ufe0f']) {
    const { status, body } = await register(name);
    deepEqual([status, body.error], [400, 'invalid_client_metadata'], JSON.stringify(name));
    const made = await app.admin('POST', '/clients', { ...asked, client_name: name });
    equal(made.status, 400, `by an administrator: ${JSON.stringify(name)}`);
  }
});
