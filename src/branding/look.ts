// A look as such: which pictures it has, and what an application's makes of the installation's.
import type { Look } from '../store/looks.ts';

const pictureNames = ['logo', 'logoDark', 'icon', 'backgroundPicture'] as const;
const wireNames = {
  logo: 'logo',
  logoDark: 'logo_dark',
  icon: 'icon',
  backgroundPicture: 'background_picture',
} as const;

/** @returns the pictures by the wire name of their member */
export const picturesOf = (look: Look): [name: string, id: string][] =>
  pictureNames.flatMap((name) => {
    const id = look[name];
    return id === undefined ? [] : [[wireNames[name], id]];
  });

/**
 * What belongs together is never mixed: a logo with its dark form and whether it shows the name; a colour with its dark form, and
 * a background colour with the picture over it, which would hide it.
 * @returns marked as an application's, so that pages say whose they are
 */
export function merged(ofAll: Look | undefined, own: Look): Look & { readonly isOfApplication: true } {
  const {
    logo,
    logoDark,
    isNameInLogo: _,
    accent,
    accentDark,
    background,
    backgroundDark,
    backgroundPicture,
    ...others
  } = ofAll ?? {};
  const { isNameInLogo: __, ...ours } = own;
  return {
    ...others,
    ...(own.logo === undefined && { ...(logo && { logo }), ...(logoDark && { logoDark }) }),
    ...(own.accent === undefined && { ...(accent && { accent }), ...(accentDark && { accentDark }) }),
    ...(own.background === undefined && {
      ...(background && { background }),
      ...(backgroundDark && { backgroundDark }),
      ...(backgroundPicture && { backgroundPicture }),
    }),
    ...ours,
    // The product's name is always written out where an application has the page look like itself.
    isOfApplication: true,
  };
}
