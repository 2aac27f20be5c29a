// The guide for Go, its lines as the Admin UI shows them.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { signInAt, useGuide } from '../support/guide.ts';
import { startIssuer } from '../support/issuer.ts';
import { install } from '../support/toolchain.ts';

const lists = ['go.mod', 'go.sum'].map((name) => fileURLToPath(new URL(`go-oidc/${name}`, import.meta.url)));
const installed = await install({
  name: 'go-guide',
  programs: ['go'],
  pins: lists,
  commands: (folder) => [
    ['cp', ...lists, folder],
    ['go', 'mod', 'download'],
  ],
});
const issuer = await startIssuer();
after(() => issuer.close());

test('guide: Go with go-oidc', installed, async () => {
  const use = await useGuide('guide:go', issuer);
  const { folder } = installed;
  writeFileSync(join(folder, 'main.go'), `${use.lines.get('main.go')}\n`);
  const program = join(folder, 'program');
  execFileSync('go', ['build', '-o', program, '.'], { cwd: folder });
  await signInAt(use, issuer, { command: program, args: [] }, { path: '/login' });
});
