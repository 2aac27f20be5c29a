// Pictures that people might send, and hostile ones, made when needed.
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

const crcTable = Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});
const crc32 = (bytes: Buffer): number => {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
};

/** A chunk of a PNG file, with its checksum. */
export function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

/** A PNG file of that size as its head says; `between` goes before its data. */
export function png(
  width: number,
  height: number,
  { between = [], data }: { between?: readonly Buffer[]; data?: Buffer } = {},
): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // 8 bits of grey.
  head.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', head),
    ...between,
    pngChunk('IDAT', data ?? deflateSync(Buffer.alloc((width + 1) * height))),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Its left half is red, its right half blue. */
export const halves = (width = 400, height = 300): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#00f' } }).composite([
    {
      input: { create: { width: Math.floor(width / 2), height, channels: 3, background: '#f00' } },
      gravity: 'west',
    },
  ]);

export const jpeg = (): Promise<Buffer> => halves().jpeg({ quality: 95 }).toBuffer();

/** With more bytes behind its end, as some cameras write them. */
export async function jpegOf(bytes: number): Promise<Buffer> {
  const file = await jpeg();
  return Buffer.concat([file, Buffer.alloc(bytes - file.length)]);
}

/** As a camera takes it: larger than may be sent, lying on its side, with a place in it. */
export const photo = (): Promise<Buffer> =>
  sharp({
    create: {
      width: 3600,
      height: 2700,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  })
    .composite([{ input: Buffer.from(FACE), left: 1100, top: 500 }])
    .jpeg({ quality: 92 })
    .withMetadata({ orientation: 6 })
    .toBuffer();

/** Hills, with the grain of a camera: heavier than a page can afford. */
export const hills = (): Promise<Buffer> =>
  sharp({
    create: {
      width: 2400,
      height: 1500,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean: 128, sigma: 30 },
    },
  })
    .composite([{ input: Buffer.from(HILLS), blend: 'hard-light' }])
    .jpeg({ quality: 60 })
    .toBuffer();

const HILLS = `<svg xmlns="http://www.w3.org/2000/svg" width="2400" height="1500"><linearGradient id="sky" x2="0" y2="1"><stop stop-color="#f7b267"/><stop offset="1" stop-color="#f4f1de"/></linearGradient><rect width="2400" height="1500" fill="url(#sky)"/><circle cx="1750" cy="420" r="150" fill="#fff4d6"/><path d="M0 900Q500 500 1100 850T2400 700V1500H0z" fill="#6d8a96"/><path d="M0 1100Q700 750 1300 1050T2400 950V1500H0z" fill="#335c67"/><path d="M0 1300Q600 1050 1300 1280T2400 1200V1500H0z" fill="#1b3a4b"/></svg>`;

/** As heavy as a logo can be: nothing in it repeats. */
export const grain = (width: number, height: number, mean: number): Promise<Buffer> =>
  sharp({
    create: {
      width,
      height,
      channels: 3,
      background: '#888',
      noise: { type: 'gaussian', mean, sigma: 40 },
    },
  })
    .png()
    .toBuffer();

/** Something to look at. */
const FACE = `<svg xmlns="http://www.w3.org/2000/svg" width="1400" height="1400"><circle cx="700" cy="700" r="690" fill="#f2c14e"/><g transform="rotate(-90 700 700)"><circle cx="450" cy="500" r="90"/><circle cx="950" cy="500" r="90"/><path d="M350 850 Q700 1250 1050 850" fill="none" stroke="#000" stroke-width="60"/></g></svg>`;

/** `red`, `blue` or `other` at a point, given in hundredths. */
export async function colourAt(file: Buffer, across: number, down: number): Promise<string> {
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const x = Math.floor((info.width - 1) * (across / 100));
  const y = Math.floor((info.height - 1) * (down / 100));
  const [r = 0, g = 0, b = 0] = data.subarray((y * info.width + x) * info.channels);
  if (r > 200 && g < 60 && b < 60) return 'red';
  return b > 200 && r < 60 && g < 60 ? 'blue' : 'other';
}

export async function sizeOf(file: Buffer): Promise<string> {
  const { format, width, height } = await sharp(file).metadata();
  return `${format} ${width}x${height}`;
}
