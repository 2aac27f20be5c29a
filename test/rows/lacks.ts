// What each row lacks, as `name: what`, by HTTP and by the raw store, never by the walker: at every way in and out, and as each caller.
import { isDeepStrictEqual } from 'node:util';
import type { Answer } from '../flows/support.ts';
import type { Fact, Given, Resource } from './resource.ts';
import { type Caller, type Members, membersOf, type World } from './world.ts';

export const settableOf = ({ facts }: Resource): string[] =>
  Object.keys(facts).filter((name) => facts[name]?.setBy !== 'server');

const errorOf = ({ body }: Answer): Members => membersOf(body.error);
const fieldsOf = (answer: Answer): string[] => Object.keys(membersOf(errorOf(answer).fields));

/** Notes that do not hold. */
function notes(subject: string) {
  const lacks: string[] = [];
  const note = (holds: boolean, what: string, about = ''): void => {
    if (!holds) lacks.push(`${subject}: ${what}${about && ` (${about})`}`);
  };
  return { lacks, note };
}

async function isReported(world: World, { event }: Resource, told: (details: Members) => boolean) {
  const { items } = await world.read(`/audit?event=${event}&limit=1`);
  return told(membersOf(membersOf(Array.isArray(items) ? items[0] : {}).details));
}

/** @returns what of it the ways out do not say, after PATCH took it */
export async function lacksOf(world: World, resource: Resource, name: string): Promise<string[]> {
  const { lacks, note } = notes(name);
  const { facts, hidden, unexported } = resource;
  const fact = facts[name];
  if (fact === undefined) return [`${name}: is no row`];
  note(fact.shownTo !== 'nobody' || hidden.includes(name), 'is shown');
  note(fact.isExported !== false || unexported.includes(name), 'is exported');
  note(resource.isDescribed(name), 'OpenAPI describes it');
  if (fact.setBy === 'server') return lacks;
  const path = await resource.make(name);
  const given: Given = { path, name, value: resource.valueOf(name, path) };
  const { value } = given;
  const changed = await world.send('key', 'PATCH', path, { ...resource.beside?.(name), [name]: value });
  note(changed.status === 200, 'PATCH takes it', changed.text);
  if (changed.status !== 200) return lacks;
  const now = await resource.shown(path);
  const isSecret = hidden.includes(name);
  note(
    isSecret ? !changed.text.includes(String(value)) : isDeepStrictEqual(now[name], value),
    'GET answers it',
    JSON.stringify(now[name]),
  );
  if (resource.takenAway?.includes(name)) return lacks;
  note(await resource.isStored(given), 'is stored');
  const isTold = (details: Members) =>
    resource.isTold(details, given) &&
    (fact.reported === 'value' || !JSON.stringify(details).includes(JSON.stringify(value)));
  note(await isReported(world, resource, isTold), 'the event names it');
  note(await resource.isDrawn(given), 'the form shows it');
  const goesBack = fact.absent === null || fact.absent === undefined;
  if (!goesBack || isSecret || resource.lasting?.includes(name)) return lacks;
  const cleared = await world.send('key', 'PATCH', path, {
    ...resource.besideNull?.(name),
    [name]: null,
  });
  const after = (await resource.shown(path))[name] ?? null;
  const isBack = fact.absent === null ? after === null : !isDeepStrictEqual(after, value);
  note(cleared.status === 200 && isBack, 'null takes it back', cleared.text);
  return lacks;
}

/** What a change of that row has to come to. */
function expected({ byOwner, byRegistrant }: Resource, fact: Fact | undefined, caller: Caller) {
  const isFixed = fact?.setBy === 'server' || fact === undefined;
  switch (caller) {
    case 'fresh':
    case 'key':
      return isFixed ? 400 : 200;
    case 'stale':
      return isFixed || fact.sensitivity === 'plain' ? (isFixed ? 400 : 200) : 403;
    case 'auditor':
      return 403;
    case 'registrant':
      return byRegistrant === undefined ? 401 : fact?.setBy === 'registrant' ? 200 : 400;
    case 'owner':
      return byOwner === undefined ? 403 : fact?.setBy === 'owner' ? 204 : 400;
  }
}

const REASONS: Readonly<Partial<Record<Caller, string>>> = {
  stale: 'auth.stale',
  auditor: 'auth.insufficient_scope',
};

/** @returns which rows that caller may change and cannot, or must not and can */
export async function callerLacks(world: World, resource: Resource, caller: Caller): Promise<string[]> {
  const { facts } = resource;
  const { lacks, note } = notes(`${resource.name} by ${caller}`);
  const untouched = await resource.make('');
  const before = await resource.shown(untouched);
  const own =
    caller === 'registrant' ? resource.byRegistrant : caller === 'owner' ? resource.byOwner : undefined;

  async function attempt(name: string, wanted: number): Promise<void> {
    if (own !== undefined && resource.isLeftOut?.(name)) return;
    const isTaken = wanted < 300;
    const path =
      isTaken && own === undefined ? await resource.make(resource.harmlessOf ? '' : name) : untouched;
    const value = Object.hasOwn(facts, name)
      ? (resource.harmlessOf?.(name) ?? resource.valueOf(name, path))
      : 'x';
    const given = { path, name, value };
    const asked = await own?.(given);
    const body = { ...(isTaken && resource.beside?.(name)), [name]: value };
    const answer = asked?.answer ?? (await world.send(caller, 'PATCH', path, body));
    note(answer.status === wanted, `${name} is ${wanted}`, `${answer.status} ${answer.text}`);
    if (answer.status !== wanted) return;
    const shown = asked?.own ?? (isTaken ? await resource.shown(path) : {});
    const isSecret = resource.hidden.includes(name);
    if (isTaken) note(isSecret || isDeepStrictEqual(shown[name], value), `${name} is answered`);
    else if (own === undefined && wanted === 400)
      note(isDeepStrictEqual(fieldsOf(answer), [name]), `${name} is named`, answer.text);
    else if (own === undefined && REASONS[caller] !== undefined)
      note(errorOf(answer).reason === REASONS[caller], `${name}: why not`, answer.text);
    else if (own !== undefined) {
      note(answer.text.includes(name), `${name} is named`, answer.text);
      note(
        resource.takenAway?.includes(name) === true || !isDeepStrictEqual(shown[name], value),
        `${name} stays`,
      );
    }
  }

  for (const name of settableOf(resource)) await attempt(name, expected(resource, facts[name], caller));
  for (const name of ['fresh', 'key'].includes(caller) ? Object.keys(facts) : [])
    if (facts[name]?.setBy === 'server') await attempt(name, 400);
  note(isDeepStrictEqual(await resource.shown(untouched), before), 'nothing changes that must not');
  if (caller === 'auditor') {
    const seen = await world.send(caller, 'GET', untouched);
    note(isDeepStrictEqual(membersOf(seen.body.data), await world.read(untouched)), 'all is seen');
  }
  return lacks;
}

/** A name that no row has, beside one that is right. @returns where it is not refused, or anything is written */
export async function strangerLacks(world: World, resource: Resource, caller: Caller): Promise<string[]> {
  const { lacks, note } = notes(`${resource.name} by ${caller}`);
  const [known = ''] = settableOf(resource);
  const path = await resource.make(known);
  const before = await resource.shown(path);
  const given = { path, name: 'colour', value: 'red' };
  const asked =
    caller === 'registrant'
      ? await resource.byRegistrant?.(given)
      : caller === 'owner'
        ? await resource.byOwner?.(given)
        : undefined;
  const right = resource.harmlessOf?.(known) ?? resource.valueOf(known, path);
  const answer =
    asked?.answer ?? (await world.send(caller, 'PATCH', path, { [known]: right, colour: 'red' }));
  if (caller === 'registrant' && asked !== undefined) {
    // RFC 7591 §2.
    note(answer.status === 200 && !answer.text.includes('colour'), 'a stranger is dropped', answer.text);
    return lacks;
  }
  const isAsked = asked !== undefined || caller === 'fresh' || caller === 'key';
  note(answer.status >= 400, 'a stranger is refused', answer.text);
  if (isAsked) note(isDeepStrictEqual(fieldsOf(answer), ['colour']), 'a stranger is named', answer.text);
  note(isDeepStrictEqual(await resource.shown(path), before), 'nothing changes beside a stranger');
  return lacks;
}
