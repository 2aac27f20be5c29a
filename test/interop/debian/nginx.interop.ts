// nginx by the lines of the Admin UI: Debian's, with its Lua module, asks about each token.
import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { apiOf, check, close, linesOf } from '../support/resource-server.ts';
import { need } from '../support/toolchain.ts';

const MODULES = '/usr/lib/nginx/modules';
const lua = ['ndk_http_module.so', 'ngx_http_lua_module.so'].map((name) => `${MODULES}/${name}`);
const needed = need('/usr/sbin/nginx', ...lua, '/usr/share/lua/5.1/cjson');
const folder = mkdtempSync(join(tmpdir(), 'latchkey-nginx-'));
const upstream = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
await once(upstream, 'listening');
after(async () => {
  upstream.close();
  await close();
  rmSync(folder, { recursive: true });
});
const address = upstream.address();
const upstreamPort = typeof address === 'object' ? address?.port : undefined;

/** The caller's headers are about the caller's body, not about the question that nginx asks. */
async function sendCompressed(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-encoding': 'gzip' };
  const answer = await fetch(url, { method: 'POST', headers, body: gzipSync('{}') });
  equal(answer.status, 200, await answer.text());
}

for (const format of ['at+jwt', 'jwt', 'opaque'] as const)
  test(`nginx: the lines of the Admin UI, tokens as ${format}`, needed, async () => {
    const api = await apiOf(format);
    const lines = await linesOf(api, 'nginx');
    await check(
      api,
      (port) => {
        const server = lines
          .replace('listen 8080;', `listen localhost:${port};`)
          .replace('http://127.0.0.1:9000', `http://127.0.0.1:${upstreamPort}`);
        const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
          .map((name) => `${name}_temp_path ${folder}/${name};`)
          .join('\n');
        const modules = lua.map((file) => `load_module ${file};`).join('\n');
        const config = join(folder, 'nginx.conf');
        writeFileSync(
          config,
          `${modules}\nuser root;\ndaemon off;\npid ${folder}/pid;\nerror_log stderr;\nenv API_CLIENT_SECRET;\nevents {}
http {\naccess_log off;\n${temporary}\n${server}\n}\n`,
        );
        return {
          command: '/usr/sbin/nginx',
          args: ['-p', folder, '-c', config],
          env: { API_CLIENT_SECRET: api.credentials.secret },
        };
      },
      sendCompressed,
    );
  });
