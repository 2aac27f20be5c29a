// What a route is. The handle says everything that is known without a running server: method, path, what may come in, what
// goes out, how sensitive it is, what the audit log calls it. Validation, types and the OpenAPI document come from it. The
// implementation is added to it when the server is built.
import { Object as ObjectSchema, type Static, type TObject, type TSchema } from 'typebox';
import { AppError } from '../../errors.ts';
import type { EventName, Target } from '../../events/index.ts';
import type { Line, LineOptions } from '../../http/lines.ts';
import type { Actor } from './ports.ts';
import { createValidator, type Validator } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Input<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly actor: Actor;
  /** The version that If-Match asks for; -1 for an entity tag that can be nobody's. */
  readonly ifVersion: number | undefined;
}

/** Input before it is checked. */
export type RawInput = Input<unknown, unknown, unknown>;

export interface Answer<Data> {
  readonly data: Data;
  /** Becomes the ETag. */
  readonly version?: number | undefined;
  /** Of something new: its id, as the last part of its address. */
  readonly id?: string | undefined;
}

/** Of a route that answers 204. */
export const noContent: Answer<undefined> = { data: undefined };

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

/** What a success becomes in the audit log. */
export interface Recorded {
  readonly event: EventName;
  readonly target?: Target['kind'] | undefined;
  /** Which views are compared; default: none. */
  readonly view?: 'user' | 'client' | 'settings';
  /** Whether the body holds no secret and nothing about a person, so that it is recorded as it came. */
  readonly isBodyShown?: boolean | undefined;
  /** The user is the target, the group is named beside it. */
  readonly isMembership?: boolean;
}

export interface Declaration<P extends TObject, Q extends TObject, B extends TSchema, S extends TSchema> {
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
  /** Absent: it only reads, or test/audit fails. */
  readonly recorded?: Recorded;
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
}

type AnyDeclaration = Declaration<TObject, TObject, TSchema, TSchema>;

const nothing = ObjectSchema({}, { additionalProperties: false });
export type Nothing = typeof nothing;

/** A route as a static value: a page that calls it by this gives `Params` and gets `Data`. */
export interface Handle<Params, Query, Body, Data> extends AnyDeclaration {
  readonly check: {
    readonly params: Validator<Params>;
    readonly query: Validator<Query>;
    readonly body: Validator<Body>;
  };
  /** What implementations of this route answered, under its type: no page needs a cast or a second check. */
  readonly answers: WeakMap<object, Answer<Data>>;
}

type Run<Params, Query, Body, Data> = (
  input: Input<Params, Query, Body>,
) => Promise<Answer<Data> | undefined>;

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

/** An implemented route. Schema types end here: outside, every route looks the same. */
export interface Route extends AnyDeclaration {
  /** @throws AppError request.invalid with `fields`, and whatever the handler refuses */
  readonly run: (input: RawInput) => Promise<Answer<unknown> | undefined>;
  /** Takes lines instead of a body, and answers lines; `run` is not called then. */
  readonly lines?: LinesDeclaration & {
    readonly run: (input: { readonly lines: AsyncIterable<Line>; readonly actor: Actor }) => Promise<string>;
  };
}

/** How routes are found: by method and path. */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

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
}: Pick<Route, 'method' | 'path' | 'tag' | 'summary' | 'sensitivity' | 'recorded'> & {
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

/** Where a route declares no schema, its type parameter is left at its default, `Nothing`: so this cast is true. */
const orNothing = <S extends TSchema>(schema: S | undefined): S => schema ?? (nothing as TSchema as S);

/** @returns a handle whose answers are `Data`, which must be what the schema says */
export const declareAs = <P extends TObject, Q extends TObject, B extends TSchema, Data>(
  declaration: Declaration<P, Q, B, TSchema>,
): Handle<Static<P>, Static<Q>, Static<B>, Data> => ({
  ...declaration,
  check: {
    params: createValidator(orNothing(declaration.params)),
    query: createValidator(orNothing(declaration.query), 'query'),
    body: createValidator(orNothing(declaration.body)),
  },
  answers: new WeakMap(),
});

export const declareRoute = <
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TSchema = Nothing,
  S extends TSchema = TSchema,
>(
  declaration: Declaration<P, Q, B, S>,
): Handle<Static<P>, Static<Q>, Static<B>, Static<S>> => declareAs(declaration);

/** @returns the route that does `run` with what was checked */
export function implement<Params, Query, Body, Data>(
  { answers, check, ...declaration }: Handle<Params, Query, Body, Data>,
  run: Run<Params, Query, Body, Data>,
): Route {
  return {
    ...declaration,
    run: async ({ actor, ifVersion, params, query, body }) => {
      // An id that cannot be one names nothing.
      if (!check.params.isValid(params)) throw new AppError('request.not_found');
      const input = {
        actor,
        ifVersion,
        params,
        query: check.query.parse(query),
        body: check.body.parse(body),
      };
      const answer = await run(input);
      if (answer !== undefined) answers.set(answer, answer);
      return answer;
    },
  };
}

/** Declares and implements a route that no page calls by its handle. */
export const defineRoute = <
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TSchema = Nothing,
  S extends TSchema = TSchema,
>({
  handle,
  ...declaration
}: Declaration<P, Q, B, S> & {
  readonly handle: Run<Static<P>, Static<Q>, Static<B>, Static<S>>;
}): Route => implement(declareRoute(declaration), handle);
