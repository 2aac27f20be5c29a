// Part of the data model (collections.ts): how pages look, for the installation and for applications, and their pictures.
import type { CollectionDefinition } from './port.ts';

type InLanguages<T> = Readonly<Record<string, T>>;

/** Everything may be absent: of an application, then the installation's; of that, then the product's own. */
export interface Look {
  /** Ids of pictures. */
  readonly logo?: string;
  readonly logoDark?: string;
  readonly icon?: string;
  /** The logo shows the product's name: it is not written beside it. */
  readonly isNameInLogo?: boolean;
  /** `#rrggbb`, as picked; what pages have is computed (src/views/palette.ts). */
  readonly accent?: string;
  readonly accentDark?: string;
  readonly background?: string;
  readonly backgroundDark?: string;
  /** The id of a picture, over either of the two. */
  readonly backgroundPicture?: string;
  readonly isGradient?: boolean;
  /** In CSS pixels. */
  readonly radius?: number;
  readonly font?: string;
  readonly layout?: 'card' | 'split';
  readonly texts?: InLanguages<{
    readonly welcome?: string;
    readonly panel?: string;
    readonly help?: string;
  }>;
  readonly links?: readonly { readonly url: string; readonly labels: InLanguages<string> }[];
  /** Of the id `mails` alone: texts in place of shipped ones, by language and `<mail>.<text>`. */
  readonly mails?: InLanguages<Readonly<Record<string, string>>>;
}

/** The id is `default`, `mails`, or `client:` and a client_id. */
export interface LookRecord {
  readonly look: Look;
  /** Of the version that it is. */
  readonly number: number;
  readonly at: number;
  /** `kind:id` of the caller. */
  readonly by: string;
}

export const looks: CollectionDefinition<LookRecord> = {
  name: 'looks',
  durability: 'durable',
  indexes: {},
  fields: { at: { type: 'number', of: (l) => l.at } },
};

/** What a look was; the id is that of the look, a colon and the number. */
export interface LookVersionRecord extends LookRecord {
  readonly target: string;
  /** The number of the version that it brought back. */
  readonly restored?: number;
}

export const lookVersions: CollectionDefinition<LookVersionRecord> = {
  name: 'look_versions',
  durability: 'durable',
  indexes: { target: { key: (v) => v.target } },
  fields: { at: { type: 'number', of: (v) => v.at } },
};

/** The id is a digest of the bytes, a hyphen and the size (`…-320x96`); never changed, so that it may be cached for ever. */
export interface PictureRecord {
  /** Base64. */
  readonly bytes: string;
  /** Absent: a PNG, which mails can show as well. */
  readonly type?: 'webp';
  readonly createdAt: number;
}

export const pictures: CollectionDefinition<PictureRecord> = {
  name: 'pictures',
  durability: 'durable',
  indexes: {},
  fields: { created_at: { type: 'number', of: (p) => p.createdAt } },
};
