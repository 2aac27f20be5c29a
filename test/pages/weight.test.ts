// What each page weighs on the wire, with every style sheet and script that it asks for, compressed as browsers accept it.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { samples } from '../../src/admin/resources/branding/samples/samples.ts';
import { type PageServer, startPages } from './server.ts';
import { PAGE_BYTES, SIGN_IN_BYTES } from './weigh.ts';

let pages: PageServer;
before(async () => {
  pages = await startPages({ samples });
});
after(() => pages.close());

/** As it comes over the wire: fetch would unpack it. */
const transferred = (path: string): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    request(`${pages.origin}${path}`, { headers: { 'accept-encoding': 'br, gzip' } }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part);
      resolve(Buffer.concat(parts));
    })
      .on('error', reject)
      .end();
  });

const sizes = new Map<string, Promise<number>>();
const sizeOf = (path: string): Promise<number> => {
  const known = sizes.get(path) ?? transferred(path).then(({ length }) => length);
  sizes.set(path, known);
  return known;
};

test('pages: sign-in pages are 25 kB on the wire at most, all others 60 kB', async (t) => {
  const weights: [string, number][] = [];
  for (const [name, { template }] of Object.entries(samples)) {
    const page = await transferred(`/show/${name}?lang=ar`);
    const assets = new Set(page.toString().match(/(?<=(?:src|href)=")\/assets\/[^"]+/g));
    const parts = await Promise.all([...assets].map(sizeOf));
    const weight = parts.reduce((sum, size) => sum + size, page.length);
    weights.push([name, weight]);
    const limit = template === 'login' ? SIGN_IN_BYTES : PAGE_BYTES;
    // What people download has its style within.
    assert.ok(assets.size > 1 || template === 'account-export', name);
    assert.ok(weight <= limit, `${name}: ${weight} bytes`);
  }
  const [heaviest] = weights.sort(([, one], [, other]) => other - one);
  t.diagnostic(`heaviest: ${heaviest}`);
});
