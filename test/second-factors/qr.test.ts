// QR pictures as far as possible without a camera; the browser tests read one from the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toQrDataUri } from '../../src/second-factors/qr.ts';

test('QR code: a square PNG data URL, different for another text', async () => {
  const text = 'otpauth://totp/Latchkey:zo%C3%AB?secret=ABCDEFGHIJKLMNOPQRSTUVWXYZ234567&issuer=Latchkey';
  const [one, same, other] = await Promise.all([
    toQrDataUri(text),
    toQrDataUri(text),
    toQrDataUri(`${text}2`),
  ]);
  assert.match(one, /^data:image\/png;base64,[A-Za-z0-9+/]+=*$/);
  const png = Buffer.from(one.split(',')[1] ?? '', 'base64');
  assert.deepEqual([...png.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  // IHDR: width, height.
  assert.equal(png.readUInt32BE(16), png.readUInt32BE(20));
  assert.ok(png.readUInt32BE(16) >= 200);
  assert.equal(one, same);
  assert.notEqual(one, other);
});
