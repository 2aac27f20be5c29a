// A deployment of a new version behind the proxies that people run: nginx, HAProxy and Caddy as Debian has them, configured as
// docs/operations.md says. Both web processes are replaced one after the other under load, and no request fails. Runs with
// LONG=1; a proxy that is not installed is named.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { liftLimits } from '../attacks/limits.ts';
import { freePort } from '../support/free-port.ts';
import { type Deployment, isLong, millisecondsUntil, startDeployment } from './deployment.ts';

/** Longer than the slowest of the checks below takes to notice. */
const DRAIN_SECONDS = 5;
const WORKERS = 12;

interface Ports {
  readonly front: number;
  readonly webs: readonly number[];
}

interface Proxy {
  readonly name: 'nginx' | 'haproxy' | 'caddy';
  /** Name of its file -> content. */
  config(ports: Ports, folder: string): string;
  readonly args: (file: string) => readonly string[];
}

const proxies: readonly Proxy[] = [
  {
    name: 'nginx',
    args: (file) => ['-c', file],
    config: ({ front, webs }, folder) => `
daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; worker_processes 1;
events { worker_connections 512; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  upstream webs { ${webs.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join(' ')} keepalive 16; }
  server {
    listen 127.0.0.1:${front};
    location / { proxy_pass http://webs; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}`,
  },
  {
    name: 'haproxy',
    args: (file) => ['-db', '-f', file],
    config: ({ front, webs }) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option redispatch
frontend front
  bind 127.0.0.1:${front}
  default_backend webs
backend webs
  option httpchk GET /readyz
${webs.map((port, index) => `  server web${index} 127.0.0.1:${port} check inter 1s fall 1 rise 1`).join('\n')}
`,
  },
  {
    name: 'caddy',
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
    config: ({ front, webs }) => `
{
  admin off
  auto_https off
}
http://127.0.0.1:${front} {
  reverse_proxy ${webs.map((port) => `127.0.0.1:${port}`).join(' ')} {
    health_uri /readyz
    health_interval 1s
    lb_try_duration 5s
  }
}
`,
  },
];

async function findProgram(name: string): Promise<string | undefined> {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  for (const folder of folders) {
    const file = join(folder, name);
    if (
      await access(file, constants.X_OK)
        .then(() => true)
        .catch(() => false)
    )
      return file;
  }
  return undefined;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** One request over kept connections. Rejects when there is no whole answer. */
function ask(agent: Agent, url: string, form?: Readonly<Record<string, string>>): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const outgoing = request(url, { agent, ...(form ? { method: 'POST', headers } : {}) }, (response) => {
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      body += chunk;
    });
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
  });
  outgoing.on('error', reject);
  outgoing.end(form ? String(new URLSearchParams(form)) : undefined);
  return promise;
}

describe('rolling restart behind a real proxy under load', { skip: !isLong && 'runs with LONG=1' }, () => {
  let deployment: Deployment;
  let front: number;
  let folder: string;
  let form: Record<string, string>;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-proxies-'));
    front = await freePort();
    const publicUrl = `http://127.0.0.1:${front}`;
    deployment = await startDeployment({ kind: 'split', publicUrl, drainSeconds: DRAIN_SECONDS });
    const [web] = deployment.webs;
    await liftLimits(web);
    const client = await web.register({
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_post',
    });
    form = { grant_type: 'client_credentials', client_id: client.id, client_secret: client.secret };
  });
  after(async () => {
    await deployment.stop();
    await rm(folder, { recursive: true });
  });

  async function startProxy(proxy: Proxy, program: string): Promise<ChildProcess> {
    const file = join(folder, `${proxy.name}.conf`);
    const webs = deployment.webs.map(({ port }) => port);
    await writeFile(file, proxy.config({ front, webs }, folder));
    const child = spawn(program, [...proxy.args(file)], {
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: 'ignore',
    });
    const isUp = async (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${front}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await millisecondsUntil(isUp);
    return child;
  }

  for (const proxy of proxies) {
    test(`${proxy.name}: both processes are replaced and no request fails`, async (t) => {
      const program = await findProgram(proxy.name);
      if (program === undefined) {
        t.skip(`${proxy.name} is not installed: apt-get install ${proxy.name}`);
        return;
      }
      const child = await startProxy(proxy, program);
      t.after(async () => {
        const gone = once(child, 'exit');
        child.kill('SIGTERM');
        await gone;
      });
      const agent = new Agent({ keepAlive: true });
      t.after(() => agent.destroy());
      const failures: string[] = [];
      let done = 0;
      let isOver = false;
      const token = `${deployment.url}/oauth2/token`;
      const note = async (what: string, answer: Promise<Answer>): Promise<void> => {
        try {
          const { status, body } = await answer;
          if (status >= 400) failures.push(`${what}: ${status} ${body.slice(0, 200)}`);
        } catch (error) {
          failures.push(`${what}: ${error}`);
        }
        done += 1;
      };
      const work = async (): Promise<void> => {
        while (!isOver) {
          await note('POST', ask(agent, token, form));
          await note('GET', ask(agent, `${deployment.url}/oauth2/login`));
        }
      };
      const working = Promise.all(Array.from({ length: WORKERS }, work));
      for (const web of deployment.webs) {
        const before = done;
        await millisecondsUntil(() => done > before + 50);
        assert.deepEqual(await web.process.stop('SIGTERM'), { code: 0, signal: null });
        await web.start();
        await millisecondsUntil(() => web.isReady());
        // Until the proxy has noticed that it is back.
        await sleep(2_500);
      }
      isOver = true;
      await working;
      t.diagnostic(`${done} requests`);
      const log = await readFile(join(folder, 'error.log'), 'utf8').catch(() => '');
      if (failures.length > 0) t.diagnostic(log.slice(-2_000));
      assert.deepEqual(failures.slice(0, 5), []);
    });
  }
});
