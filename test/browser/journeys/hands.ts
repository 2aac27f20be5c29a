// What a person does on a page, by the words that stand there: with the mouse, or with nothing but the keyboard.
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { patternOf } from './words.ts';

/** A file as people choose it. */
export interface ChosenFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

export interface Hands {
  /** In the place of what stands in the field. */
  write(target: Locator, text: string): Promise<void>;
  /** A button, link or summary; what it leads to is waited for elsewhere. */
  press(target: Locator): Promise<void>;
  tick(target: Locator): Promise<void>;
  select(target: Locator, option: string): Promise<void>;
  upload(target: Locator, file: ChosenFile): Promise<void>;
}

/** More than any page has. */
const MAX_TABS = 250;

/** Where the focus is drawn: at the control, or at what stands for it. */
const RING = `(() => {
  const at = document.activeElement;
  const drawn = [at, at.nextElementSibling, at.closest('label'), at.closest('.control'), at.closest('form.find, form.search')];
  const isDrawn = drawn.some((one) => {
    return one && ['', '::after'].some((part) => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one, part);
      return (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
    });
  });
  const box = at.getBoundingClientRect();
  const [x, y] = [box.x + box.width / 2, box.y + Math.min(box.height / 2, 20)];
  const above = document.elementFromPoint(x, y);
  const isSeen = !above || at.contains(above) || above.contains(at) || at.labels?.[0]?.contains(above) || at.matches('input[type=checkbox], input[type=radio], input[type=file]');
  return [isDrawn ? '' : 'shows no focus', isSeen ? '' : 'is behind ' + above.outerHTML.slice(0, 80)].filter(Boolean).join(', ');
})()`;

/** Presses Tab until the target has the focus, which must be visible then. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  const isThere = (): Promise<boolean> => target.evaluate((element) => element.matches(':focus'));
  for (let presses = 0; !(await isThere()); presses += 1) {
    if (presses === MAX_TABS) throw new Error(`Tab never reaches ${target}`);
    await page.keyboard.press('Tab');
  }
  const problem = await page.evaluate<string>(RING);
  assert.equal(problem, '', `${target} ${problem}`);
}

const byMouse = (page: Page): Hands => ({
  write: (target, text) => target.fill(text),
  press: (target) => target.click(),
  tick: (target) => target.check(),
  async select(target, option) {
    await target.selectOption({ label: option });
  },
  async upload(target, file) {
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), target.click()]);
    await chooser.setFiles(file);
  },
});

const byKeyboard = (page: Page): Hands => ({
  async write(target, text) {
    await tabTo(page, target);
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.type(text);
  },
  async press(target) {
    await tabTo(page, target);
    await page.keyboard.press('Enter');
  },
  async tick(target) {
    await tabTo(page, target);
    if (!(await target.isChecked())) await page.keyboard.press('Space');
  },
  async select(target, option) {
    await tabTo(page, target);
    await page.keyboard.type(option);
    const chosen = await target.locator('option:checked').textContent();
    assert.match(chosen ?? '', patternOf(option));
  },
  async upload(target, file) {
    await tabTo(page, target);
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Space')]);
    await chooser.setFiles(file);
  },
});

export const handsOf = (page: Page, hasMouse: boolean): Hands =>
  hasMouse ? byMouse(page) : byKeyboard(page);
