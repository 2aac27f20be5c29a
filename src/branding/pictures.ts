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

/** @returns a PNG, base64; @throws AppError when it is no picture, or too large */
export type EncodeLogo = (bytes: Buffer) => Promise<{
  readonly png: string;
  readonly width: number;
  readonly height: number;
}>;

export interface Picture {
  readonly id: string;
  readonly width: number;
  readonly height: number;
}

interface Attachment extends Pick<Picture, 'width' | 'height'> {
  readonly contentType: 'image/png';
  readonly bytes: Buffer;
}

export interface Pictures {
  /** @throws AppError request.too_large, and as `encode` does */
  add(bytes: Buffer): Promise<Picture>;
  /** @returns the PNG; undefined where there is none of this id */
  read(id: string): Promise<Buffer | undefined>;
  /** @returns the PNG as it is attached to a mail */
  attachment(id: string | undefined): Promise<Attachment | undefined>;
}

export function createPictures(deps: {
  collection: Collection<PictureRecord>;
  clock: Clock;
  encode: EncodeLogo;
}): Pictures {
  const { collection, clock, encode } = deps;
  async function read(id: string): Promise<Buffer | undefined> {
    if (!idPattern.test(id)) return undefined;
    const found = await collection.find(id);
    return found && Buffer.from(found.value.bytes, 'base64');
  }

  return {
    read,
    async attachment(id = '') {
      const [, width, height] = idPattern.exec(id) ?? [];
      const bytes = await read(id);
      return bytes && { contentType: 'image/png', bytes, width: Number(width), height: Number(height) };
    },
    async add(bytes) {
      if (bytes.length > MAX_PICTURE_BYTES) throw new AppError('request.too_large');
      const { png, width, height } = await encode(bytes);
      const digest = createHash('sha256').update(png).digest('base64url').slice(0, DIGEST_LENGTH);
      const id = `${digest}-${width}x${height}`;
      // The same bytes again: the time is new, so that it stays until a look has it.
      await collection.put(id, { bytes: png, createdAt: clock() });
      return { id, width, height };
    },
  };
}
