// The acts of a resource, each a typed handle with its implementation; define-resource.ts combines them.
import type { Static, TObject, TSchema } from 'typebox';
import { AppError, type ErrorCode } from '../../errors.ts';
import type { EventName, Target } from '../../events/index.ts';
import type { Query } from '../../store/port.ts';
import { type ListPage, pageSchema, readPage } from './list.ts';
import { type ListDefinition, listQuerySchema, readListQuery } from './list-query.ts';
import type { AdminPorts, Listing } from './ports.ts';
import { type Answer, declareAs, type Handle, type Input, type Nothing, noContent, Told } from './route.ts';
import { type Act, bound, createRouteKit, type Run } from './route-kit.ts';
import { idParams } from './shared.ts';

export interface Frame<Item, View extends TSchema, Shown extends Static<View>> {
  /** Path of the list under /admin/api; one item is at `{path}/{id}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** Target type of such an item in the audit log. */
  readonly target?: Target['kind'];
  /** Compared before and after each act that is recorded; default: nothing is. */
  readonly compared?: 'user' | 'client';
  readonly view: View;
  /** Converts the items of one response into JSON. */
  readonly present: (
    items: readonly Item[],
    ports: AdminPorts,
  ) => readonly Shown[] | Promise<readonly Shown[]>;
  /** Absent: items have no version and therefore no ETag. */
  readonly versionOf?: (item: Item) => number;
}

/** For a list, also what its pages need. */
export interface ListHandle<Item, Params = object> extends Handle<Params, object, unknown, ListPage<Item>> {
  readonly sort: string;
  readonly order: 'asc' | 'desc';
  /** The members that are columns of its CSV file. */
  readonly csv: readonly (keyof Item)[];
}

type ListAct<Params, Item> = Act<Params, object, unknown, ListPage<Item>> & ListHandle<Item, Params>;

interface Common {
  readonly summary: string;
  /** Default: the path of the resource, with `/{id}` for acts on one item. */
  readonly path?: string;
}

interface Reading {
  readonly needs?: 'admin';
}

interface Changing {
  readonly event: EventName;
}

type IdParams = typeof idParams;

export function createKit<
  Item extends { readonly id: string },
  View extends TSchema,
  Shown extends Static<View>,
>({ path: home, tag, target, compared, view, present, versionOf }: Frame<Item, View, Shown>) {
  const itemPath = `${home}/{id}`;
  const recordedAs = (event: EventName) => ({ event, target, view: compared });
  const viewed = { status: 200, schema: view, ...(versionOf && { hasVersion: true }) } as const;

  async function answerOf(item: Item, ports: AdminPorts): Promise<Answer<Shown>> {
    const [data] = await present([item], ports);
    if (data === undefined) throw new TypeError('an item was not presented');
    return { data, ...(versionOf && { version: versionOf(item) }) };
  }

  const { route } = createRouteKit(tag);

  /** GET of a page of items. */
  function list<Record, P extends TObject = Nothing>({
    list: definition,
    query,
    recordOf,
    before,
    csv = [],
    path = home,
    ...declaration
  }: Common &
    Reading & {
      readonly params?: P;
      readonly list: ListDefinition<Record>;
      /** Columns of the CSV file (pages/exports.ts); default: there is no such page. */
      readonly csv?: readonly (keyof Shown)[];
      /** Throws before the list's parameters are read, for example when the parent user does not exist. */
      readonly before?: Run<Static<P>, object, unknown, unknown>;
      readonly query: (
        wanted: Query,
        ports: AdminPorts,
        input: Input<Static<P>, object, unknown>,
      ) => Promise<Listing<Item>>;
      readonly recordOf: (item: Item) => Record;
    }): ListAct<Static<P>, Shown> {
    const handle: Handle<Static<P>, object, unknown, ListPage<Shown>> = declareAs({
      ...declaration,
      method: 'GET',
      path,
      tag,
      query: listQuerySchema(definition),
      success: { status: 200, schema: pageSchema(view) },
    });
    const act = bound(handle, async (input, ports: AdminPorts) => {
      await before?.(input, ports);
      const request = readListQuery(definition, input.query, ports.clock());
      const page = await readPage<Record, Item>({
        list: definition,
        // A cursor is valid only for items of the same parent.
        request: { ...request, scope: [request.scope, input.params] },
        cursors: ports.cursors,
        query: (wanted) => query(wanted, ports, input),
        recordOf,
        idOf: ({ id }) => id,
      });
      return { data: { ...page, items: [...(await present(page.items, ports))] } };
    });
    return { ...act, sort: definition.sorts[0], order: definition.defaultOrder, csv };
  }

  /** GET of one item. */
  function read({
    find,
    missing,
    path = itemPath,
    ...declaration
  }: Common &
    Reading & {
      readonly find: (id: string, ports: AdminPorts) => Promise<Item | undefined>;
      readonly missing: ErrorCode;
    }): Act<Static<IdParams>, object, unknown, Shown> {
    const handle: Handle<Static<IdParams>, object, unknown, Shown> = declareAs({
      ...declaration,
      method: 'GET',
      path,
      tag,
      params: idParams,
      success: viewed,
    });
    return bound(handle, async ({ params }, ports) => {
      const item = await find(params.id, ports);
      if (item === undefined) throw new AppError(missing);
      return answerOf(item, ports);
    });
  }

  /** POST of a new item. `answer` is the response to the caller, which may include a secret that no other response has. */
  const create = <B extends TSchema, S extends TSchema, Data extends Static<S>>({
    event,
    isBodyShown,
    ...declaration
  }: Omit<Common, 'path'> &
    Changing & {
      readonly body: B;
      readonly answer: S;
      readonly hasVersion?: boolean;
      readonly hasMail?: boolean;
      /** Whether the body holds no secret and no personal data, so that it is recorded unchanged. */
      readonly isBodyShown?: boolean;
      readonly run: Run<object, object, Static<B>, Answer<Data>>;
    }): Act<object, object, Static<B>, Data> =>
    route(`POST ${home}`, {
      ...declaration,
      status: 201,
      recorded: { ...recordedAs(event), ...(isBodyShown && { isBodyShown }) },
    });

  /** PUT or PATCH of one item; the response is the updated item. */
  function change<B extends TSchema>({
    run,
    event,
    isBodyShown,
    path = itemPath,
    ...declaration
  }: Common &
    Changing & {
      readonly method: 'PUT' | 'PATCH';
      readonly body: B;
      /** As for `create`. */
      readonly isBodyShown?: boolean;
      readonly run: Run<Static<IdParams>, object, Static<B>, Item>;
    }): Act<Static<IdParams>, object, Static<B>, Shown> {
    const handle: Handle<Static<IdParams>, object, Static<B>, Shown> = declareAs({
      ...declaration,
      path,
      tag,
      params: idParams,
      success: viewed,
      recorded: { ...recordedAs(event), ...(isBodyShown && { isBodyShown }) },
    });
    return bound(handle, async (input, ports) => answerOf(await run(input, ports), ports));
  }

  /** DELETE of one item. */
  const remove = <P extends TObject>({
    run,
    event,
    path = itemPath,
    ...declaration
  }: Common &
    Changing & {
      readonly params: P;
      /** An item without a version cannot satisfy any `If-Match`. */
      readonly isUnversioned?: boolean;
      readonly run: Run<Static<P>, object, unknown, unknown>;
    }): Act<Static<P>, object, unknown, undefined> => {
    const handle: Handle<Static<P>, object, unknown, undefined> = declareAs({
      ...declaration,
      method: 'DELETE',
      path,
      tag,
      success: { status: 204 },
      recorded: recordedAs(event),
    });
    return bound(handle, async (input, ports) => {
      const result = await run(input, ports);
      if (!(result instanceof Told)) return noContent;
      return { ...noContent, recorded: result.outcome, before: result.before };
    });
  };

  return { route, list, read, create, change, remove };
}

export type Kit<
  Item extends { readonly id: string },
  View extends TSchema,
  Shown extends Static<View>,
> = ReturnType<typeof createKit<Item, View, Shown>>;
