// axum with jsonwebtoken by the lines of the Admin UI.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { apiOf, check, close, linesOf } from '../support/resource-server.ts';
import { install } from '../support/toolchain.ts';

const lists = ['Cargo.toml', 'Cargo.lock'].map((name) =>
  fileURLToPath(new URL(`resource-server/${name}`, import.meta.url)),
);
const installed = await install({
  name: 'rust-resource-server',
  programs: ['cargo'],
  pins: lists,
  commands: (folder) => [
    ['cp', ...lists, folder],
    ['mkdir', 'src'],
    ['touch', 'src/lib.rs'],
    ['cargo', 'build', '--quiet', '--locked'],
  ],
});
after(() => close());

for (const format of ['at+jwt', 'jwt'] as const)
  test(`axum and jsonwebtoken: the lines of the Admin UI, tokens as ${format}`, installed, async () => {
    const api = await apiOf(format);
    const { folder } = installed;
    mkdirSync(join(folder, 'src'), { recursive: true });
    writeFileSync(join(folder, 'src/main.rs'), await linesOf(api, 'rust'));
    execFileSync('cargo', ['build', '--quiet', '--locked'], { cwd: folder });
    await check(api, () => ({ command: join(folder, 'target/debug/resource-server'), args: [] }));
  });
