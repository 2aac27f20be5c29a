// The guides for nginx and Caddy, Debian's, with oauth2-proxy from its sources; an application behind it shows who came.
import { equal } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/free-port.ts';
import { type GuideInUse, type GuideName, signInAt, useGuide } from '../support/guide.ts';
import { startIssuer } from '../support/issuer.ts';
import { startServer } from '../support/server.ts';
import { install, need } from '../support/toolchain.ts';

const lists = ['go.mod', 'go.sum'].map((name) =>
  fileURLToPath(new URL(`../go/oauth2-proxy/${name}`, import.meta.url)),
);
const proxy = await install({
  name: 'go-oauth2-proxy',
  programs: ['go'],
  pins: lists,
  commands: (folder) => [
    ['cp', ...lists, folder],
    ['go', 'build', '-C', folder, '-modcacherw', '-o', 'program', 'github.com/oauth2-proxy/oauth2-proxy/v7'],
  ],
});
const nginx = need('/usr/sbin/nginx');
const caddy = need('caddy');
const folder = mkdtempSync(join(tmpdir(), 'latchkey-proxies-'));
const issuer = await startIssuer();
const upstream = createServer((request, response) => {
  const headers = { ...request.headers };
  response.end(
    JSON.stringify({
      path: request.url,
      user: headers['x-user'] ?? headers['x-auth-request-preferred-username'],
      email: headers['x-email'] ?? headers['x-auth-request-email'],
    }),
  );
}).listen(0, '127.0.0.1');
await once(upstream, 'listening');
after(async () => {
  upstream.close();
  await issuer.close();
  rmSync(folder, { recursive: true });
});
const address = upstream.address();
const upstreamPort = typeof address === 'object' ? address?.port : undefined;

/** Runs oauth2-proxy and what is in front of it, and signs in there. */
async function run(
  name: GuideName,
  front: (
    use: GuideInUse,
    own: string,
    replaced: (text: string) => string,
  ) => {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const use = await useGuide(name, issuer);
  const own = join(folder, use.guide.id);
  mkdirSync(own);
  const port = await freePort();
  const replaced = (text: string): string =>
    text
      .replaceAll('127.0.0.1:4180', `127.0.0.1:${port}`)
      .replaceAll('127.0.0.1:9000', `127.0.0.1:${upstreamPort}`);
  const config = join(own, 'oauth2-proxy.cfg');
  writeFileSync(config, replaced(use.lines.get('/etc/oauth2-proxy.cfg') ?? ''));
  const env = {
    OAUTH2_PROXY_CLIENT_SECRET: use.secret,
    OAUTH2_PROXY_COOKIE_SECRET: 'c'.repeat(32),
    // Here everything is plain http.
    OAUTH2_PROXY_COOKIE_SECURE: 'false',
  };
  const program = { command: join(proxy.folder, 'program'), args: ['--config', config], env };
  const server = await startServer({ ...program, url: `http://127.0.0.1:${port}/ping` });
  try {
    const see = /"path":"\/deep\?a=1&b=2","user":"grace","email":"grace@example\.com"/;
    await signInAt(use, issuer, front(use, own, replaced), {
      path: '/deep?a=1&b=2',
      ready: '/oauth2/sign_in',
      see,
    });
    // What a caller claims of itself does not get through.
    equal(server.said().includes('panic'), false);
  } catch (error) {
    throw new Error(server.said().slice(-3000), { cause: error });
  } finally {
    await server.stop();
  }
}

test('guide: nginx with oauth2-proxy', proxy.skip === false ? nginx : proxy, () =>
  run('guide:nginx', (use, own, replaced) => {
    const server = replaced(use.lines.get('/etc/nginx/conf.d/app.conf') ?? '').replace(
      'listen 80;',
      `listen localhost:${use.port};`,
    );
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${own}/${name};`)
      .join('\n');
    const config = join(own, 'nginx.conf');
    writeFileSync(
      config,
      `user root;\ndaemon off;\npid ${own}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${server}\n}\n`,
    );
    return { command: '/usr/sbin/nginx', args: ['-p', own, '-c', config] };
  }),
);

test('guide: Caddy with oauth2-proxy', proxy.skip === false ? caddy : proxy, () =>
  run('guide:caddy', (use, own, replaced) => {
    const config = join(own, 'Caddyfile');
    writeFileSync(config, `{\n\tadmin off\n}\n${replaced(use.lines.get('/etc/caddy/Caddyfile') ?? '')}\n`);
    const env = { HOME: own, XDG_DATA_HOME: own, XDG_CONFIG_HOME: own };
    return { command: 'caddy', args: ['run', '--config', config, '--adapter', 'caddyfile'], env };
  }),
);
