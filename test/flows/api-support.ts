// APIs for the tests of the protocol, made as an administrator makes them.
import { equal } from 'node:assert/strict';
import type { TestApp } from '../support/app.ts';
import { basic, type Client, type Json, postForm } from './support.ts';

export interface TestApi {
  readonly id: string;
  readonly identifier: string;
  /** What it introspects with. */
  readonly credentials: Client;
  patch(changes: Json): Promise<void>;
  remove(): Promise<void>;
}

let made = 0;

export async function createApi(app: TestApp, fields: Json = {}): Promise<TestApi> {
  made += 1;
  const { status, body } = await app.admin('POST', '/resources', {
    identifier: `https://api${made}.example.com`,
    name: `API ${made}`,
    scopes: [
      { name: 'read', description: 'See your orders', is_default: true },
      { name: 'write', description: 'Change your orders' },
    ],
    ...fields,
  });
  equal(status, 201, JSON.stringify(body));
  const { data } = body;
  const path = `/resources/${String(data.id)}`;
  return {
    id: String(data.id),
    identifier: String(data.identifier),
    credentials: {
      id: String(data.introspection_client_id),
      secret: String(data.introspection_client_secret),
    },
    async patch(changes) {
      const answer = await app.admin('PATCH', path, changes);
      equal(answer.status, 200, JSON.stringify(answer.body));
    },
    async remove() {
      equal((await app.admin('DELETE', path)).status, 204);
    },
  };
}

/** An introspection by the API itself. */
export async function seenBy(app: TestApp, api: TestApi, token: string): Promise<Json> {
  const { status, text, body } = await postForm(app, '/oauth2/introspect', { token }, basic(api.credentials));
  equal(status, 200, text);
  return body;
}
