// The acts of a resource that is not a list of items; resource-acts.ts adds those of one that is.
import type { Static, TObject, TSchema } from 'typebox';
import type { AdminPorts } from './ports.ts';
import {
  type Answer,
  type Declaration,
  declareAs,
  declareLines,
  type Handle,
  type Input,
  implement,
  implementLines,
  type LinesHandle,
  type LinesInput,
  type Method,
  type Nothing,
  type Route,
  type Success,
} from './route.ts';

/** A handle and its implementation. */
export interface Act<Params, Query, Body, Data> extends Handle<Params, Query, Body, Data> {
  bind(ports: AdminPorts): Route;
}

export type Run<Params, Query, Body, Result> = (
  input: Input<Params, Query, Body>,
  ports: AdminPorts,
) => Promise<Result>;

export const bound = <Params, Query, Body, Data>(
  handle: Handle<Params, Query, Body, Data>,
  run: Run<Params, Query, Body, Answer<Data>>,
): Act<Params, Query, Body, Data> => ({
  ...handle,
  bind: (ports) => implement(handle, (input) => run(input, ports)),
});

/** As src/model/acts.ts has them. */
type Name = `${Method} /${string}`;

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function addressOf(name: Name): Pick<Route, 'method' | 'path'> {
  const [given, path = ''] = name.split(' ');
  const method = methods.find((one) => one === given);
  if (method === undefined) throw new TypeError(`${given} is no method of a route`);
  return { method, path };
}

/** What a success is. */
interface Answers<S extends TSchema> extends Pick<Success, 'hasVersion' | 'hasMail'> {
  /** Absent: no body. */
  readonly answer?: S;
  /** Default: 200, or 204 without a body. */
  readonly status?: 200 | 201;
}

export const createRouteKit = (tag: string) => ({
  /** Any act that fits none of the others. With status 204 it returns `noContent`. */
  route: <
    P extends TObject = Nothing,
    Q extends TObject = Nothing,
    B extends TSchema = Nothing,
    S extends TSchema = TSchema,
    Data extends Static<S> = Static<S>,
  >(
    name: Name,
    {
      run,
      answer,
      status,
      hasVersion,
      hasMail,
      ...declaration
    }: Omit<Declaration<P, Q, B, S>, 'tag' | 'method' | 'path' | 'success'> &
      Answers<S> & {
        readonly run: Run<Static<P>, Static<Q>, Static<B>, Answer<Data>>;
      },
  ): Act<Static<P>, Static<Q>, Static<B>, Data> => {
    const success = {
      status: status ?? (answer === undefined ? 204 : 200),
      ...(answer && { schema: answer }),
      ...(hasVersion && { hasVersion }),
      ...(hasMail && { hasMail }),
    } as const;
    return bound(declareAs<P, Q, B, Data>({ ...declaration, ...addressOf(name), tag, success }), run);
  },

  /** Reads newline-delimited JSON; `run` returns the result of each line. */
  lines<R extends TSchema>(
    name: Name,
    {
      run,
      ...declaration
    }: Omit<Parameters<typeof declareLines<R>>[0], 'tag' | 'method' | 'path'> & {
      readonly run: (input: LinesInput, ports: AdminPorts) => Promise<readonly Static<R>[]>;
    },
  ): LinesHandle<Static<R>> & { bind(ports: AdminPorts): Route } {
    const handle = declareLines({ ...declaration, ...addressOf(name), tag });
    return { ...handle, bind: (ports) => implementLines(handle, (input) => run(input, ports)) };
  },
});

export type RouteKit = ReturnType<typeof createRouteKit>;
