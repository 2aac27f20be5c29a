// Runs axe on a page over the DevTools protocol, so that the page keeps its policy.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { CDPSession, Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What a colour scheme can change. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

interface Findings {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
  readonly passes: readonly string[];
}

export interface Axe {
  /** @param rules `colours`: those alone; @returns what is wrong; fails when axe has not judged the page at all */
  violations(rules?: 'all' | 'colours'): Promise<string[]>;
}

export async function createAxe(page: Page): Promise<Axe> {
  const session: CDPSession = await page.context().newCDPSession(page);
  async function evaluate(expression: string): Promise<unknown> {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', options);
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  }
  return {
    async violations(rules = 'all') {
      if ((await evaluate('typeof axe')) !== 'object') await evaluate(`${source};0`);
      const options = {
        resultTypes: ['violations', 'passes'],
        ...(rules === 'colours' && { runOnly: COLOUR_RULES }),
      };
      const text = await evaluate(
        `axe.run(${JSON.stringify(options)}).then(({ violations, passes }) =>
          JSON.stringify({ violations, passes: passes.map(({ id }) => id) }))`,
      );
      const found: Findings = JSON.parse(String(text));
      assert.ok(found.passes.includes('color-contrast'));
      return found.violations.map(
        ({ id, nodes }) =>
          `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`,
      );
    },
  };
}
