// The sample application from outside: command line, an absent or refusing provider, and attacks by other sites and names.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { html } from '../../scripts/sample/html.ts';
import {
  ADMIN_TOKEN,
  type Program,
  type RunningServer,
  startSample,
  startServer,
} from '../browser/processes.ts';
import { run } from './run.ts';

let server: RunningServer;
let sample: Program;
before(async () => {
  server = await startServer();
  sample = await startSample(server.issuer);
});
after(async () => {
  await sample.stop();
  await server.stop();
});

const runSample = (...args: string[]) => run('scripts/sample.ts', args);

test('sample: --help explains every option and exit code', async () => {
  const { code, stdout } = await runSample('--help');
  assert.equal(code, 0);
  for (const word of [
    '--issuer',
    '--port',
    '--client-id',
    '--client-secret',
    '--admin-token',
    'Exit codes',
  ]) {
    assert.ok(stdout.includes(word), word);
  }
});

test('sample: invalid options end with 2 and a message', async () => {
  const cases: [string[], RegExp][] = [
    [['--nonsense'], /Unknown option '--nonsense'/],
    [['--port', '4000x'], /--port must be/],
    [['--issuer', 'localhost:3000'], /--issuer must be/],
    [['--client-secret', 's3cret'], /needs its --client-id/],
    [['--client-id', 'a', '--admin-token', 's3cret'], /exclude each other/],
  ];
  for (const [args, sentence] of cases) {
    const { code, stderr } = await runSample(...args);
    assert.equal(code, 2, String(sentence));
    assert.match(stderr, sentence);
    assert.ok(!stderr.includes('s3cret'));
  }
});

test('sample: port in use or refused credentials end with 1, without printing the secret', async () => {
  const inUse = await runSample('--port', new URL(sample.origin).port);
  assert.equal(inUse.code, 1);
  assert.match(inUse.stderr, /Port \d+ is in use\. .*--port/);
  const here = ['--issuer', server.issuer, '--port', '0'];
  for (const args of [
    ['--admin-token', 'not-the-admin-token-0123456789-0123456789'],
    ['--client-id', 'nobody', '--client-secret', 'not-a-secret-at-all'],
  ]) {
    const { code, stdout, stderr } = await runSample(...here, ...args);
    assert.equal(code, 1);
    assert.match(stderr, /The provider says: “/);
    assert.ok(!`${stdout}${stderr}`.includes(String(args.at(-1))));
  }
});

test('sample: an absent provider is reported at start and on the page; works once it is back', async () => {
  const away = await startServer();
  await away.stop();
  const program = await startSample(away.issuer, { adminToken: ADMIN_TOKEN });
  try {
    assert.match(program.output(), /No provider responds at .*Start it with "npm start"/);
    const response = await fetch(`${program.origin}/`);
    assert.equal(response.status, 503);
    assert.match(await response.text(), /No provider responds/);
    const back = await startServer({ PORT: new URL(away.origin).port });
    try {
      assert.match(await (await fetch(`${program.origin}/`)).text(), /You’re not signed in/);
    } finally {
      await back.stop();
    }
  } finally {
    assert.equal(await program.stop(), 0);
  }
});

test('attack: another site presses a button of the sample', async () => {
  for (const origin of ['https://evil.example', 'null', undefined]) {
    const response = await fetch(`${sample.origin}/connect`, {
      method: 'POST',
      headers: origin === undefined ? {} : { origin },
      body: new URLSearchParams({ client_id: 'evil' }),
    });
    assert.equal(response.status, 403, origin);
  }
});

test('attack: DNS rebinding; another name for this machine gets only a link to the right one', async () => {
  const { port } = new URL(sample.origin);
  const { promise, resolve, reject } = Promise.withResolvers<[number | undefined, string | undefined]>();
  request(
    { host: 'localhost', port, path: '/sign-in', headers: { host: `evil.example:${port}` } },
    (answer) => {
      answer.resume();
      resolve([answer.statusCode, answer.headers.location]);
    },
  )
    .on('error', reject)
    .end();
  assert.deepEqual(await promise, [303, `${sample.origin}/sign-in`]);
});

test('attack: an unrequested authorization response; unknown state, no cookie', async () => {
  const response = await fetch(`${sample.origin}/callback?code=stolen&state=made-up`);
  assert.equal(response.status, 400);
  assert.match(await response.text(), /started in another browser/);
});

test('attack: another site connects the sample to an application of its own', async () => {
  const page = await fetch(`${sample.origin}/`);
  const [cookie = ''] = (page.headers.get('set-cookie') ?? '').split(';');
  const [, link = ''] = /href="([^"]+\/applications\/new[^"]+)"/.exec(await page.text()) ?? [];
  const returnTo = new URL(link.replaceAll('&#38;', '&')).searchParams.get('return_to') ?? '';
  const state = new URL(returnTo).searchParams.get('state') ?? '';
  assert.ok(returnTo.startsWith(`${sample.origin}/registered?`) && state.length >= 20);
  const come = (query: object, headers: Record<string, string> = {}) =>
    fetch(`${sample.origin}/registered?${new URLSearchParams({ ...query })}`, {
      headers,
      redirect: 'manual',
    });
  // No cookie, another state, none, the right one in another browser, and one without a client ID.
  for (const [query, headers] of [
    [{ client_id: 'evil' }, {}],
    [{ client_id: 'evil', state: 'x' }, { cookie }],
    [{ client_id: 'evil' }, { cookie }],
    [{ client_id: 'evil', state }, {}],
    [{ state }, { cookie }],
  ] as const) {
    const response = await come(query, headers);
    assert.equal(response.status, 400, JSON.stringify(query));
    assert.match(await response.text(), /was not started here/);
  }
  assert.match(await (await fetch(`${sample.origin}/`)).text(), /Connect this application/);
});

test('attack: markup in typed input', async () => {
  const response = await fetch(`${sample.origin}/connect`, {
    method: 'POST',
    headers: { origin: sample.origin },
    body: new URLSearchParams({ client_id: '"><script>alert(1)</script>', client_secret: 'x' }),
  });
  assert.equal(response.status, 400);
  const page = await response.text();
  assert.ok(!page.includes('<script>alert'));
  assert.ok(page.includes('&#34;&#62;&#60;script&#62;'));
  assert.equal(
    html`<i title="${'"&\'<>'}">${[html`<b>`, '<b>', false, undefined, 1]}</i>`.text,
    '<i title="&#34;&#38;&#39;&#60;&#62;"><b>&#60;b&#62;1</i>',
  );
});

test('attack: an endless form', async () => {
  const response = await fetch(`${sample.origin}/connect`, {
    method: 'POST',
    headers: { origin: sample.origin, 'content-type': 'application/x-www-form-urlencoded' },
    body: `client_id=${'a'.repeat(1_000_000)}`,
  }).catch((error: Error) => error);
  assert.ok(response instanceof Error || response.status === 413);
  assert.equal((await fetch(`${sample.origin}/`)).status, 200);
});
