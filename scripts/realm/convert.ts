// Converts a realm export of the common Java identity server to input for this product's API.
import { toClients } from './clients.ts';
import { listOf, type Members, textOf } from './json.ts';
import { createGroupNames, type GroupNames } from './names.ts';
import { type Step, toRows } from './users.ts';

export interface Converted {
  /** Bodies for POST /admin/api/groups: they come first. */
  readonly groups: object[];
  /** Lines for POST /admin/api/users/import. */
  readonly users: object[];
  /** Bodies for POST /admin/api/clients. */
  readonly clients: object[];
  /** What the operator must know or do. */
  readonly notes: string[];
}

/** Includes groups without members. */
function nameGroups(groups: readonly Members[], names: GroupNames, parents: readonly string[] = []): void {
  for (const group of groups) {
    const own = textOf(group.name);
    if (own === undefined) continue;
    const parts = [...parents, own];
    names.nameOf(`group /${parts.join('/')}`, parts, parts.join('/'));
    nameGroups(listOf(group.subGroups), names, parts);
  }
}

/** Step by step. @param realm the parsed export, unvalidated */
export function* convertInSteps(realm: Members): Generator<Step, Converted> {
  const notes: string[] = [];
  const note = (text: string): void => {
    notes.push(text);
  };
  const names = createGroupNames();
  nameGroups(listOf(realm.groups), names);
  const users = yield* toRows(realm, names, note);
  const clients = toClients(realm, note);
  return { groups: names.all(), users, clients, notes };
}

/** All at once. */
export function convertRealm(realm: Members): Converted {
  const steps = convertInSteps(realm);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
