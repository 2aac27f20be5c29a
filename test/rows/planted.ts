// In a copy of the project that has more rows: what the test over all rows says of those that are asked for, and what becomes of a
// second kind of applications. Started by planted.test.ts.
import { clients } from '../../src/store/collections.ts';
import { applications } from './applications.ts';
import { lacksOf, settableOf } from './lacks.ts';
import { resourcesOf } from './resources.ts';
import { describedIn } from './ways-out.ts';
import { createWorld, membersOf, type World } from './world.ts';

/** Of an application of the planted kind, by each row that can be set: whether anything still has it, or says that it might. */
async function secondKind(world: World) {
  const { app } = world;
  const { facts, make, valueOf: chosenFor } = applications(world);
  const path = await make('');
  const id = path.replace('/clients/', '');
  const collection = app.store.collection(clients);
  const stored = await collection.find(id);
  if (stored === undefined) throw new Error('the application is not stored');
  await collection.replace(id, stored.version, Object.assign(stored.value, { kind: 'planted' }));
  const shown = await world.read(path);
  const { body } = await world.page(`/applications/${id}`);
  const described = describedIn('/clients/{client_id}', 'patch');
  const rows: Record<string, string[]> = {};
  for (const name of Object.keys(facts).filter((one) => facts[one]?.setBy !== 'server')) {
    const answer = await world.send('key', 'PATCH', path, { [name]: chosenFor(name, path) });
    const has = {
      shown: Object.hasOwn(shown, name),
      taken: membersOf(membersOf(answer.body.error).fields)[name] !== 'Unknown field.',
      drawn: new RegExp(`name="${name}[".]`).test(body),
      described: !String(membersOf(described.given[name]).description).endsWith('Only of kind `openid`.'),
    };
    rows[name] = Object.entries(has).flatMap(([way, holds]) => (holds ? [way] : []));
  }
  return { kind: shown.kind, hasForm: body.includes('name="client_name"'), rows };
}

const world = await createWorld();
try {
  const lacks: Record<string, string[]> = {};
  for (const [name, resourceOf] of Object.entries(resourcesOf)) {
    const resource = await resourceOf(world);
    const planted = settableOf(resource).filter((one) => one.startsWith('planted'));
    const found: string[] = [];
    for (const one of planted) found.push(...(await lacksOf(world, resource, one)));
    const carried = await resource.carry(
      (name === 'users' ? settableOf(resource) : planted).filter((one) => one !== 'planted_lost'),
    );
    lacks[name] = [...found, ...carried.filter((one) => one.startsWith('planted'))];
  }
  process.stdout.write(JSON.stringify({ lacks, second: await secondKind(world) }));
} finally {
  await world.app.stop();
}
