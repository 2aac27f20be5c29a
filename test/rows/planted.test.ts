// The test over all rows finds what it is for: rows are planted in a copy of the project, of each resource one that is shown to nobody,
// a special one that stores nothing where it has special ones, and one that no file has where it has files. One that follows
// docs/recipes/application-setting.md, and nothing else, lacks nothing. So does a second kind of applications.
import { deepEqual, ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { promisify } from 'node:util';
import type { ApplicationFact } from '../../src/model/applications/row.ts';
import { applicationRows } from '../../src/model/applications/rows.ts';
import { read, root } from '../docs/markdown.ts';

const PARTS = ['src', 'adapters', 'interactions', 'templates', 'scripts', 'test', 'package.json'];

interface Seen {
  readonly lacks: Readonly<Record<string, readonly string[]>>;
  readonly second: {
    readonly kind: string;
    readonly hasForm: boolean;
    /** Which ways of each row are open. */
    readonly rows: Readonly<Record<string, readonly string[]>>;
  };
}

let seen: Seen;

const about = (name: string): string =>
  `label: 'Planted', description: 'Of ${name}.', stored: '${name}', example: true`;
const lost = (absent: null | false): string => `planted_lost: { show: () => ${absent}, settle: () => ({}) },`;

/** In which file, before which text or behind it, what. */
const PLANTED: readonly (readonly [file: string, before: string, rows: string])[] = [
  [
    'src/model/applications/settings.ts',
    '  minimal_id_tokens:',
    `planted_lost: fact(flag, { ...byAdministrators, absent: false, isSpecial: true, form: 'pages', ${about('plantedLost')} }),
     planted_unseen: fact(flag, { ...byAdministrators, absent: false, shownTo: 'nobody', ${about('plantedUnseen')} }),`,
  ],
  ['src/clients/application.ts', '  require_pkce: {', lost(false)],
  ['src/model/applications/row.ts', "openid: 'OpenID Connect'", "planted: 'Planted', "],
  [
    'src/model/users/person-rows.ts',
    '  nickname:',
    ['sound', 'lost', 'unseen', 'unexported']
      .map(
        (name) => `planted_${name}: row(flag, { ...aboutPerson, claim: null, column: null,
          ${name === 'lost' ? 'isSpecial: true,' : ''} ${name === 'unseen' ? "shownTo: 'nobody'," : ''}
          ${name === 'unexported' ? 'isExported: false,' : ''}
          ${about(`profile.planted_${name}`)} }),`,
      )
      .join('\n'),
  ],
  ['src/accounts/user-rows.ts', '    username: {', lost(null)],
  [
    'src/model/groups/rows.ts',
    '  display_name:',
    `planted_lost: row(anyText(200), { ...changed, isSpecial: true, ${about('plantedLost')} }),
     planted_unseen: row(anyText(200), { ...changed, shownTo: 'nobody', ${about('plantedUnseen')} }),`,
  ],
  ['src/accounts/groups.ts', '});\n\n/** As the API has it. */', lost(null)],
  [
    'src/model/apis/rows.ts',
    '  is_open_to_agents:',
    `planted_lost: row(flag, { ...flagged, isSpecial: true, ${about('plantedLost')} }),
     planted_unseen: row(flag, { ...flagged, shownTo: 'nobody', ${about('plantedUnseen')} }),`,
  ],
  ['src/apis/change-api.ts', '  scopes: {\n    show', lost(false)],
  [
    'src/model/settings/sign-up.ts',
    '\n};',
    `planted_unseen: setting(flag, { group: 'Signing up', label: 'Planted', description: 'Of planted_unseen.',
       absent: false, mayShutOut: false, shownTo: 'nobody' }),
     planted_unexported: setting(flag, { group: 'Signing up', label: 'Planted', description: 'Of planted_unexported.',
       absent: false, mayShutOut: false, isExported: false }),`,
  ],
];

async function plant(copy: string): Promise<void> {
  const sample = /From \[([^\]]+)\]\([^)]+\):\n\n {3}```ts\n([\s\S]*?)\n {3}```/;
  const [, file = '', row = ''] = sample.exec(read('docs/recipes/application-setting.md')) ?? [];
  ok(row.includes('minimal_id_tokens'));
  const followed = row
    .replaceAll('minimal_id_tokens', 'planted_sound')
    .replaceAll('minimalIdTokens', 'plantedSound')
    .replace('ID tokens without profile', 'Planted');
  for (const [name, text, rows] of [[file, '  minimal_id_tokens:', followed] as const, ...PLANTED]) {
    const source = await readFile(join(copy, name), 'utf8');
    ok(source.includes(text), `${name} has no ${text}`);
    await writeFile(
      join(copy, name),
      source.replace(text, () => `${rows}\n${text}`),
    );
  }
}

before(async () => {
  const copy = await mkdtemp(join(tmpdir(), 'latchkey-planted-'));
  try {
    for (const part of PARTS) await cp(join(root, part), join(copy, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    await plant(copy);
    const args = ['--preserve-symlinks', '--preserve-symlinks-main', join(copy, 'test/rows/planted.ts')];
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      cwd: copy,
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
    seen = JSON.parse(stdout);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});

const lacksOf = (resource: string, row: string): string[] =>
  (seen.lacks[resource] ?? [])
    .filter((lack) => lack.startsWith(`planted_${row}:`))
    .map((lack) => lack.replace(/^\w+: /, '').replace(/ \(.*/s, ''));

test('recipe of a field of an application: its row is all that API, form, events and store need', () => {
  deepEqual([lacksOf('applications', 'sound'), lacksOf('users', 'sound')], [[], []]);
});

const LOST = ['GET answers it', 'is stored', 'the form shows it'];

for (const resource of ['applications', 'users', 'groups', 'APIs']) {
  test(`every row of ${resource}: a special one that stores nothing is found`, () => {
    const lacks = lacksOf(resource, 'lost');
    for (const lack of LOST) ok(lacks.includes(lack), `${lack}: ${lacks}`);
  });
}

for (const resource of ['applications', 'users', 'groups', 'APIs', 'settings']) {
  test(`every row of ${resource}: one that is not shown is found`, () => {
    const lacks = lacksOf(resource, 'unseen');
    ok(lacks.includes('is shown') && lacks.includes('GET answers it'), `${lacks}`);
  });
}

// Others have no file: their answers are what goes to another, and is found above.
test('every row of users and settings: one that is not exported is found', () => {
  deepEqual(lacksOf('users', 'unexported'), ['is exported']);
  deepEqual(lacksOf('settings', 'unexported'), ['is exported', 'the export has it', 'the import brings it']);
});

test('a second kind of applications: what it may not have is nowhere, the rest stays', () => {
  const { kind, hasForm, rows } = seen.second;
  deepEqual([kind, hasForm], ['planted', true]);
  const facts = Object.entries<ApplicationFact>(applicationRows).filter(
    ([, { setBy }]) => setBy !== 'server',
  );
  const isOfAll = ([, { kinds }]: (typeof facts)[number]): boolean => kinds === 'every';
  const own = facts.filter(isOfAll);
  ok(own.length > 5 && facts.length - own.length > 20);
  for (const [name] of facts.filter((one) => !isOfAll(one))) deepEqual(rows[name], [], name);
  for (const [name] of own)
    for (const way of ['taken', 'described']) ok(rows[name]?.includes(way), `${name}: ${way}`);
  for (const name of ['client_name', 'is_active', 'allowed_groups']) ok(rows[name]?.includes('shown'), name);
});
