// go-oidc by the lines of the Admin UI.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { apiOf, check, close, linesOf } from '../support/resource-server.ts';
import { install } from '../support/toolchain.ts';

const lists = ['go.mod', 'go.sum'].map((name) =>
  fileURLToPath(new URL(`resource-server/${name}`, import.meta.url)),
);
const installed = await install({
  name: 'go-resource-server',
  programs: ['go'],
  pins: lists,
  commands: (folder) => [
    ['cp', ...lists, folder],
    ['go', 'mod', 'download'],
  ],
});
after(() => close());

for (const format of ['at+jwt', 'jwt'] as const)
  test(`go-oidc: the lines of the Admin UI, tokens as ${format}`, installed, async () => {
    const api = await apiOf(format);
    const { folder } = installed;
    writeFileSync(join(folder, 'main.go'), await linesOf(api, 'go'));
    const program = join(folder, 'program');
    execFileSync('go', ['build', '-o', program, '.'], { cwd: folder });
    await check(api, () => ({ command: program, args: [] }));
  });
