// Owns what may happen to an account while somebody is signing in to it.
import assert from 'node:assert/strict';
import type { TestApp } from '../support/app.ts';
import { openSignIn } from './sign-in-form.ts';

type Client = { id: string; secret: string };
type User = { id: string; username: string };

/** After each of them, what was proven before counts no more (checklist R063, R089). */
export const blows: Readonly<Record<string, (app: TestApp, client: Client, user: User) => Promise<void>>> = {
  async locked(app, client, { username }) {
    const form = await openSignIn(app, client.id);
    for (let attempt = 0; attempt < 5; attempt += 1) await form.attempt(username, 'not the password');
  },
  async deactivated(app, _client, { id }) {
    assert.equal((await app.admin('POST', `/users/${id}/deactivate`)).status, 200);
  },
  async deleted(app, _client, { id }) {
    assert.equal((await app.admin('DELETE', `/users/${id}`)).status, 204);
  },
  async 'given another password'(app, _client, { id }) {
    const { status } = await app.admin('PATCH', `/users/${id}`, { password: 'another long password 17' });
    assert.equal(status, 200);
  },
};
