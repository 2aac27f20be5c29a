// Changes of an account during a sign-in to it.
import assert from 'node:assert/strict';
import type { TestApp } from '../support/app.ts';

type User = { id: string; username: string };

/** After each of them, what was proven before counts no more. */
export const accountChanges: Readonly<Record<string, (app: TestApp, user: User) => Promise<void>>> = {
  async deactivated(app, { id }) {
    assert.equal((await app.admin('POST', `/users/${id}/deactivate`)).status, 200);
  },
  async deleted(app, { id }) {
    assert.equal((await app.admin('DELETE', `/users/${id}`)).status, 204);
  },
  async 'given another password'(app, { id }) {
    const { status } = await app.admin('PATCH', `/users/${id}`, { password: 'another long password 17' });
    assert.equal(status, 200);
  },
};
