// The square of a picture that its owner chose, as the page's script and the API's query name it: in pixels of the picture as
// it is seen, its left upper corner and its side.
import type { Crop } from '../avatars/index.ts';

const cropNames = ['crop_x', 'crop_y', 'crop_size'] as const;
type CropName = (typeof cropNames)[number];

/** More digits than a picture that we decode has pixels at a side. */
const pixels = /^\d{1,5}$/;

interface ReadCrop {
  readonly crop?: Crop;
  /** Those that are missing, or no number that a picture can have. */
  readonly wrong: readonly CropName[];
}

/** @returns neither where none of the three is there: then the middle is taken */
export function readCrop(textOf: (name: CropName) => unknown): ReadCrop {
  const [x, y, size] = cropNames.map(textOf);
  if (x === undefined && y === undefined && size === undefined) return { wrong: [] };
  const read = (value: unknown): number =>
    typeof value === 'string' && pixels.test(value) ? Number(value) : Number.NaN;
  const crop = { x: read(x), y: read(y), size: read(size) };
  const isRight = { crop_x: crop.x >= 0, crop_y: crop.y >= 0, crop_size: crop.size >= 1 };
  const wrong = cropNames.filter((name) => !isRight[name]);
  return wrong.length > 0 ? { wrong } : { crop, wrong };
}
