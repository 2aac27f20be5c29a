// What has to be said of every fact that is set, shown or kept. Left out, it does not compile: nothing is allowed by omission.
// src/api/walk.ts reads and writes records by these rows. What is said nowhere is a rule of its domain.
import type { Kind } from './kind.ts';

/** Who changes a record. `server`: nobody does. */
export type Setter = 'registrant' | 'owner' | 'administrator';

/**
 * Of changing it (decision 0011). plain: never. sensitive: whenever it is given. existing: where it changes what is there: something
 * new has nothing to take over. address: as `existing`, and where it is an e-mail address (of a new user it is one that counts).
 */
export type Sensitivity = 'plain' | 'sensitive' | 'existing' | 'address';

/** @typeParam T as it is stored @typeParam W as JSON has it */
export interface Row<T, W = T> {
  readonly kind: Kind<T, W>;
  /** Its place in the record: the name of a member, or of a member of one (`metadata.client_name`). Never renamed. */
  readonly stored: string;
  /**
   * What a record without it means, and is not stored. Null: shown as null, and `null` goes back to it. Undefined: neither stored
   * nor shown then, and `null` goes back to it.
   */
  readonly absent: T | null | undefined;
  /** Records have it even where it is what absence would mean. */
  readonly isAlwaysStored?: true;
  /** On pages, in every language. */
  readonly label: string;
  /** For programs, in English. */
  readonly description: string;
  /** On pages, in every language, where the label does not say enough. */
  readonly hint: string | null;
  /** Beside administrators. */
  readonly setBy: Setter | 'server';
  readonly shownTo: 'everyone' | 'administrator' | 'nobody';
  readonly sensitivity: Sensitivity;
  /** In events: with its value before and after, by name alone, or not at all. */
  readonly reported: 'value' | 'name' | 'nothing';
  /** Its domain gives its two functions (`Special`): a row cannot import them, and their types come from the rows. */
  readonly isSpecial?: true;
}

export type Rows = Readonly<Record<string, Row<unknown>>>;

type Only<M, R> = R & { readonly [Name in Exclude<keyof R, keyof M>]: never };
type About<T> = Omit<Row<NoInfer<T>>, 'kind'>;

/** Of a resource whose facts say `More`: the scope that carries them, their name in a file. */
export const rowWith =
  <More>() =>
  <T, W, const R extends About<T> & More>(kind: Kind<T, W>, about: Only<Row<T, W> & More, R>) => ({
    ...about,
    kind,
  });

export const row = rowWith<unknown>();

export type ValueOf<R> = R extends { readonly kind: Kind<infer T, infer _> } ? T : never;
type SentOf<R> = R extends { readonly kind: Kind<infer _, infer W> } ? W : never;
type NamesOf<F, Is> = { [N in keyof F]: F[N] extends Is ? N : never }[keyof F];

type Outer<Place> = Place extends `${infer Name}.${string}` ? Name : Place;
type Inner<Place, In> = Place extends `${In & string}.${infer Name}` ? Name : never;
type Inside<F extends Rows, In> = {
  readonly [N in keyof F as Inner<F[N]['stored'], In>]?: ValueOf<F[N]>;
};

/** The members of a record that its rows speak of. Every one may be missing: an older version wrote it. */
export type Stored<F extends Rows> = {
  readonly [N in keyof F as Outer<F[N]['stored']>]?: F[N]['stored'] extends `${infer In}.${string}`
    ? Inside<F, In>
    : ValueOf<F[N]>;
};

/** What a record must be for its rows: what is inside of a member is left to its domain. */
export type Held<F extends Rows> = {
  readonly [N in keyof F as F[N] extends { readonly isSpecial: true }
    ? never
    : Outer<F[N]['stored']>]?: F[N]['stored'] extends `${string}.${string}` ? object : ValueOf<F[N]>;
};

type Hidden = {
  readonly everyone: { readonly shownTo: 'nobody' | 'administrator' };
  readonly administrator: { readonly shownTo: 'nobody' };
};
export type Viewer = keyof Hidden;
type Shown<F extends Rows, To extends Viewer> = Exclude<keyof F, NamesOf<F, Hidden[To]>>;
type Missing<F> = NamesOf<F, { readonly absent: undefined }>;

/** A record as JSON shows it. */
export type View<F extends Rows, To extends Viewer = 'administrator'> = {
  readonly [N in Exclude<Shown<F, To>, Missing<F>>]: SentOf<F[N]> | Extract<F[N]['absent'], null>;
} & { readonly [N in Extract<Shown<F, To>, Missing<F>>]?: SentOf<F[N]> };

/** Members that change; undefined for those that go. */
export type Change<R> = { readonly [M in keyof R]?: R[M] | undefined };

/** @typeParam R the record */
export interface Special<R, T, W = T> {
  show(record: R): W | null | undefined;
  /**
   * A ratchet, an id for an identifier, a date that follows from it.
   * @param record with the changes of the rows before it
   * @param to null: nothing is to be there
   */
  settle(record: R, to: T | null): Change<R>;
}

/** Exactly those that the rows call special: neither a missing nor a superfluous one compiles. Nobody sets what the server alone does. */
export type Specials<F extends Rows, R = Stored<F>> = {
  readonly [N in NamesOf<F, { readonly isSpecial: true }>]: F[N] extends { readonly setBy: 'server' }
    ? Pick<Special<R, ValueOf<F[N]>, SentOf<F[N]>>, 'show'>
    : Special<R, ValueOf<F[N]>, SentOf<F[N]>>;
};

type Fixed<F> = NamesOf<F, { readonly setBy: 'server' }>;

/** What JSON says of a change: by every name that can be set. */
export type Given<F extends Rows> = {
  readonly [N in Exclude<keyof F, Fixed<F>>]?: SentOf<F[N]> | Extract<F[N]['absent'], null> | undefined;
};
