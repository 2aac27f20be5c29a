// The pictures of looks: uploaded before a look names them, and what is kept of each.
import { MAX_PICTURE_BYTES } from '../../../branding/index.ts';
import { AppError } from '../../../errors.ts';
import { defineRoutes } from '../../api/define-resource.ts';
import { integer, object, oneOf, optional, string } from '../../api/schema-parts.ts';
import { pictureIdPattern } from './schema.ts';

/** Base64 is four characters for three bytes. */
const MAX_BASE64 = Math.ceil(MAX_PICTURE_BYTES / 3) * 4;
const pictureBody = object({
  data: string({
    minLength: 4,
    maxLength: MAX_BASE64,
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    examples: [
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    ],
    description: 'A PNG, JPEG or WebP of at most 1 MB, in base64.',
  }),
  use: optional(
    oneOf(
      ['logo', 'background'],
      '`logo`: of a logo or an icon, the default. `background`: of `background_picture`.',
    ),
  ),
});
const pictureParams = object({
  picture: string({
    pattern: pictureIdPattern,
    examples: ['b3kZ0mKq1hUu0f1Vq2cXtA-320x96'],
    description: 'The `id` of the picture.',
  }),
});
const pictureSchema = object(
  {
    id: string('What a look names it by.'),
    width: integer('In pixels, as it is kept.'),
    height: integer('In pixels, as it is kept.'),
    bytes: integer('What it weighs, as it is sent to browsers.'),
  },
  'A picture. One that no look has is removed after a day.',
);

export const lookPictures = defineRoutes('Branding', (on) => ({
  upload: on.route('POST /branding/pictures', {
    recorded: { event: 'branding.picture_uploaded', target: 'setting' },
    summary: 'Upload a picture: a logo, an icon or a background, encoded anew and kept by this server',
    body: pictureBody,
    bodyBytes: MAX_BASE64 + 1000,
    status: 201,
    answer: pictureSchema,
    async run({ body }, { pictures }) {
      const picture = await pictures.add(Buffer.from(body.data, 'base64'), body.use ?? 'logo');
      return { data: picture };
    },
  }),
  read: on.route('GET /branding/pictures/{picture}', {
    summary: 'Read the size and weight of a picture; the picture itself is at `/pictures/`',
    params: pictureParams,
    answer: pictureSchema,
    async run({ params }, { pictures }) {
      const picture = await pictures.describe(params.picture);
      if (picture === undefined) throw new AppError('request.not_found');
      return { data: picture };
    },
  }),
}));
