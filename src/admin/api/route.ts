// Defines routes. The handle holds everything known without a running server: method, path, input, output and audit
// event; how sensitive it is, the table of all acts says (sensitivity.ts). Validation, types and the OpenAPI document are derived from it. The implementation is added when the server
// is assembled.
import type { Static, TObject, TSchema } from 'typebox';
import { AppError } from '../../errors.ts';
import type { EventName, RecordedEvent, Target } from '../../events/index.ts';
import type { Line, LineOptions } from '../../http/index.ts';
import type { Queued } from '../../mail/index.ts';
import type { Actor } from './ports.ts';
import { object } from './schema-parts.ts';
import { type Sensitivity, sensitivityOf } from './sensitivity.ts';
import { createValidator, type Validator } from './validate.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Input<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly actor: Actor;
  /** The version that If-Match requires; -1 for an entity tag that no item can have. */
  readonly ifVersion: number | undefined;
}

/** Input before validation. */
export type RawInput = Input<unknown, unknown, unknown>;

export interface Answer<Data> {
  readonly data: Data;
  /** Sent as the ETag. */
  readonly version?: number | undefined;
  /** For a created item: its id, the last part of its address. */
  readonly id?: string | undefined;
  /** Of an act that mails something (`success.hasMail`): what became of the mail so far; undefined: none was asked for. */
  readonly mail?: Queued | undefined;
  /** The changed or deleted item as it was; absent: there was none, or its route compares nothing (`Recorded.view`). */
  readonly before?: object | undefined;
  /** What the audit log says of it in place of what the route declares: what became of it, whom it was about. */
  readonly recorded?: Outcome | undefined;
}

/** Members that are undefined leave what the route declares. */
type Outcome = Partial<
  Pick<RecordedEvent, 'event' | 'outcome' | 'reason' | 'target' | 'clientId' | 'details'>
>;

/** What a removal returns that says more of itself than its route declares: what it was is gone then. */
export class Told {
  readonly outcome: Outcome;
  readonly before: object | undefined;
  constructor(outcome: Outcome, before?: object) {
    this.outcome = outcome;
    this.before = before;
  }
}

/** Result of a route with status 204. */
export const noContent: Answer<undefined> = { data: undefined };

/** How a success is recorded in the audit log. */
export interface Recorded {
  readonly event: EventName;
  readonly target?: Target['kind'] | undefined;
  /** Which views are compared before and after; default: none. */
  readonly view?: 'user' | 'client' | 'settings' | undefined;
  /** Whether the body holds no secret and no personal data, so that it is recorded unchanged. */
  readonly isBodyShown?: boolean | undefined;
  /** The user is the target; the event names the group as well. */
  readonly isMembership?: boolean;
}

export interface Success<S extends TSchema = TSchema> {
  readonly status: 200 | 201 | 204;
  /** Absent: no body (204). */
  readonly schema?: S;
  /** Whether the response has a version, sent as its ETag. */
  readonly hasVersion?: boolean;
  /** Whether the response says beside its data what became of a mail. */
  readonly hasMail?: boolean;
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
  /** The most bytes of a body; default: those of every JSON body. */
  readonly bodyBytes?: number;
  /** Whether an empty body is read as `{}`. */
  readonly isBodyOptional?: boolean;
  /** Absent: the route only reads, otherwise test/audit fails. */
  readonly recorded?: Recorded;
  /** Reading this also requires full access, as every change does. */
  readonly needs?: 'admin';
  /** Changes one versioned item that the path does not identify: the body names it, or there is only one. */
  readonly hasTarget?: boolean;
  /** The changed item has no version, so no `If-Match` can be satisfied (RFC 9110 §13.1.1). */
  readonly isUnversioned?: boolean;
  /** Whether the request is a dry run, which records nothing. */
  readonly isDryRun?: (input: RawInput) => boolean;
  readonly success: Success<S>;
  /** The response is sent without the `data` envelope. */
  readonly isBare?: boolean;
}

type AnyDeclaration = Declaration<TObject, TObject, TSchema, TSchema>;

const nothing = object({});
export type Nothing = typeof nothing;

/** A route as a static value: a page that calls it passes `Params` and receives `Data`. */
export interface Handle<Params, Query, Body, Data> extends AnyDeclaration {
  readonly sensitivity: Sensitivity;
  readonly check: {
    readonly params: Validator<Params>;
    readonly query: Validator<Query>;
    readonly body: Validator<Body>;
  };
  /** The typed results of this route's implementations: no page needs a cast or a second validation. */
  readonly answers: WeakMap<object, Answer<Data>>;
}

type Run<Params, Query, Body, Data> = (
  input: Input<Params, Query, Body>,
) => Promise<Answer<Data> | undefined>;

/** Routes that accept an `Idempotency-Key`. */
export const isCreating = ({ method, success }: Pick<Route, 'method' | 'success'>): boolean =>
  method === 'POST' && success.status === 201;

/** Routes that honour `If-Match`: every change of one item. */
export const isConditional = (
  route: Pick<Route, 'method' | 'params' | 'hasTarget' | 'isUnversioned'>,
): boolean =>
  route.method !== 'GET' &&
  route.isUnversioned !== true &&
  (route.params !== undefined || route.hasTarget === true);

/** An implemented route. Schema types end here: callers see the same type for every route. */
export interface Route extends AnyDeclaration {
  readonly sensitivity: Sensitivity;
  /** @throws AppError request.invalid with `fields`, and the errors of the handler */
  readonly run: (input: RawInput) => Promise<Answer<unknown> | undefined>;
  /** Reads lines instead of a body and returns lines; `run` is not called then. */
  readonly lines?: LinesDeclaration & {
    readonly run: (input: LinesInput) => Promise<Answer<readonly unknown[]>>;
  };
}

/** Key of a route: method and path. */
export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

export interface LinesInput {
  readonly lines: AsyncIterable<Line>;
  readonly actor: Actor;
}

interface LinesDeclaration<Result extends TSchema = TSchema> extends LineOptions {
  /** The schemas of an input line and of its result. */
  readonly row: TSchema;
  readonly result: Result;
}

/** A route that reads newline-delimited JSON, as a static value. */
export interface LinesHandle<Result> extends Handle<object, object, unknown, readonly Result[]> {
  readonly lines: LinesDeclaration;
}

/** Where a route declares no schema, its type parameter is its default, `Nothing`, which makes this cast safe. */
const orNothing = <S extends TSchema>(schema: S | undefined): S => schema ?? (nothing as TSchema as S);

/** @returns a handle whose responses are `Data`, which must match the schema */
export const declareAs = <P extends TObject, Q extends TObject, B extends TSchema, Data>(
  declaration: Declaration<P, Q, B, TSchema>,
): Handle<Static<P>, Static<Q>, Static<B>, Data> => ({
  ...declaration,
  sensitivity: sensitivityOf(declaration),
  check: {
    params: createValidator(orNothing(declaration.params)),
    query: createValidator(orNothing(declaration.query), 'query'),
    body: createValidator(orNothing(declaration.body)),
  },
  answers: new WeakMap(),
});

const declareRoute = <
  P extends TObject = Nothing,
  Q extends TObject = Nothing,
  B extends TSchema = Nothing,
  S extends TSchema = TSchema,
>(
  declaration: Declaration<P, Q, B, S>,
): Handle<Static<P>, Static<Q>, Static<B>, Static<S>> => declareAs(declaration);

/** @returns the route that calls `run` with the validated input */
export function implement<Params, Query, Body, Data>(
  { answers, check, ...declaration }: Handle<Params, Query, Body, Data>,
  run: Run<Params, Query, Body, Data>,
): Route {
  return {
    ...declaration,
    run: async ({ actor, ifVersion, params, query, body }) => {
      // An id with an invalid format identifies no item.
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

export const declareLines = <R extends TSchema>({
  lines,
  ...declaration
}: Pick<Route, 'method' | 'path' | 'tag' | 'summary' | 'recorded'> & {
  readonly lines: LinesDeclaration<R>;
}): LinesHandle<Static<R>> => ({ ...declareAs({ ...declaration, success: { status: 200 } }), lines });

/** @returns the route that calls `run` with the lines, and answers with one result for each */
export const implementLines = <Result>(
  { answers, check: _, lines, ...declaration }: LinesHandle<Result>,
  run: (input: LinesInput) => Promise<readonly Result[]>,
): Route => ({
  ...declaration,
  lines: {
    ...lines,
    async run(input) {
      const answer = { data: await run(input) };
      answers.set(answer, answer);
      return answer;
    },
  },
  run: async () => {
    throw new TypeError('this route reads lines');
  },
});

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
