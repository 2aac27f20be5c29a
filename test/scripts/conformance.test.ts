// The driver of the conformance suite, against a stand-in for the suite's API that closes connections.
import { equal, match, rejects } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createCalls } from '../../scripts/conformance/calls.ts';

const seen: string[] = [];
const server = createServer((request, response) => {
  const { method = '', url = '' } = request;
  seen.push(`${method} ${url}`);
  // As of an idle connection that was closed when the request was on its way.
  const isClosed = url.endsWith('/always') || seen.filter((one) => one.endsWith(url)).length === 1;
  if (isClosed) request.socket.destroy();
  else response.end('{"status":"FINISHED"}');
}).listen(0, '127.0.0.1');
after(() => server.close());
await once(server, 'listening');
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const calls = createCalls(base, base, 'token');
const timesOf = (url: string): number => seen.filter((one) => one.endsWith(url)).length;

test('conformance: a request that only reads is sent again after a closed connection', async () => {
  match(JSON.stringify(await calls.suite('GET', 'info/once')), /FINISHED/);
  equal(timesOf('/once'), 2);
});

test('conformance: what may not arrive twice is sent once; the refusal has its cause', async () => {
  await rejects(calls.suite('POST', 'runner/once-more'), /POST .*: fetch failed: /);
  equal(timesOf('/once-more'), 1);
  await rejects(calls.suite('GET', 'info/always'), /GET .*: fetch failed: /);
});
