// The acts of a resource that is not a list of items; resource-acts.ts adds those of one that is.
import type { Static, TObject, TSchema } from 'typebox';
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
  type Nothing,
  type Route,
} from './route.ts';

/** A handle and its implementation. */
export interface Act<Ports, Params, Query, Body, Data> extends Handle<Params, Query, Body, Data> {
  bind(ports: Ports): Route;
}

export type Run<Ports, Params, Query, Body, Result> = (
  input: Input<Params, Query, Body>,
  ports: Ports,
) => Promise<Result>;

export const bound = <Ports, Params, Query, Body, Data>(
  handle: Handle<Params, Query, Body, Data>,
  run: Run<Ports, Params, Query, Body, Answer<Data>>,
): Act<Ports, Params, Query, Body, Data> => ({
  ...handle,
  bind: (ports) => implement(handle, (input) => run(input, ports)),
});

export const createRouteKit = <Ports>(tag: string) => ({
  /** Any act that fits none of the others. With status 204 it returns `noContent`. */
  route: <
    P extends TObject = Nothing,
    Q extends TObject = Nothing,
    B extends TSchema = Nothing,
    S extends TSchema = TSchema,
    Data extends Static<S> = Static<S>,
  >({
    run,
    ...declaration
  }: Omit<Declaration<P, Q, B, S>, 'tag'> & {
    readonly run: Run<Ports, Static<P>, Static<Q>, Static<B>, Answer<Data>>;
  }): Act<Ports, Static<P>, Static<Q>, Static<B>, Data> =>
    bound(declareAs<P, Q, B, Data>({ ...declaration, tag }), run),

  /** Reads newline-delimited JSON; `run` returns the result of each line. */
  lines<R extends TSchema>({
    run,
    ...declaration
  }: Omit<Parameters<typeof declareLines<R>>[0], 'tag'> & {
    readonly run: (input: LinesInput, ports: Ports) => Promise<readonly Static<R>[]>;
  }): LinesHandle<Static<R>> & { bind(ports: Ports): Route } {
    const handle = declareLines({ ...declaration, tag });
    return { ...handle, bind: (ports) => implementLines(handle, (input) => run(input, ports)) };
  },
});

export type RouteKit<Ports> = ReturnType<typeof createRouteKit<Ports>>;
