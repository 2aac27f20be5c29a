// Calls routes of the REST API from pages: as the signed-in administrator, in this process.
import { AppError } from '../../errors.ts';
import { linesOfText } from '../../http/index.ts';
import { type Perform, requireAccess, requireFresh } from '../api/perform.ts';
import type { Actor } from '../api/ports.ts';
import { readQueryString } from '../api/query-string.ts';
import { type Answer, type Handle, type LinesHandle, nameOf, type Route } from '../api/route.ts';
import type { CallResult, HandleInput } from './page.ts';
import type { SignedInAdmin } from './signed-in-admin.ts';

/** The route's own answer, with its type. */
function typedBy<Data>(
  handle: Pick<Handle<unknown, unknown, unknown, Data>, 'method' | 'path' | 'answers'>,
  answer: Answer<unknown> | undefined,
): Answer<Data> {
  const typed = answer && handle.answers.get(answer);
  if (typed === undefined) throw new TypeError(`${nameOf(handle)} gave no answer of its own`);
  return typed;
}

type Caller = Pick<SignedInAdmin, 'access' | 'isFresh'> & { readonly account: { readonly id: string } };

/** @throws AppError auth.insufficient_scope for a user whose role no longer gives access */
export function actorOf({ account, access, isFresh }: Caller): Actor {
  if (access === undefined) throw new AppError('auth.insufficient_scope');
  return { kind: 'user', id: account.id, access, isFresh: async () => isFresh };
}

export function createCalls(routes: readonly Route[], perform: Perform) {
  const byName = new Map(routes.map((route) => [nameOf(route), route]));

  const routeOf = (handle: Pick<Route, 'method' | 'path'>): Route => {
    const route = byName.get(nameOf(handle));
    if (route === undefined) throw new TypeError(`there is no route ${nameOf(handle)}`);
    return route;
  };

  async function callLines<Result>(
    who: Caller,
    handle: LinesHandle<Result>,
    text: string,
  ): Promise<readonly Result[]> {
    const route = routeOf(handle);
    const { lines } = route;
    if (lines === undefined) throw new TypeError(`${route.path} takes no lines`);
    const actor = actorOf(who);
    requireAccess(route, actor);
    await requireFresh(route, { actor, query: {}, body: {} });
    return typedBy(handle, await lines.run({ lines: linesOfText(text, lines), actor })).data;
  }

  async function call<Params, Query, Body, Data>(
    who: Caller,
    handle: Handle<Params, Query, Body, Data>,
    { params = {}, query = {}, body = {}, ifVersion }: HandleInput<unknown, unknown>,
  ): Promise<CallResult<Data>> {
    const route = routeOf(handle);
    const answer = await perform(route, {
      actor: actorOf(who),
      params,
      query: readQueryString(new URLSearchParams(query).toString(), route.query),
      body,
      ifVersion,
    });
    const { data, version, mail } = typedBy(handle, answer);
    return { data, version, mail };
  }

  return { call, callLines };
}
