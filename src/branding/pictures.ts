// The pictures of looks: encoded by us, kept under a digest of their bytes, so that an address always shows the same.
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { PictureRecord } from '../store/looks.ts';
import type { Collection } from '../store/port.ts';

/** Bytes that an administrator may send. */
export const MAX_PICTURE_BYTES = 1024 * 1024;

const DIGEST_LENGTH = 22;
const idPattern = /^[A-Za-z0-9_-]{22}-(\d{1,4})x(\d{1,4})$/;

/** A logo or an icon, or what lies behind the card. */
export type PictureUse = 'logo' | 'background';

export const useOf = ({ type }: Pick<PictureRecord, 'type'>): PictureUse =>
  type === 'webp' ? 'background' : 'logo';

interface Encoded {
  /** Base64. */
  readonly data: string;
  readonly width: number;
  readonly height: number;
}

/** A logo becomes a PNG, which mails can show, a background WebP. @throws AppError when it is no picture, or too large */
export type EncodePictures = Readonly<Record<PictureUse, (bytes: Buffer) => Promise<Encoded>>>;

export interface Picture {
  readonly id: string;
  readonly width: number;
  readonly height: number;
  /** What it weighs. */
  readonly bytes: number;
}

interface Attachment extends Pick<Picture, 'width' | 'height'> {
  readonly contentType: 'image/png';
  readonly bytes: Buffer;
}

export interface Pictures {
  /** @throws AppError request.too_large, and as `encode` does */
  add(bytes: Buffer, use: PictureUse): Promise<Picture>;
  /** @returns undefined where there is none of this id */
  read(id: string): Promise<{ readonly type: 'png' | 'webp'; readonly bytes: Buffer } | undefined>;
  /** Without its bytes. @returns undefined where there is none of this id */
  describe(id: string): Promise<Picture | undefined>;
  /** @returns the PNG as it is attached to a mail */
  attachment(id: string | undefined): Promise<Attachment | undefined>;
}

export function createPictures(deps: {
  collection: Collection<PictureRecord>;
  clock: Clock;
  encode: EncodePictures;
}): Pictures {
  const { collection, clock, encode } = deps;
  const sizeIn = (id: string) => {
    const [, width, height] = idPattern.exec(id) ?? [];
    return { width: Number(width), height: Number(height) };
  };

  const read: Pictures['read'] = async (id) => {
    if (!idPattern.test(id)) return undefined;
    const found = await collection.find(id);
    return found && { type: found.value.type ?? 'png', bytes: Buffer.from(found.value.bytes, 'base64') };
  };

  return {
    read,
    async describe(id) {
      const found = await read(id);
      return found && { id, ...sizeIn(id), bytes: found.bytes.length };
    },
    async attachment(id = '') {
      const found = await read(id);
      return found?.type === 'png'
        ? { contentType: 'image/png', bytes: found.bytes, ...sizeIn(id) }
        : undefined;
    },
    async add(bytes, use) {
      if (bytes.length > MAX_PICTURE_BYTES) throw new AppError('request.too_large');
      const { data, width, height } = await encode[use](bytes);
      const kept = Buffer.from(data, 'base64');
      const digest = createHash('sha256').update(data).digest('base64url').slice(0, DIGEST_LENGTH);
      const id = `${digest}-${width}x${height}`;
      const type = use === 'background' ? ({ type: 'webp' } as const) : {};
      // The same bytes again: the time is new, so that it stays until a look has it.
      await collection.put(id, { bytes: data, ...type, createdAt: clock() });
      return { id, width, height, bytes: kept.length };
    },
  };
}
