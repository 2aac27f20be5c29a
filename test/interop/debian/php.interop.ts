// The lines of the Admin UI for Laravel, as far as PHP alone can say: their syntax.
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { apiOf, close, linesOf } from '../support/resource-server.ts';
import { need } from '../support/toolchain.ts';

after(() => close());

test('Laravel: PHP accepts the lines of the Admin UI', need('php'), async () => {
  const lines = await linesOf(await apiOf('at+jwt'), 'laravel');
  execFileSync('php', ['-l'], { input: lines, stdio: ['pipe', 'pipe', 'pipe'] });
});
