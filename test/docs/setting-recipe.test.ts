// docs/recipes/setting.md is followed: its row is written into a copy of the project under another name, and nothing else. What lists
// settings then has it.
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { read, root } from './markdown.ts';

const NAME = 'limit_planted_ip';
const LABEL = 'Planted things per IP address';
const DOES = 'Planted things from one address in an hour';

interface Seen {
  readonly before: Readonly<Record<string, unknown>>;
  readonly refusal: { readonly status: number; readonly fields: Readonly<Record<string, string>> };
  readonly after: unknown;
  readonly exported: boolean;
  readonly reset: unknown;
  readonly imported: unknown;
  readonly events: string;
  readonly form: string;
  readonly document: string;
  readonly configuration: string;
  readonly texts: readonly string[];
}

let copy: string;
let seen: Seen;

before(async () => {
  copy = await mkdtemp(join(tmpdir(), 'latchkey-recipe-'));
  for (const part of [
    'src',
    'adapters',
    'interactions',
    'templates',
    'scripts',
    'test/support',
    'package.json',
  ])
    await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));

  const sample = /From \[([^\]]+)\]\([^)]+\):\n\n {3}```ts\n([\s\S]*?)\n {3}```/;
  const [, file = '', row = ''] = sample.exec(read('docs/recipes/setting.md')) ?? [];
  const [name = ''] = row.trim().split(':');
  const [label = '', does = ''] = [...row.matchAll(/'([^']*)'/g)].map(([, text = '']) => text);
  const planted = row.replace(name, NAME).replace(label, LABEL).replace(does, DOES);
  const source = await readFile(join(copy, file), 'utf8');
  await writeFile(
    join(copy, file),
    source.replace(`  ${name}:`, () => `${planted}\n  ${name}:`),
  );

  const child = join(copy, 'test/support/followed-setting.ts');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--preserve-symlinks', '--preserve-symlinks-main', child, NAME, '7', '-1', 'limits'],
    { maxBuffer: 64 * 1024 * 1024, cwd: copy },
  );
  seen = JSON.parse(stdout);
});
after(() => rm(copy, { recursive: true, force: true }));

test('recipe of a setting: the API has it, with its bounds', () => {
  deepEqual(seen.before, {
    key: NAME,
    value: 2000,
    default: 2000,
    type: 'integer',
    min: 0,
    max: 10_000_000,
    description: `${DOES}; 0: no limit.`,
    group: 'Limits',
    is_secret: false,
    updated_at: null,
    updated_by: null,
  });
  equal(seen.refusal.status, 400);
  match(seen.refusal.fields[NAME] ?? '', /^Must be a whole number from 0 to 10000000\.$/);
  deepEqual([seen.after, seen.reset], [7, 2000]);
  ok(seen.document.includes(`"${NAME}":{"description":"${DOES}`), 'OpenAPI describes it');
});

test('recipe of a setting: export and import carry it, and events name it', () => {
  ok(seen.exported);
  equal(seen.imported, 7);
  ok(seen.events.includes(NAME));
});

test('recipe of a setting: the form has it, and so have documentation and translations', () => {
  match(seen.form, new RegExp(`<label for="${NAME}">${LABEL}</label>`));
  match(seen.form, new RegExp(`name="${NAME}" value="7" min="0" max="10000000"`));
  ok(seen.configuration.includes(`| \`${NAME}\` | integer | \`2000\` | 0 to 10000000 | ${DOES}`));
  for (const text of [LABEL, `${DOES}; 0: no limit.`]) ok(seen.texts.includes(text), text);
});
