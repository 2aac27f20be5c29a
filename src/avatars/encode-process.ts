// Decodes one picture that someone sent and encodes what we keep of it: a process of its own for each (encode.ts), so that a
// decoder that a hostile file brings down or takes over has neither our keys in its memory nor our requests to answer, and
// what it used is given back. The only import of sharp.
import { buffer } from 'node:stream/consumers';
import sharp, { type SharpOptions } from 'sharp';

/** 24 megapixels, a camera's picture: with a progressive or interlaced file as a whole in memory, about 200 MB. */
const MAX_PIXELS = 24_000_000;
const MAX_SIDE = 10_000;
const SECONDS = 8;
const LARGE = 256;
const SMALL = 96;

// Only these: what a file is its content says, and no decoder of SVG, PDF, TIFF or the like is ever asked.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
  ],
});
sharp.cache(false);
sharp.concurrency(1);

interface Square {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The part that was asked for, as far as the picture has it; else its middle. */
function squareOf(width: number, height: number, crop: readonly number[]): Square {
  const most = Math.min(width, height);
  const [x = Number.NaN, y = Number.NaN, size = Number.NaN] = crop;
  const isAsked = [x, y, size].every((one) => Number.isSafeInteger(one) && one >= 0) && size > 0;
  const side = isAsked ? Math.min(size, most) : most;
  return {
    left: isAsked ? Math.min(x, width - side) : Math.floor((width - side) / 2),
    top: isAsked ? Math.min(y, height - side) : Math.floor((height - side) / 2),
    width: side,
    height: side,
  };
}

/** `error`: a file that is cut off is refused; one with harmless extra bytes, as phones write them, is not. */
const options: SharpOptions = { failOn: 'error', limitInputPixels: MAX_PIXELS, pages: 1 };

/** Reads the head alone, whatever size it says. @returns undefined for a picture with more pixels than we decode */
async function headOf(bytes: Buffer) {
  const head = await sharp(bytes, { ...options, limitInputPixels: false }).metadata();
  const { width, height } = head;
  return width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS ? undefined : head;
}

type Answer = { readonly large: string; readonly small: string } | { readonly problem: string };

async function encode(bytes: Buffer, crop: readonly number[]): Promise<Answer> {
  const head = await headOf(bytes);
  if (head === undefined) return { problem: 'too_large' };
  const { autoOrient } = head;
  // Metadata (where it was taken, with which camera) is left behind; its orientation is applied.
  const large = await sharp(bytes, options)
    .autoOrient()
    .extract(squareOf(autoOrient.width, autoOrient.height, crop))
    .resize(LARGE, LARGE)
    .flatten({ background: '#fff' })
    .jpeg({ quality: 84 })
    .timeout({ seconds: SECONDS })
    .toBuffer();
  const small = await sharp(large).resize(SMALL, SMALL).jpeg({ quality: 80 }).toBuffer();
  return { large: large.toString('base64'), small: small.toString('base64') };
}

/** Twice what pages show at most (src/views/brand.ts). */
const LOGO = { width: 400, height: 80 };
const LOGO_BYTES = 10_000;

/** PNG, which mail programs show as well: with fewer colours, and then smaller, until a page can afford it. */
async function encodeLogo(bytes: Buffer): Promise<object> {
  if ((await headOf(bytes)) === undefined) return { problem: 'too_large' };
  for (const share of [1, 0.75, 0.5])
    for (const colours of [256, 64, 16]) {
      const { data, info } = await sharp(bytes, options)
        .autoOrient()
        .resize({
          width: Math.round(LOGO.width * share),
          height: Math.round(LOGO.height * share),
          fit: 'inside',
          withoutEnlargement: true,
        })
        .png({ palette: true, colours, effort: 7 })
        .timeout({ seconds: SECONDS })
        .toBuffer({ resolveWithObject: true });
      if (data.length <= LOGO_BYTES)
        return { data: data.toString('base64'), width: info.width, height: info.height };
    }
  return { problem: 'too_large' };
}

/** A screen's width at most; it is stretched over larger ones. */
const BACKGROUND_SIDES = [1600, 1200, 800];
const BACKGROUND_QUALITIES = [78, 60, 40, 25];
const BACKGROUND_BYTES = 200_000;

/** WebP, a third lighter than a JPEG that looks the same: with less detail, and then smaller, until a page can afford it. */
async function encodeBackground(bytes: Buffer): Promise<object> {
  if ((await headOf(bytes)) === undefined) return { problem: 'too_large' };
  for (const side of BACKGROUND_SIDES) {
    const { data: pixels, info } = await sharp(bytes, options)
      .autoOrient()
      .toColourspace('srgb')
      .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
      .raw()
      .timeout({ seconds: SECONDS })
      .toBuffer({ resolveWithObject: true });
    const { width, height, channels } = info;
    for (const quality of BACKGROUND_QUALITIES) {
      const data = await sharp(pixels, { raw: { width, height, channels } })
        .webp({ quality })
        .timeout({ seconds: SECONDS })
        .toBuffer();
      if (data.length <= BACKGROUND_BYTES) return { data: data.toString('base64'), width, height };
    }
  }
  return { problem: 'too_large' };
}

async function answer(): Promise<object> {
  const bytes = await buffer(process.stdin);
  const [kind, ...crop] = process.argv.slice(2);
  try {
    if (kind === 'logo') return await encodeLogo(bytes);
    if (kind === 'background') return await encodeBackground(bytes);
    return await encode(bytes, crop.map(Number));
  } catch {
    return { problem: 'unreadable' };
  }
}

process.stdout.write(JSON.stringify(await answer()));
