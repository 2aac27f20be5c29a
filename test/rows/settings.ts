// Settings, for the test over all rows: one document with all of them.
import { settingRows } from '../../src/model/settings/settings.ts';
import * as model from '../../src/store/collections.ts';
import type { Given, Resource } from './resource.ts';
import { documentText } from './ways-out.ts';
import { type Members, membersOf, type World } from './world.ts';

const facts: Resource['facts'] = settingRows;
const PATH = '/settings';
/** Who signed in with one factor sees no page then. */
const SHUTS = 'admin_mfa';

/** The first that is taken and is not the default. */
function candidatesOf({ type, default: standard, min }: Members): readonly unknown[] {
  if (type === 'boolean') return [standard !== true];
  if (type === 'integer') return [standard === min ? Number(standard) + 1 : Number(standard) - 1];
  if (type === 'choice')
    return ['off', 'optional', 'required', 'password', 'hidden'].filter((one) => one !== standard);
  if (type === 'color') return ['#123456'];
  if (type === 'email') return ['planted@example.com'];
  if (type === 'url') return ['https://planted.example/help', 'smtp://planted.example:2525'];
  return ['planted.example', 'https://planted.example', 'Planted'];
}

const slugOf = (group: unknown): string =>
  String(group)
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-');

export function formShows(html: string, { name, value }: Pick<Given, 'name' | 'value'>): boolean {
  const [control = ''] = new RegExp(`<(?:input|select)[^>]* name="${name}"[^>]*>`).exec(html) ?? [];
  if (control === '') return false;
  if (typeof value === 'boolean') return control.includes(' checked') === value;
  if (control.startsWith('<select'))
    return (
      html.slice(html.indexOf(control)).split('</select>')[0]?.includes(`value="${value}" selected`) === true
    );
  // A duration is shown by its longest unit; what it was is beside it, in seconds.
  return html.includes(`name="was.${name}" value="${value}"`);
}

export async function settings(world: World): Promise<Resource> {
  const { app } = world;
  const itemsOf = async (): Promise<ReadonlyMap<string, Members>> => {
    const { items } = await world.read(PATH);
    const all: readonly unknown[] = Array.isArray(items) ? items : [];
    return new Map(all.map((item) => [String(membersOf(item).key), membersOf(item)]));
  };
  const first = await itemsOf();
  const asItWas = ([name, { value, default: standard }]: readonly [string, Members]) =>
    value === null || value === standard ? [] : [[name, value] as const];
  const chosen = new Map<string, unknown>();
  const hidden = ['smtp_url'];

  async function choose(name: string): Promise<void> {
    for (const value of candidatesOf(first.get(name) ?? {})) {
      const { status } = await app.admin('PATCH', PATH, { [name]: value });
      if (status !== 200) continue;
      chosen.set(name, value);
      break;
    }
    await app.admin('PATCH', PATH, { [name]: null });
  }
  const storedOf = async (name: string): Promise<unknown> => {
    const record = await app.store.collection(model.settings).find('current');
    return membersOf(membersOf(record?.value.values)[name]).value;
  };
  let before = '';

  return {
    name: 'setting',
    facts,
    hidden,
    unexported: hidden,
    event: 'settings.changed',
    async make(name) {
      // What was tried before is taken back: it may close a page, or end a session.
      if (before !== '') await app.admin('PATCH', PATH, { [before]: null });
      before = name;
      if (name !== '' && !chosen.has(name)) await choose(name);
      return PATH;
    },
    valueOf: (name) => chosen.get(name),
    harmlessOf: (name) => first.get(name)?.value ?? null,
    shown: async () => Object.fromEntries([...(await itemsOf())].map(([name, { value }]) => [name, value])),
    async isStored({ name, value }) {
      const stored = await storedOf(name);
      return hidden.includes(name)
        ? typeof stored === 'string' && !stored.includes(String(value))
        : stored === value;
    },
    async isDrawn(given) {
      const { name, value } = given;
      if (name === SHUTS) return true;
      const { body } = await world.page(`/settings/${slugOf(first.get(name)?.group)}`);
      return hidden.includes(name) ? !body.includes(String(value)) : formShows(body, given);
    },
    isDescribed: (name) =>
      documentText.includes(`"${name}":{"description":${JSON.stringify(facts[name]?.description)}`),
    isTold: (details, { name }) => JSON.stringify(details).includes(`"${name}"`),
    /** Exported together, reset, imported. */
    async carry(names) {
      if (before !== '') await app.admin('PATCH', PATH, { [before]: null });
      before = '';
      const all = names.filter((name) => name !== SHUTS && chosen.get(name) !== undefined);
      const given = Object.fromEntries(all.map((name) => [name, chosen.get(name)]));
      const changed = await app.admin('PATCH', PATH, given);
      if (changed.status !== 200) return [`all: PATCH takes them (${JSON.stringify(changed.body)})`];
      const { values } = (await app.admin('GET', '/settings/export')).body.data;
      await app.admin('PUT', PATH, {});
      const reset = await itemsOf();
      const imported = await app.admin('POST', '/settings/import', { values });
      const after = await itemsOf();
      await app.admin('PUT', PATH, Object.fromEntries([...first].flatMap(asItWas)));
      const inFile = membersOf(values);
      return all.flatMap((name) =>
        hidden.includes(name)
          ? Object.hasOwn(inFile, name)
            ? [`${name}: is in the export`]
            : []
          : [
              ...(inFile[name] === given[name] ? [] : [`${name}: the export has it`]),
              ...(reset.get(name)?.value === first.get(name)?.default ? [] : [`${name}: PUT resets it`]),
              ...(after.get(name)?.value === given[name]
                ? []
                : [`${name}: the import brings it (${JSON.stringify(imported.body)})`]),
            ],
      );
    },
  };
}
