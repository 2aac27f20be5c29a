// Attack: text of a stranger on a page of this server: `error_description`, `error` or a message in an
// address appears on no page, signed in or not.
import { deepEqual, ok } from 'node:assert/strict';
import { after, test } from 'node:test';
import { Agent } from '../support/agent.ts';
import { startApp } from '../support/app.ts';
import { allRoutes } from './routes.ts';

const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
const CANARY = 'Call-0800-CANARY-and-tell-your-password';

test('attack: error, error_description or message in an address is echoed by a page', async () => {
  const client = await app.register();
  await app.createUser('root', { role: 'admin' });
  const stranger = new Agent(app);
  const root = new Agent(app);
  await root.signIn(client.id, { username: 'root' });
  await root.follow(await root.get('/admin'));
  const sent = new URLSearchParams({
    error: CANARY,
    error_description: `<b>${CANARY}</b>`,
    error_uri: `https://evil.example/${CANARY}`,
    message: CANARY,
    reason: CANARY,
    notice: CANARY,
    done: CANARY,
    alert: CANARY,
  });
  const paths = (await allRoutes(app)).filter(({ method, isAdmin }) => method === 'GET' && isAdmin !== true);
  const echoing: string[] = [];
  for (const { path } of paths) {
    for (const agent of [stranger, root]) {
      // Signing out would end what follows.
      if (agent === root && path === '/oauth2/logout') continue;
      const page = await agent.get(`${path}?${sent}`);
      ok(page.status < 500, path);
      const shown = page.body.replace(/(?:href|action|value|src)="[^"]*"/g, '');
      if (shown.includes('CANARY')) echoing.push(path);
    }
  }
  ok(paths.length > 40, String(paths.length));
  deepEqual([...new Set(echoing)], []);
});
