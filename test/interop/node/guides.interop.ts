// The guides for Node, their lines as the Admin UI shows them.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { signInAt, useGuide } from '../support/guide.ts';
import { startIssuer } from '../support/issuer.ts';
import { installPackages } from '../support/packages.ts';

const installed = await installPackages(new URL('guides/', import.meta.url), 'node-guides');
const folder = mkdtempSync(join(tmpdir(), 'latchkey-guides-'));
const issuer = await startIssuer();
after(async () => {
  await issuer.close();
  rmSync(folder, { recursive: true });
});

/** A folder of its own, with the packages in it. */
function place(name: string, from: string): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  symlinkSync(join(from, 'node_modules'), join(own, 'node_modules'));
  writeFileSync(join(own, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  return own;
}

test('guide: Express', installed, async () => {
  const use = await useGuide('guide:express', issuer);
  const file = use.write(place('express', installed.folder))('app.mjs');
  await signInAt(use, issuer, { command: process.execPath, args: [file] }, { path: '/profile', ready: '/' });
});

test('guide: Node.js with openid-client', installed, async () => {
  const use = await useGuide('guide:node', issuer);
  const file = use.write(place('node', installed.folder))('sample.mjs');
  const program = { command: process.execPath, args: [file] };
  await signInAt(use, issuer, program, { ready: '/nowhere' });
});

test('guide: NestJS', installed, async () => {
  const use = await useGuide('guide:nestjs', issuer);
  const own = place('nest', installed.folder);
  use.write(own);
  writeFileSync(join(own, 'tsconfig.json'), '{"compilerOptions":{"experimentalDecorators":true}}');
  const esbuild = join(installed.folder, 'node_modules/esbuild/bin/esbuild');
  const options = ['--format=esm', '--platform=node', '--outdir=dist', '--log-level=warning'];
  execFileSync(process.execPath, [esbuild, 'src/main.ts', 'src/app.module.ts', ...options], { cwd: own });
  const args = ['--import', 'reflect-metadata', join(own, 'dist/main.js')];
  await signInAt(
    use,
    issuer,
    { command: process.execPath, args, cwd: own },
    { path: '/profile', ready: '/nowhere' },
  );
});
