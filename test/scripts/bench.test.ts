// The bench answers --help and wrong options, and what it measures is there for programs. How fast the product is, is no test of
// this machine's other work (docs/performance.md).
import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { isMet, lineOf, spreadOf } from '../../scripts/bench/figures.ts';
import { run } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-bench-test-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('bench: --help tells the options, a wrong one is refused before anything starts', async () => {
  const help = await run('scripts/bench.ts', ['--help']);
  equal(help.code, 0);
  for (const option of ['--quick', '--json', '--profile', '--compare', '--handlers', '--soak'])
    ok(help.stdout.includes(option), option);
  for (const wrong of [['--rounds', 'many'], ['--soak', '0'], ['--faster']]) {
    const { code, stdout } = await run('scripts/bench.ts', wrong);
    deepEqual([code, stdout], [2, '']);
  }
});

test('bench: one goal alone, on the terminal and as JSON', async () => {
  const file = join(folder, 'figures.json');
  const { code, stdout, stderr } = await run('scripts/bench.ts', [
    '--quick',
    '--only',
    'P14',
    '--json',
    file,
  ]);
  equal(code, 0, stderr);
  match(stdout, /^P14 .* kB, goal ≤ 25\.0 met$/m);
  const { machine, figures } = JSON.parse(readFileSync(file, 'utf8'));
  ok(machine.cpu && machine.node);
  deepEqual(
    figures.map(({ goal, is_met: met }: { goal: string; is_met: boolean }) => [goal, met]),
    [['P14', true]],
  );
});

test('bench: --compare refuses a file that names no operation, before anything starts', async () => {
  const file = join(folder, 'others.json');
  for (const [text, said] of [
    ['no JSON', 'is not JSON'],
    ['[{ "name": "Other", "operations": {} }]', 'Other has no "operations"'],
    ['[{ "name": "Other", "operations": { "dancing": {} } }]', 'no operation contains "dancing"'],
  ] as const) {
    writeFileSync(file, text);
    const { code, stdout, stderr } = await run('scripts/bench.ts', ['--compare', file]);
    deepEqual([code, stdout], [2, '']);
    ok(stderr.includes(said), stderr);
  }
});

test('figures: median and quartiles, and a goal in either direction', () => {
  deepEqual(spreadOf([4, 1, 3, 2]), { low: 2, middle: 3, high: 4 });
  const figure = { goal: 'P0', name: 'n', unit: 'ms', value: 2, limit: 1, wanted: 'less' } as const;
  equal(isMet(figure), false);
  equal(isMet({ ...figure, wanted: 'more' }), true);
  equal(isMet({ ...figure, value: Number.NaN }), undefined);
  match(lineOf(figure), /NOT met/);
});
