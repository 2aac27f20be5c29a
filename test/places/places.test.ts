// Where an address is, by a file in MaxMind's format, in words of the reader's language.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openPlaces } from '../../src/places/index.ts';
import { type MmdbOptions, mmdb, somePlaces } from '../support/mmdb.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-places-'));
});
after(() => rm(folder, { recursive: true }));

async function placesOf(options: MmdbOptions) {
  const path = join(folder, 'test.mmdb');
  await writeFile(path, mmdb(options));
  return openPlaces(path);
}

for (const recordSize of [24, 28, 32] as const) {
  test(`places: city and country of addresses of both versions (records of ${recordSize} bits)`, async () => {
    const placeOf = await placesOf({ networks: somePlaces, recordSize });
    for (const [address, place] of [
      ['203.0.113.5', 'Munich, Germany'],
      ['203.0.113.255', 'Munich, Germany'],
      ['::ffff:203.0.113.5', 'Munich, Germany'],
      ['::ffff:cb00:7105', 'Munich, Germany'],
      ['198.51.100.127', 'Cairo, Egypt'],
      ['198.51.100.128', undefined],
      ['2001:db8:1::', 'Switzerland'],
      ['2001:db8:1:ffff:ffff:ffff:ffff:ffff', 'Switzerland'],
      ['2001:db8:2::1', undefined],
      ['::1', 'Berlin, Germany'],
      ['203.0.114.1', undefined],
      ['10.0.0.1', undefined],
      ['not an address', undefined],
      ['', undefined],
      ['fe80::1%eth0', undefined],
    ] as const)
      assert.equal(placeOf(address, 'en'), place, address);
  });
}

test('places: in the reader’s language, the city in English where the file has no other', async () => {
  const placeOf = await placesOf({ networks: somePlaces });
  for (const [language, place] of [
    ['de', 'München, Deutschland'],
    ['de-CH', 'München, Deutschland'],
    ['fr', 'Munich, Allemagne'],
    ['pt', 'Munich, Alemanha'],
    ['ja', 'ミュンヘン、ドイツ'],
    ['ar', 'Munich، ألمانيا'],
    ['xx-made-up', 'Munich, Germany'],
    ['"><script>', 'Munich, Germany'],
    ['', 'Munich, Germany'],
  ] as const)
    assert.equal(placeOf('203.0.113.5', language), place, language);
});

test('places: files that name a city by itself, and the country by its code', async () => {
  const placeOf = await placesOf({ networks: { '192.0.2.0/24': { city: 'Oslo', country_code: 'NO' } } });
  assert.equal(placeOf('192.0.2.1', 'en'), 'Oslo, Norway');
});

test('places: without a file no place is known', async () => {
  assert.equal((await openPlaces(undefined))('203.0.113.5', 'en'), undefined);
});
