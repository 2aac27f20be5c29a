// Attack: GeoIP file hostile. A file that was cut off, made up or built to do harm is one sentence at the start, or knows no place;
// it never crashes a process, and never keeps one busy.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openDatabase, UnusableFile } from '../../src/places/database.ts';
import { openPlaces, type PlaceOf } from '../../src/places/index.ts';
import { encodeMmdb, metadata, mmdb, somePlaces } from '../support/mmdb.ts';
import { isWithin } from '../support/patience.ts';

const SOON_MS = 2000;

let folder: string;
let path: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-geoip-'));
  path = join(folder, 'test.mmdb');
});
after(() => rm(folder, { recursive: true }));

async function refused(file: Buffer | string, why: RegExp): Promise<void> {
  const at = typeof file === 'string' ? file : path;
  if (typeof file !== 'string') await writeFile(path, file);
  const started = performance.now();
  await assert.rejects(openPlaces(at), (error: Error) => {
    assert.equal(error.name, 'OperatorError');
    assert.match(error.message, /^GEOIP_FILE: \/.* Set it to a city or country database/);
    assert.match(error.message, why);
    return true;
  });
  assert.ok(isWithin(performance.now() - started, SOON_MS));
}

async function opened(file: Buffer): Promise<PlaceOf> {
  await writeFile(path, file);
  return openPlaces(path);
}

/** A tree of one node, both sides of which lead to the data that follows. */
function leadingTo(data: Buffer): Buffer {
  const node = Buffer.alloc(8);
  node.writeUInt32BE(1 + 16, 0);
  node.writeUInt32BE(1 + 16, 4);
  return Buffer.concat([node, Buffer.alloc(16), data, metadata(1, 32, 'Test-City')]);
}

const good = (): Buffer => mmdb({ networks: somePlaces });

test('attack: GeoIP file hostile: none there, a folder, empty, no database, another kind', async () => {
  await refused(join(folder, 'absent.mmdb'), /cannot be read \(ENOENT\)/);
  await refused(folder, /is no file/);
  await refused('/dev/zero', /is no file/);
  await refused(Buffer.alloc(0), /is no MaxMind database/);
  await refused(Buffer.from('<!doctype html><title>Please sign in</title>'), /is no MaxMind database/);
  await refused(Buffer.concat([Buffer.from('\x1f\x8b\x08', 'latin1'), Buffer.alloc(5000)]), /no MaxMind/);
  await refused(
    mmdb({ networks: somePlaces, type: 'GeoLite2-ASN' }),
    /has no places: its type is "GeoLite2-ASN"/,
  );
});

test('attack: GeoIP file hostile: a pipe without a writer', async () => {
  const pipe = join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  await refused(pipe, /is no file/);
});

test('attack: GeoIP file hostile: 10 GB, sparse', async () => {
  const large = join(folder, 'large.mmdb');
  const file = await open(large, 'w');
  await file.truncate(10 * 1024 ** 3);
  await file.close();
  await refused(large, /is larger than 512 MB/);
});

test('attack: GeoIP file hostile: cut off anywhere, it is refused or knows no place', async () => {
  const whole = good();
  await refused(whole.subarray(0, whole.length / 2), /is no MaxMind database, or is cut off/);
  await refused(whole.subarray(1000), /is cut off/);
  for (let cut = 1; cut < 300; cut += 7) {
    try {
      const placeOf = await opened(whole.subarray(0, whole.length - cut));
      assert.equal(typeof placeOf('203.0.113.5', 'en') === 'object', false);
    } catch (error) {
      assert.match(String(error), /GEOIP_FILE/);
    }
  }
});

test('attack: GeoIP file hostile: a description that lies', async () => {
  const data = Buffer.alloc(100);
  await refused(Buffer.concat([data, metadata(4_000_000_000, 32, 'Test-City')]), /is cut off/);
  await refused(Buffer.concat([data, metadata(0, 32, 'Test-City')]), /is damaged/);
  await refused(Buffer.concat([data, metadata(1, 7, 'Test-City')]), /is damaged/);
  const marker = metadata(1, 32, 'x').subarray(0, 14);
  await refused(Buffer.concat([data, marker]), /is damaged/);
  await refused(Buffer.concat([data, marker, Buffer.alloc(500, 0xff)]), /is damaged/);
  await refused(Buffer.concat([data, marker, Buffer.from([0x20, 0x00])]), /is damaged/);
});

test('attack: GeoIP file hostile: pointers in circles, out of the file, and maps of millions', async () => {
  const list = (items: readonly Buffer[], type: number): Buffer =>
    Buffer.concat([
      Buffer.from([type === 11 ? items.length : 0xe0 | items.length]),
      Buffer.from(type === 11 ? [4] : []),
      ...items,
    ]);
  const pointer = (target: number): Buffer => Buffer.from([0x20 | (target >> 8), target & 255]);
  for (const [what, data] of Object.entries({
    'to itself': pointer(0),
    'to each other': Buffer.concat([pointer(2), pointer(0)]),
    'a map in itself': list([encodeMmdb('city'), pointer(0)], 7),
    'a list of itself, many times': list(Array(28).fill(pointer(0)), 11),
    'a map of 16 million': Buffer.from([0xff, 0xff, 0xff, 0xff]),
    'a list of 16 million': Buffer.from([0x1f, 0x04, 0xff, 0xff, 0xff]),
    'a text of 16 million': Buffer.from([0x5f, 0xff, 0xff, 0xff]),
    'out of the file': Buffer.from([0x38, 0xff, 0xff, 0xff, 0xff]),
    'an unknown kind': Buffer.from([0x00, 0xf0]),
    nothing: Buffer.alloc(0),
  })) {
    const placeOf = await opened(leadingTo(data));
    const started = performance.now();
    for (const address of ['203.0.113.5', '2001:db8::1', '::1'])
      assert.equal(placeOf(address, 'en'), undefined, what);
    assert.ok(isWithin(performance.now() - started, SOON_MS), what);
  }
});

test('attack: GeoIP file hostile: a tree that leads in circles ends with the address', async () => {
  const node = Buffer.alloc(8);
  const file = Buffer.concat([node, Buffer.alloc(16), encodeMmdb({}), metadata(1, 32, 'Test-City')]);
  assert.equal((await opened(file))('203.0.113.5', 'en'), undefined);
});

test('attack: GeoIP file hostile: names that are no names', async () => {
  for (const name of ['a\u202eb', 'line\nbreak', 'x'.repeat(101), '\0', '']) {
    const record = { city: { names: { en: name } }, country: { iso_code: '<b' } };
    const placeOf = await opened(mmdb({ networks: { '203.0.113.0/24': record } }));
    assert.equal(placeOf('203.0.113.5', 'en'), undefined, JSON.stringify(name));
  }
});

test('attack: GeoIP file hostile: any byte of it changed', () => {
  const whole = good();
  const addresses = [Uint8Array.of(203, 0, 113, 5), Uint8Array.of(198, 51, 100, 1), new Uint8Array(16)];
  for (let at = 0; at < whole.length; at += 1) {
    const file = Buffer.from(whole);
    file[at] = (file[at] ?? 0) ^ (1 << (at % 8));
    try {
      const database = openDatabase(file);
      for (const address of addresses) database.find(address);
    } catch (error) {
      assert.ok(error instanceof UnusableFile, String(error));
    }
  }
});
