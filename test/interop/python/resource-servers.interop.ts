// FastAPI and Django by the lines of the Admin UI.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { apiOf, check, close, linesOf } from '../support/resource-server.ts';
import { packages } from './packages.ts';

const installed = await packages('resource-servers');
after(() => close());
const python = join(installed.folder, 'bin', 'python');

for (const format of ['at+jwt', 'jwt'] as const) {
  test(`FastAPI: the lines of the Admin UI, tokens as ${format}`, installed, async () => {
    const folder = join(installed.folder, 'fastapi-lines');
    mkdirSync(folder, { recursive: true });
    const api = await apiOf(format);
    writeFileSync(join(folder, 'main.py'), await linesOf(api, 'fastapi'));
    await check(api, (port) => ({
      command: python,
      args: [
        '-B',
        '-m',
        'uvicorn',
        '--app-dir',
        folder,
        '--host',
        'localhost',
        '--port',
        String(port),
        'main:app',
      ],
    }));
  });

  test(`Django: the lines of the Admin UI, tokens as ${format}`, installed, async () => {
    const folder = join(installed.folder, 'django-lines');
    mkdirSync(folder, { recursive: true });
    const api = await apiOf(format);
    writeFileSync(join(folder, 'tokens.py'), await linesOf(api, 'django'));
    const main = join(folder, 'main.py');
    copyFileSync(fileURLToPath(new URL('resource_server_django.py', import.meta.url)), main);
    await check(api, () => ({ command: python, args: ['-B', main] }));
  });
}
