// Owns the declaration of a route: method, address, what may come in, what goes out, and what it does. Validation, types
// and the OpenAPI document all come from this one declaration.
import { Object as ObjectSchema, type Static, type TObject, type TSchema } from 'typebox';
import { AppError } from '../../errors.ts';
import type { Line, LineOptions } from '../../http/lines.ts';
import type { Actor } from './ports.ts';
import { createValidator } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Input<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly actor: Actor;
  /** The version that If-Match asks for; -1 for an entity tag that can be nobody's. */
  readonly ifVersion: number | undefined;
}

export interface Answer<Data> {
  readonly data: Data;
  /** Becomes the ETag. */
  readonly version?: number | undefined;
  /** Of something new: its id, as the last part of its address. */
  readonly id?: string | undefined;
}

/**
 * Whether a person who does this has to have authenticated for it within the last five minutes, as strongly as the account
 * can (decisions §8): what opens something to somebody, shows secrets, or cannot be undone. Programs have nobody to ask.
 */
export type Sensitivity =
  | 'plain'
  | 'sensitive'
  | {
      /** In words, for the table of all acts. */
      readonly when: string;
      readonly is: (input: Pick<RawInput, 'query' | 'body'>) => boolean;
    };

/** Sensitive when the body has one of these. */
export const sensitiveMembers = (...names: readonly string[]): Sensitivity => ({
  when: `with ${names.join(', ')}`,
  is: ({ body }) =>
    typeof body === 'object' && body !== null && names.some((name) => Object.hasOwn(body, name)),
});

interface Definition<P extends TObject, Q extends TObject, B extends TSchema, S extends TSchema> {
  readonly method: Method;
  /** Under /admin/api, parameters as `{name}`, as OpenAPI writes them. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** Whether an empty body stands for `{}`. */
  readonly isBodyOptional?: boolean;
  readonly sensitivity: Sensitivity;
  /** Beside everything that changes something: reading this too is for full administrators alone. */
  readonly needs?: 'admin';
  /** It changes one versioned thing that its path has no parameter for: the body names it, or there is only one. */
  readonly hasTarget?: boolean;
  /** What it changes has no version, so that no `If-Match` can be met (RFC 9110 §13.1.1). */
  readonly isUnversioned?: boolean;
  /** Whether a request only asks what would happen, so that there is nothing to write down. */
  readonly isTrial?: (input: RawInput) => boolean;
  readonly success: {
    readonly status: 200 | 201 | 204;
    /** Absent: there is no body (204). */
    readonly schema?: S;
    /** Whether the answer has a version, which becomes its ETag. */
    readonly hasVersion?: boolean;
  };
  /** The answer goes out as it is, without the `data` envelope. */
  readonly isBare?: boolean;
  readonly handle: (input: Input<Static<P>, Static<Q>, Static<B>>) => Promise<Answer<Static<S>> | undefined>;
}

/** Those that take an `Idempotency-Key`. */
export const isCreating = ({ method, success }: Pick<Route, 'method' | 'success'>): boolean =>
  method === 'POST' && success.status === 201;

/** Routes that obey `If-Match`: whatever changes one thing. */
export const isConditional = (
  route: Pick<Route, 'method' | 'params' | 'hasTarget' | 'isUnversioned'>,
): boolean =>
  route.method !== 'GET' &&
  route.isUnversioned !== true &&
  (route.params !== undefined || route.hasTarget === true);

/** Input before it is checked. */
export type RawInput = Input<unknown, unknown, unknown>;

export interface Route extends Omit<Definition<TObject, TObject, TSchema, TSchema>, 'handle'> {
  /** @throws AppError request.invalid with `fields`, and whatever the handler refuses */
  readonly run: (input: RawInput) => Promise<Answer<unknown> | undefined>;
  /** Takes lines instead of a body, and answers lines; `run` is not called then. */
  readonly lines?: LinesDeclaration & {
    readonly run: (input: { readonly lines: AsyncIterable<Line>; readonly actor: Actor }) => Promise<string>;
  };
}

interface LinesDeclaration extends LineOptions {
  /** What a line holds, and what is answered for it. */
  readonly row: TSchema;
  readonly result: TSchema;
}

/** Declares a route that reads newline-delimited JSON. */
export function defineLinesRoute({
  lines,
  handle,
  ...declaration
}: Pick<Route, 'method' | 'path' | 'tag' | 'summary' | 'sensitivity'> & {
  readonly lines: LinesDeclaration;
  readonly handle: NonNullable<Route['lines']>['run'];
}): Route {
  return {
    ...declaration,
    success: { status: 200 },
    lines: { ...lines, run: handle },
    run: async () => {
      throw new TypeError('this route reads lines');
    },
  };
}

const nothing = ObjectSchema({}, { additionalProperties: false });
type Nothing = typeof nothing;

/** Where a route declares no schema, its type parameter is left at its default, `Nothing`: so this cast is true. */
const orNothing = <S extends TSchema>(schema: S | undefined): S => schema ?? (nothing as TSchema as S);

/** Schema types flow into the handler here and end here: outside, every route looks the same. */
export function defineRoute<
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TSchema = Nothing,
  S extends TSchema = TSchema,
>({ handle, ...declaration }: Definition<P, Q, B, S>): Route {
  const params = createValidator(orNothing(declaration.params));
  const query = createValidator(orNothing(declaration.query), 'query');
  const body = createValidator(orNothing(declaration.body));
  return {
    ...declaration,
    run: async ({ actor, ifVersion, ...raw }) => {
      // An id that cannot be one names nothing.
      if (!params.isValid(raw.params)) throw new AppError('request.not_found');
      return handle({
        actor,
        ifVersion,
        params: raw.params,
        query: query.parse(raw.query),
        body: body.parse(raw.body),
      });
    },
  };
}
