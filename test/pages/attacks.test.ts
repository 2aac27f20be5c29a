// Attacks on pages by everything that users, clients and requests can write.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { Sample } from '../../src/admin/resources/branding/samples/sample.ts';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { launch, open } from './browser.ts';
import { type PageServer, plainTheme, startPages } from './server.ts';

/** Each one breaks out of another context than the others. */
const corpus = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  `'"><body onpageshow=alert(1)>`,
  '" autofocus onfocus="alert(1)',
  '</title></style></textarea><iframe srcdoc="<script>parent.alert(1)</script>">',
  '{{ range.constructor("alert(1)")() }}{% raw %}',
  '<!--<a href="javascript:alert(1)">x</a>',
  '\u202e<b>\u0000</b>&lt;script&gt;',
];
const variants: Record<string, string> = {
  everything: corpus.join(' '),
  script: 'javascript:alert(1)//',
  document: 'data:text/html,<script>alert(1)</script>',
  markupAsPicture: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
};

// Words that our own code chooses among: a stranger never writes these.
const ours = new Set([
  'act',
  'requiredBy',
  'group',
  'type',
  'key',
  'titleKey',
  'method',
  'methods',
  'alert',
  'notice',
  'what',
]);

const poison = (value: unknown, payload: string, name = ''): unknown => {
  if (typeof value === 'string') return ours.has(name) ? value : payload;
  if (Array.isArray(value)) return value.map((item) => poison(item, payload, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poison(item, payload, key)]));
};

const poisoned: Record<string, Sample> = {};
for (const [name, sample] of Object.entries(samples)) {
  for (const [variant, payload] of Object.entries(variants)) {
    // The same shape with other strings.
    poisoned[`${name}-${variant}`] = { ...sample, model: poison(sample.model, payload) as Sample['model'] };
  }
}

let browser: Browser;
let pages: PageServer;
before(async () => {
  browser = await launch();
  pages = await startPages({ samples: poisoned, theme: { ...plainTheme, productName: corpus.join(' ') } });
});
after(async () => {
  await browser.close();
  await pages.close();
});

const danger = `[...document.querySelectorAll('*')].flatMap((element) => {
  const bad = [...element.attributes].filter(({ name, value }) => name.startsWith('on') ||
    (['href', 'src', 'action', 'formaction'].includes(name) && /^\\s*(javascript|data:text|vbscript)/i.test(value)));
  const isForeign = element.matches('iframe, object, embed, base, math, script:not([src^="/assets/"])');
  return bad.length || isForeign ? [element.outerHTML.slice(0, 200)] : [];
})`;

/** What could be an address of one of the variants, where addresses stand. */
const asAddress = /\s(?:href|src|srcset|action|formaction|content|style)\s*=\s*["']?\s*(?:javascript|data):/i;
/** These are text like any other where they are no address: only with LONG=1 all of them are opened. */
const isWorthOpening = async (name: string, url: string): Promise<boolean> =>
  name.endsWith('-everything') || process.env.LONG === '1' || asAddress.test(await (await fetch(url)).text());

test('attack: cross-site scripting in any string of any page', async (t) => {
  let opened = 0;
  const { page, complaints, close } = await open(browser);
  for (const [name, { model }] of Object.entries(poisoned)) {
    // A form whose target is no address at all is refused, not shown.
    if (name.startsWith('continue')) continue;
    const url = `${pages.origin}/show/${name}?lang=${encodeURIComponent('"><script>alert(1)</script>')}`;
    if (!(await isWorthOpening(name, url))) continue;
    opened += 1;
    const response = await page.goto(url);
    if (name.startsWith('device')) continue;
    assert.equal(response?.status(), 'status' in model ? model.status : 200, name);
    assert.deepEqual(await page.evaluate(danger), [], name);
    assert.deepEqual(complaints, [], name);
  }
  t.diagnostic(`${opened} of ${Object.keys(poisoned).length} opened`);
  await close();
});

test('attack: form_post to a javascript: address', async () => {
  const { page, complaints, close } = await open(browser);
  await page.goto(`${pages.origin}/show/continue-script`);
  assert.deepEqual(await page.evaluate(danger), []);
  assert.deepEqual(complaints, []);
  await close();
});

test('attack: form_post with a hostile state; it reaches only the client, unchanged (R020)', async (t) => {
  const state = `"'></form></script><script>alert(1)</script>&quot;\u2028${'ü'.repeat(4096)}`;
  const fields = [
    { name: 'code', value: 'abc' },
    { name: 'state', value: state },
    { name: 'submit', value: 'hides form.submit' },
  ];
  const client = await startPages({ samples: {} });
  const shown: Record<string, Sample> = {
    allowed: {
      template: 'continue',
      model: { action: `${client.origin}/landed`, fields },
      formAction: [`${client.origin}/landed?x=1`],
    },
    forbidden: { template: 'continue', model: { action: `${client.origin}/landed`, fields } },
  };
  const provider = await startPages({ samples: shown });
  const { page, complaints, close } = await open(browser);
  t.after(() => Promise.all([close(), client.close(), provider.close()]));
  await page.goto(`${provider.origin}/show/allowed`);
  await page.waitForURL(`${client.origin}/landed`);
  assert.deepEqual(complaints, []);
  assert.deepEqual(
    [...new URLSearchParams(client.posted[0])],
    fields.map(({ name, value }) => [name, value]),
  );

  // The policy holds even if a page should name another target than was announced.
  const refused = page.waitForEvent('console');
  // The browser gives up the submission and with it the end of loading.
  await page.goto(`${provider.origin}/show/forbidden`, { waitUntil: 'commit' });
  const message = await refused;
  assert.match(message.text(), /form-action/);
  assert.equal(client.posted.length, 1);
});
