// Names and addresses on pages: where they may break, and what is not said of our own pages.
import { doesNotMatch, equal, match } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { type PageServer, plainTheme, startPages } from '../pages/server.ts';

const { consent, login, signup } = samples;
const LONG_NAME = 'Quarterly Reporting for the European Subsidiaries';
const address = 'maximiliane.hohenlohe@subsidiary.acme.example';
const own = plainTheme.productName;

let pages: PageServer;
before(async () => {
  pages = await startPages({
    samples: {
      long: { ...consent, model: { ...consent.model, client: { ...consent.model.client, name: LONG_NAME } } },
      host: {
        ...consent,
        model: {
          ...consent.model,
          client: { ...consent.model.client, name: 'https://reports.acme.example/board' },
          account: { username: address },
        },
      },
      short: consent,
      login: { ...login, model: { ...login.model, clientName: own } },
      other: login,
      signup: { ...signup, model: { ...signup.model, clientName: own } },
    },
  });
});
after(() => pages.close());

const show = async (name: string, language = 'en'): Promise<string> =>
  (await fetch(`${pages.origin}/show/${name}?lang=${language}`)).text();

test('names: a short one stays on its line, a long one flows with the sentence', async () => {
  match(await show('short'), /<b><bdi>Acme Analytics<\/bdi><\/b> is requesting/);
  match(await show('long'), new RegExp(`<b class="long"><bdi>${LONG_NAME}</bdi></b>`));
});

test('addresses: break before a dot and an @, behind a slash, in sentences and beside a face', async () => {
  const page = await show('host');
  match(page, /<bdi>https:\/\/<wbr>reports<wbr>\.acme<wbr>\.example\/<wbr>board<\/bdi>/);
  // A chip cuts what is longer than two lines: the title has all of it.
  match(page, /class="who"><bdi title="maximiliane\.hohenlohe@subsidiary\.acme\.example">/);
  match(page, />maximiliane<wbr>\.hohenlohe<wbr>@subsidiary<wbr>\.acme<wbr>\.example<\/bdi>/);
  equal(/<title>([^<]*)/.exec(page)?.[1]?.includes('wbr'), false, 'a title has no markup');
});

test('our own pages: whose account it takes is not said twice', async () => {
  doesNotMatch(await show('login'), /class="lead"/);
  match(await show('other'), /class="lead">Use your Latchkey account\./);
  match(await show('signup'), /Use it wherever you sign in with Latchkey\./);
});

test('sign-up: the family name comes first in Japanese', async () => {
  const order = async (language: string): Promise<string[]> =>
    [...(await show('signup', language)).matchAll(/name="(given|family)_name"/g)].map(
      ([, part = '']) => part,
    );
  equal((await order('ja')).join(), 'family,given');
  equal((await order('de')).join(), 'given,family');
});
