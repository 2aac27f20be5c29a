// Every row of every resource, by HTTP and by the raw store, never by the walker: what PATCH takes GET answers, the store has, the form
// shows, OpenAPI describes, files carry, and the event names; what no row knows is refused; as each of six callers.
import { deepEqual, ok } from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { callerLacks, lacksOf, settableOf, strangerLacks } from './lacks.ts';
import type { Resource } from './resource.ts';
import { resourcesOf } from './resources.ts';
import { formShows } from './settings.ts';
import { CALLERS, createWorld, type World } from './world.ts';

let world: World;
before(async () => {
  world = await createWorld();
});
after(() => world.app.stop());

for (const [name, resourceOf] of Object.entries(resourcesOf)) {
  let known: Resource | undefined;
  const resource = async (): Promise<Resource> => {
    known ??= await resourceOf(world);
    return known;
  };

  test(`every row of ${name}: taken, answered, stored, shown, described, carried and told`, async () => {
    const one = await resource();
    const lacks: string[] = [];
    for (const row of Object.keys(one.facts)) lacks.push(...(await lacksOf(world, one, row)));
    lacks.push(...(await one.carry(settableOf(one))));
    deepEqual(lacks, []);
  });

  test(`every row of ${name}: each of six callers changes what it may and no more`, async () => {
    const one = await resource();
    const lacks: string[] = [];
    for (const caller of CALLERS) {
      lacks.push(...(await callerLacks(world, one, caller)));
      lacks.push(...(await strangerLacks(world, one, caller)));
    }
    deepEqual(lacks, []);
  });
}

test('every row: the check finds a form without the value', async () => {
  const { body } = await world.page('/settings/branding');
  ok(formShows(body, { name: 'product_name', value: 'Latchkey' }));
  ok(!formShows(body, { name: 'product_name', value: 'Planted' }));
  ok(!formShows(body, { name: 'planted', value: 'Latchkey' }));
});
