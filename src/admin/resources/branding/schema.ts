// A look on the wire, and how it is stored. Null: not set. The rules of each member are here: what is stored has passed them.
import { Partial, type Static, type TSchema } from 'typebox';
import type { Look, SavedLook } from '../../../branding/index.ts';
import { oneLine } from '../../../model/text-kinds.ts';
import { fontNames, type languages } from '../../../views/index.ts';
import {
  array,
  boolean,
  integer,
  isoOrNull,
  object,
  oneOf,
  optional,
  orNull,
  strict,
  string,
  stringOrNull,
  timestampOrNull,
} from '../../api/schema-parts.ts';

const color = (description: string) =>
  orNull(string({ pattern: '^#[0-9A-Fa-f]{6}$', examples: ['#1f6f5c'] }), description);
/** The digest of its bytes and its size. */
export const pictureIdPattern = '^[A-Za-z0-9_-]{22}-[0-9]{1,4}x[0-9]{1,4}$';
const picture = (description: string) =>
  orNull(string({ pattern: pictureIdPattern, examples: ['b3kZ0mKq1hUu0f1Vq2cXtA-320x96'] }), description);
const text = (maxLength: number, description: string) =>
  optional(orNull(string({ minLength: 1, maxLength, pattern: oneLine }), description));

/** Where a link of the pages may lead: never a script, never a path of this server that a form could be at. */
const link = string({
  minLength: 1,
  maxLength: 500,
  pattern: '^(?:https://[^/]|mailto:)[!-~]+$',
  examples: ['https://help.example.com/'],
  description: 'Where it leads: an address with `https:` or `mailto:`.',
});

/** Written out, so that the types know each: a test holds it equal to the languages of the pages. */
const inLanguages = <S extends TSchema>(schema: () => S, description: string) => {
  const one = () => optional(schema());
  return object(
    { en: one(), de: one(), es: one(), fr: one(), pt: one(), ja: one(), ar: one() } satisfies Record<
      (typeof languages)[number],
      unknown
    >,
    description,
  );
};

const texts = () =>
  inLanguages(
    () =>
      object(
        {
          welcome: text(120, 'A line above the form, and large on the panel of a split page.'),
          panel: text(300, 'Below it on the panel of a split page.'),
          help: text(200, 'A sentence below the card.'),
        },
        'The texts in this language.',
      ),
    'Texts by language. A page whose language has none shows the English one.',
  );

const links = () =>
  array(
    object(
      {
        url: link,
        labels: inLanguages(
          () => string({ minLength: 1, maxLength: 40, pattern: oneLine, description: 'The words.' }),
          'What it is called, by language. A page whose language has none shows the English one.',
        ),
      },
      'A link.',
    ),
    { maxItems: 6, description: 'Links below the card, before those of the settings.' },
  );

const members = {
  accent: color(
    'Buttons and links; null: the setting `accent_color`. Pages use the nearest readable colour.',
  ),
  accent_dark: color('The same where the system is dark; null: derived.'),
  background: color('Behind the card; null: the product’s own.'),
  background_dark: color('The same where the system is dark; null: derived.'),
  background_picture: picture(
    'A picture over the background: the id of one that was uploaded for this use. No text stands on it.',
  ),
  is_gradient: orNull(boolean(), 'Whether the background shades into the accent.'),
  radius: orNull(integer({ minimum: 0, maximum: 24 }), 'Of corners, in pixels; null: 10.'),
  font: orNull(oneOf(fontNames), 'A family of fonts that come with systems.'),
  layout: orNull(oneOf(['card', 'split']), 'A card in the middle, or beside a panel.'),
  logo: picture('The logo: the id of an uploaded picture.'),
  logo_dark: picture('The logo where the system is dark.'),
  icon: picture('The icon of browser tabs; of an application, its tile.'),
  is_name_in_logo: orNull(
    boolean(),
    'Whether the logo shows the product’s name, which is then not written beside it.',
  ),
  texts: texts(),
  links: links(),
};

export const lookBody = Partial(object(members), strict);
export type LookBody = Static<typeof lookBody>;

export const lookSchema = object(
  {
    ...members,
    updated_at: timestampOrNull('When it was saved; null: never.'),
    updated_by: stringOrNull('Who saved it, as `kind:id`.'),
  },
  'How pages look.',
);
export type LookView = Static<typeof lookSchema>;

/** @returns the members of a look, null where one is not set */
export const shownLook = (look: Look) => ({
  logo: look.logo ?? null,
  logo_dark: look.logoDark ?? null,
  icon: look.icon ?? null,
  is_name_in_logo: look.isNameInLogo ?? null,
  accent: look.accent ?? null,
  accent_dark: look.accentDark ?? null,
  background: look.background ?? null,
  background_dark: look.backgroundDark ?? null,
  background_picture: look.backgroundPicture ?? null,
  is_gradient: look.isGradient ?? null,
  radius: look.radius ?? null,
  font: fontNames.find((name) => name === look.font) ?? null,
  layout: look.layout ?? null,
  texts: look.texts ?? {},
  links: (look.links ?? []).map(({ url, labels }) => ({ url, labels })),
});

export const shownSaved = ({ look, at, by }: SavedLook): LookView => ({
  ...shownLook(look),
  updated_at: isoOrNull(at),
  updated_by: by ?? null,
});

/** Without what is undefined or null: an absent member is one that is not set. */
const filled = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined && one !== null));

type Texts = NonNullable<LookBody['texts']>;

function textsOf(texts: Texts): Look['texts'] {
  const each = Object.entries(texts).flatMap(([language, one]) => {
    const own = filled(one ?? {});
    return Object.keys(own).length === 0 ? [] : [[language, own] as const];
  });
  return each.length === 0 ? undefined : Object.fromEntries(each);
}

function linksOf(links: NonNullable<LookBody['links']>): Look['links'] {
  const each = links.map(({ url, labels }) => ({ url, labels: filled(labels) }));
  return each.length === 0 ? undefined : each;
}

/** @param body has passed `lookBody` */
export const toLook = (body: LookBody): Look =>
  filled({
    logo: body.logo,
    logoDark: body.logo_dark,
    icon: body.icon,
    isNameInLogo: body.is_name_in_logo,
    accent: body.accent?.toLowerCase(),
    accentDark: body.accent_dark?.toLowerCase(),
    background: body.background?.toLowerCase(),
    backgroundDark: body.background_dark?.toLowerCase(),
    backgroundPicture: body.background_picture,
    isGradient: body.is_gradient,
    radius: body.radius,
    font: body.font,
    layout: body.layout,
    texts: textsOf(body.texts ?? {}),
    links: linksOf(body.links ?? []),
  });
