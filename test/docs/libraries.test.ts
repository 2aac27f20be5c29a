// Documentation: the decision about libraries names every package that the product depends on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read } from './markdown.ts';

test('docs/decisions/0025-libraries.md: names every production dependency', () => {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(read('package.json'));
  const page = read('docs/decisions/0025-libraries.md');
  const isNamed = (name: string): boolean => {
    const [scope = '', short = ''] = name.split('/');
    return page.includes(`\`${name}\``) || page.includes(`\`${scope}/*\``) || page.includes(`\`/${short}\``);
  };
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !isNamed(name)),
    [],
  );
});
