// Lifts the rate limits where an attack on something else needs many requests from one address.
import assert from 'node:assert/strict';
import { limitSettings } from '../../src/model/settings/limits.ts';
import type { Operator } from '../support/app.ts';

export async function liftLimits(app: Pick<Operator, 'admin'>): Promise<void> {
  const unlimited = Object.fromEntries(Object.keys(limitSettings).map((name) => [name, 0]));
  const { status, body } = await app.admin('PATCH', '/settings', unlimited);
  assert.equal(status, 200, JSON.stringify(body));
}
