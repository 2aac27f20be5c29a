// One declaration per admin resource. `defineResource` takes what the routes of a resource share (path, tag, how stored
// items become JSON) and a function that lists its acts. The result has each act as a typed handle, and `routes(ports)`,
// which implements all of them.
//
//   export const apiKeys = defineResource(
//     { path: '/api-keys', tag: 'API keys', target: 'api_key', view: apiKeySchema, present: (keys, _: Ports) => keys.map(show) },
//     (on) => ({
//       list: on.list({ summary, list, query: (wanted, { apiKeys }) => apiKeys.query(wanted), recordOf: (key) => key }),
//       read: on.read({ summary, find: (id, { apiKeys }) => apiKeys.find(id), missing: 'api_key.not_found' }),
//       remove: on.remove({ summary, event: 'api_key.revoked', run: async (input, ports) => … }),
//     }),
//   );
//
// The acts stand in the order of the OpenAPI document; what fits none of them is an `on.route` with everything spelled out.
// src/admin/routes.ts calls `apiKeys.routes(deps)`. Pages call `context.call(apiKeys.read, { params: { id } })` and get the
// view's type.
import type { Static, TSchema } from 'typebox';
import { createKit, type Frame, type Kit, type ListPorts } from './resource-acts.ts';
import type { Route } from './route.ts';
import { createRouteKit, type RouteKit } from './route-kit.ts';

export type { ListPorts } from './resource-acts.ts';
export type { RouteKit } from './route-kit.ts';

type Acts<Ports> = Readonly<Record<string, { bind(ports: Ports): Route }>>;

/** @returns the acts by name, and `routes`, which implements them in the order they are listed */
const withRoutes = <Ports, Declared extends Acts<Ports>>(declared: Declared) => ({
  ...declared,
  routes: (ports: Ports): Route[] => Object.values(declared).map((act) => act.bind(ports)),
});

export const defineResource = <
  Ports extends ListPorts,
  Item extends { readonly id: string },
  View extends TSchema,
  Shown extends Static<View>,
  Declared extends Acts<Ports>,
>(
  frame: Frame<Ports, Item, View, Shown>,
  acts: (on: Kit<Ports, Item, View, Shown>) => Declared,
) => withRoutes<Ports, Declared>(acts(createKit(frame)));

/** The same where there is no list of items, such as for the signing keys: every act is an `on.route`. */
export const defineRoutes = <Ports, Declared extends Acts<Ports>>(
  tag: string,
  acts: (on: RouteKit<Ports>) => Declared,
) => withRoutes<Ports, Declared>(acts(createRouteKit(tag)));
