// The wrapper of koa-router: which requests reach which route, what is passed on, and what is refused.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createRouter, type RouteContext, type RouteHandler, type Routes } from '../../src/http/router.ts';
import { serve } from './serve.ts';

const says =
  (text: (ctx: RouteContext) => string | undefined): RouteHandler =>
  (ctx) => {
    ctx.body = text(ctx);
  };

/** Answers `passed on` where no route does. */
async function site(
  t: TestContext,
  declare: (routes: Routes) => void,
  prefix = '',
  refusesOtherMethods = false,
) {
  const routes = createRouter({ prefix, refusesOtherMethods });
  declare(routes);
  const { send, close } = await serve((ctx) =>
    routes.middleware(ctx, async () => {
      routes.refuseOtherMethods(ctx);
      ctx.body = 'passed on';
    }),
  );
  t.after(close);
  return async (method: string, path: string): Promise<string> => {
    const { status, headers, body } = await send(path, { method });
    return status === 405 ? `405 ${headers.allow}` : `${status} ${body}`.trim();
  };
}

test('router: a route without parameters answers its exact path only', async (t) => {
  const ask = await site(t, (routes) =>
    routes.get(
      '/here',
      says(() => 'here'),
    ),
  );
  assert.equal(await ask('GET', '/here'), '200 here');
  assert.equal(await ask('HEAD', '/here'), '200');
  for (const path of ['/Here', '/here/', '//here', '/her%65', '/', '/here/more']) {
    assert.equal(await ask('GET', path), '200 passed on', path);
  }
});

test('router: a path with routes for other methods names them', async (t) => {
  const ask = await site(t, (routes) => {
    routes.get(
      '/here',
      says(() => 'here'),
    );
    routes.on(
      'DELETE',
      '/here',
      says(() => 'gone'),
    );
    routes.all(
      '/any',
      says((ctx) => ctx.method),
    );
  });
  assert.equal(await ask('DELETE', '/here'), '200 gone');
  assert.equal(await ask('POST', '/here'), '405 DELETE, GET, HEAD');
  assert.equal(await ask('PATCH', '/any'), '200 PATCH');
});

test('router: an address that a route spells out is not one with parameters as well', async (t) => {
  const declare = (routes: Routes): void => {
    routes.on(
      'DELETE',
      '/users/:id',
      says((ctx) => ctx.params.id),
    );
    routes.on(
      'POST',
      '/users/unlock',
      says(() => 'unlocked'),
    );
  };
  const ask = await site(t, declare, '', true);
  assert.equal(await ask('POST', '/users/unlock'), '200 unlocked');
  assert.equal(await ask('DELETE', '/users/unlock'), '405 POST');
  assert.equal(await ask('DELETE', '/users/other'), '200 other');
  assert.equal(await ask('POST', '/users/other'), '405 DELETE');
});

test('router: parameters are decoded and stay within their path segment', async (t) => {
  const declare = (routes: Routes): void =>
    routes.get(
      '/things/:id',
      says((ctx) => ctx.params.id),
    );
  const ask = await site(t, declare, '/api');
  assert.equal(await ask('GET', '/api/things/a%2Fb%20c'), '200 a/b c');
  assert.equal(await ask('GET', '/api/things/%zz'), '200 %zz');
  for (const path of ['/api/things/', '/api/things/a/b', '/apis/things/a', '/things/a']) {
    assert.equal(await ask('GET', path), '200 passed on', path);
  }
});

test('router: a handler may pass a request on', async (t) => {
  const ask = await site(t, (routes) => routes.get('/here', (_ctx, next) => next()));
  assert.equal(await ask('GET', '/here'), '200 passed on');
});
