// One declaration per admin resource. `defineResource` takes what the routes of a resource share (path, tag, how stored
// items become JSON) and a function that lists its acts. The result has each act as a typed handle, and `routes(ports)`,
// which implements all of them.
//
//   export const apiKeys = defineResource(
//     { path: '/api-keys', tag: 'API keys', target: 'api_key', view: apiKeySchema, present: (keys) => keys.map(show) },
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
import type { AdminPorts } from './ports.ts';
import { createKit, type Frame, type Kit } from './resource-acts.ts';
import type { Route } from './route.ts';
import { createRouteKit, type RouteKit } from './route-kit.ts';

export type { RouteKit } from './route-kit.ts';

type Acts = Readonly<Record<string, { bind(ports: AdminPorts): Route }>>;

/** @returns the acts by name, and `routes`, which implements them in the order they are listed */
const withRoutes = <Declared extends Acts>(declared: Declared) => ({
  ...declared,
  routes: (ports: AdminPorts): Route[] => Object.values(declared).map((act) => act.bind(ports)),
});

export const defineResource = <
  Item extends { readonly id: string },
  View extends TSchema,
  Shown extends Static<View>,
  Declared extends Acts,
>(
  frame: Frame<Item, View, Shown>,
  acts: (on: Kit<Item, View, Shown>) => Declared,
) => withRoutes<Declared>(acts(createKit(frame)));

/** The same where there is no list of items, such as for the signing keys: every act is an `on.route`. */
export const defineRoutes = <Declared extends Acts>(tag: string, acts: (on: RouteKit) => Declared) =>
  withRoutes<Declared>(acts(createRouteKit(tag)));
