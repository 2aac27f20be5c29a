// A look as a file: what it has and its pictures, so that another installation can take it. Read by the rules of the form.
import { Partial, type Static } from 'typebox';
import type { Look, Pictures, PictureUse } from '../../../branding/index.ts';
import { object, oneOf, strict, string } from '../../api/schema-parts.ts';
import { createValidator } from '../../api/validate.ts';
import { lookBody, shownLook } from './schema.ts';

export const pictureNames = ['logo', 'logo_dark', 'icon', 'background_picture'] as const;
type PictureName = (typeof pictureNames)[number];

export const useOfPicture = (name: PictureName): PictureUse =>
  name === 'background_picture' ? 'background' : 'logo';

/** Where it is served, below /pictures/. */
export const pictureFile = (name: PictureName, id: string): string =>
  `${id}.${useOfPicture(name) === 'background' ? 'webp' : 'png'}`;

/** What is kept has at most 10 kB, a background 200 kB; what is sent is judged by its upload. */
const data = (description: string) =>
  string({
    minLength: 4,
    maxLength: 400_000,
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    examples: ['iVBORw0KGgo='],
    description,
  });

export const lookFileSchema = object(
  {
    kind: oneOf(['latchkey-look'], 'What this is, so that no other file is taken for one.'),
    look: object(lookBody.properties, 'What pages look like.'),
    pictures: Partial(
      object({
        logo: data('The logo, a PNG in base64.'),
        logo_dark: data('The logo where the system is dark, the same.'),
        icon: data('The icon, the same.'),
        background_picture: data('The picture over the background, a WebP in base64.'),
      }),
      { ...strict, description: 'The pictures of the look, by the member that has each.' },
    ),
  },
  'A look with its pictures.',
);

const fileCheck = createValidator(
  object({ ...lookFileSchema.properties, look: Partial(object(lookBody.properties), strict) }),
  'json',
);
export const readLookFile = (value: unknown) => fileCheck.parse(value);

export async function lookFileOf(
  look: Look,
  pictures: Pick<Pictures, 'read'>,
): Promise<Static<typeof lookFileSchema>> {
  const shown = shownLook(look);
  const found = await Promise.all(
    pictureNames.map(async (name) => {
      const found = await pictures.read(shown[name] ?? '');
      return found === undefined ? [] : [[name, found.bytes.toString('base64')] as const];
    }),
  );
  return { kind: 'latchkey-look', look: shown, pictures: Object.fromEntries(found.flat()) };
}
