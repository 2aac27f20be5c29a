// Calls routes of the REST API from pages: as the signed-in administrator, in this process.
import { AppError } from '../../errors.ts';
import { linesOfText } from '../../http/index.ts';
import { type Perform, requireAccess, requireFresh } from '../api/perform.ts';
import type { Actor } from '../api/ports.ts';
import { readQueryString } from '../api/query-string.ts';
import { type Answer, type Handle, type LinesHandle, nameOf, type Route } from '../api/route.ts';
import type { CallInput, CallResult, HandleInput, Values } from '../pages/page.ts';
import type { SignedInAdmin } from '../pages/signed-in-admin.ts';

const isValues = (value: unknown): value is Values => typeof value === 'object' && value !== null;

/** The route's own answer, with its type. */
function typedBy<Data>(
  handle: Pick<Handle<unknown, unknown, unknown, Data>, 'method' | 'path' | 'answers'>,
  answer: Answer<unknown> | undefined,
): Answer<Data> {
  const typed = answer && handle.answers.get(answer);
  if (typed === undefined) throw new TypeError(`${nameOf(handle)} gave no answer of its own`);
  return typed;
}

/** @throws AppError auth.insufficient_scope for a user whose role no longer gives access */
export function actorOf({ account, access, isFresh }: SignedInAdmin): Actor {
  if (access === undefined) throw new AppError('auth.insufficient_scope');
  return { kind: 'user', id: account.id, access, isFresh: async () => isFresh };
}

export function createCalls(deps: { readonly routes: readonly Route[]; readonly perform: Perform }) {
  const byName = new Map(deps.routes.map((route) => [nameOf(route), route]));

  const routeOf = (name: string): Route => {
    const route = byName.get(name);
    if (route === undefined) throw new TypeError(`there is no route ${name}`);
    return route;
  };

  async function callLines<Result>(
    who: SignedInAdmin,
    handle: LinesHandle<Result>,
    text: string,
  ): Promise<readonly Result[]> {
    const route = routeOf(nameOf(handle));
    const { lines } = route;
    if (lines === undefined) throw new TypeError(`${route.path} takes no lines`);
    const actor = actorOf(who);
    requireAccess(route, actor);
    await requireFresh(route, { actor, query: {}, body: {} });
    return typedBy(handle, await lines.run({ lines: linesOfText(text, lines), actor })).data;
  }

  function perform(who: SignedInAdmin, route: Route, input: HandleInput<unknown, unknown>) {
    const query = new URLSearchParams(input.query ?? {}).toString();
    return deps.perform(route, {
      actor: actorOf(who),
      params: input.params ?? {},
      query: readQueryString(query, route.query),
      body: input.body ?? {},
      ifVersion: input.ifVersion,
    });
  }

  async function call<Params, Query, Body, Data>(
    who: SignedInAdmin,
    handle: Handle<Params, Query, Body, Data>,
    input: HandleInput<Params, Body>,
  ): Promise<CallResult<Data>> {
    const { data, version } = typedBy(handle, await perform(who, routeOf(nameOf(handle)), input));
    return { data, version };
  }

  async function callByName(
    who: SignedInAdmin,
    name: string,
    input: CallInput = {},
  ): Promise<CallResult<Values>> {
    const answer = await perform(who, routeOf(name), input);
    return { data: isValues(answer?.data) ? answer.data : {}, version: answer?.version };
  }

  return { call, callByName, callLines };
}
