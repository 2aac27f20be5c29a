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

type Answer = { readonly large: string; readonly small: string } | { readonly problem: string };

async function encode(bytes: Buffer, crop: readonly number[]): Promise<Answer> {
  // `error`: a file that is cut off is refused; one with harmless extra bytes, as phones write them, is not.
  const options: SharpOptions = { failOn: 'error', limitInputPixels: MAX_PIXELS, pages: 1 };
  // Reads the head alone, whatever size it says.
  const head = await sharp(bytes, { ...options, limitInputPixels: false }).metadata();
  const { width, height, autoOrient } = head;
  if (width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS) return { problem: 'too_large' };
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
  const options: SharpOptions = { failOn: 'error', limitInputPixels: MAX_PIXELS, pages: 1 };
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
        return { png: data.toString('base64'), width: info.width, height: info.height };
    }
  return { problem: 'too_large' };
}

async function answer(): Promise<object> {
  const bytes = await buffer(process.stdin);
  const [kind, ...crop] = process.argv.slice(2);
  try {
    return kind === 'logo' ? await encodeLogo(bytes) : await encode(bytes, crop.map(Number));
  } catch {
    return { problem: 'unreadable' };
  }
}

process.stdout.write(JSON.stringify(await answer()));
