// One journey in one condition: a person's steps in terms of what stands on the pages, and what was wrong on the way.
import assert from 'node:assert/strict';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { MailWorld } from '../mail-world.ts';
import { loaded } from '../steps.ts';
import { withoutAutofill } from '../virtual-authenticator.ts';
import { openWindow, type Window } from '../window.ts';
import { type Condition, nameOf } from './conditions.ts';
import { type ChosenFile, type Hands, handsOf } from './hands.ts';
import { createWitness, type Witness } from './witness.ts';
import { patternOf, type Words, wordsOf } from './words.ts';

export type Target = string | Locator;

export interface Walk extends Words {
  readonly world: MailWorld;
  readonly condition: Condition;
  readonly page: Page;
  readonly hasScripts: boolean;
  /** A name that nobody had before. */
  readonly name: string;
  /** Opens an address as from a bookmark or a mail. */
  open(address: string): Promise<void>;
  /** Waits for the page with this heading, and looks at it. Its title says the same, or what is given. */
  arrive(heading: string, title?: string): Promise<void>;
  /** As `arrive`, and something was said there. */
  hear(heading: string, said: string): Promise<void>;
  write(label: Target, text: string): Promise<void>;
  tick(label: string): Promise<void>;
  select(label: Target, option: string): Promise<void>;
  upload(label: string, file: ChosenFile): Promise<void>;
  /** A button that leads to a page. */
  press(name: Target): Promise<void>;
  /** Enter, in the field that was just filled in. */
  send(): Promise<void>;
  /** A link. */
  follow(name: Target): Promise<void>;
  /** A summary, or a button that stays on the page. */
  touch(target: Target): Promise<void>;
  /** Six digits: with scripts they go by themselves. */
  enterCode(label: string, code: string, button: string): Promise<void>;
  /** In the middle of a form the network is gone: it says so, and what was typed stays. */
  tryOffline(button: string, typed: Readonly<Record<string, string>>): Promise<void>;
  /** @returns the name of the downloaded file */
  download(name: Target, role: 'button' | 'link'): Promise<string>;
  button(name: string): Locator;
  link(name: string): Locator;
  /** A second look at a page on which something has changed. */
  look(name: string): Promise<void>;
}

export interface Journey {
  readonly name: string;
  readonly make: (walk: Walk) => Promise<void>;
}

const optionsOf = ({ width, scheme, language }: Condition): BrowserContextOptions => ({
  viewport: { width, height: width === 1440 ? 900 : 760 },
  colorScheme: scheme,
  locale: language === 'en' ? 'en-GB' : 'ar',
  // A colour on its way to another would be judged as it is then.
  reducedMotion: 'reduce',
});

/** The browser itself says of a probe without a network that there is none. */
const isExpected = (complaint: string): boolean => complaint.includes('ERR_INTERNET_DISCONNECTED');

interface Parts {
  readonly page: Page;
  readonly hands: Hands;
  readonly words: Words;
  readonly witness: Witness;
  readonly found: string[];
}

/** Finds by what stands there; of several, the first that is seen. */
function finders(page: Page, words: Words) {
  const optional = words.t('field.optional');
  const seen = (found: Locator): Locator => found.filter({ visible: true }).first();
  return {
    field: (label: string) => seen(page.getByLabel(patternOf(label, String.raw`(\s*${optional})?`))),
    box: (label: string) => seen(page.getByLabel(patternOf(label, '[^]*'))),
    button: (name: string) => seen(page.getByRole('button', { name: patternOf(name) })),
    link: (name: string) => seen(page.getByRole('link', { name: patternOf(name) })),
    summary: (name: string) =>
      seen(page.locator('summary').and(page.getByLabel(patternOf(name)).or(page.getByText(patternOf(name))))),
  };
}

function stepsOn({ page, hands, words, witness, found }: Parts) {
  const find = finders(page, words);
  const go = async (target: Locator): Promise<void> => {
    await target.waitFor();
    await loaded(page, () => hands.press(target));
  };
  const arrive = async (heading: string, titled = heading): Promise<void> => {
    await page
      .locator('h1')
      .filter({ hasText: patternOf(heading) })
      .waitFor();
    const title = await page.title();
    found.push(...(await witness.look(title.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 40))));
    if (!patternOf(titled, '.*').test(title)) found.push(`${heading}: its title is “${title}”`);
  };
  return {
    button: find.button,
    link: find.link,
    arrive,
    async open(address: string) {
      await page.goto(address);
    },
    async hear(heading: string, said: string) {
      await page.getByText(patternOf(said)).filter({ visible: true }).first().waitFor();
      await arrive(heading);
    },
    write: (label: Target, text: string) =>
      hands.write(typeof label === 'string' ? find.field(label) : label, text),
    tick: (label: string) => hands.tick(find.box(label)),
    select: (label: Target, option: string) =>
      hands.select(typeof label === 'string' ? find.field(label) : label, option),
    upload: (label: string, file: ChosenFile) => hands.upload(find.field(label), file),
    press: (name: Target) => go(typeof name === 'string' ? find.button(name) : name),
    async send() {
      await loaded(page, () => page.keyboard.press('Enter'));
    },
    follow: (name: Target) => go(typeof name === 'string' ? find.link(name) : name),
    touch: (target: Target) => hands.press(typeof target === 'string' ? find.summary(target) : target),
    async look(name: string) {
      found.push(...(await witness.look(name, false)));
    },
    async download(name: Target, role: 'button' | 'link') {
      const target = typeof name === 'string' ? find[role](name) : name;
      const [file] = await Promise.all([page.waitForEvent('download'), hands.press(target)]);
      return file.suggestedFilename();
    },
  };
}

type Steps = ReturnType<typeof stepsOn>;

/** What is done differently where no script runs. */
function stepsByScripts({ page, hands, words }: Parts, steps: Steps, hasScripts: boolean) {
  const find = finders(page, words);
  return {
    async enterCode(label: string, code: string, button: string) {
      if (hasScripts) await loaded(page, () => hands.write(find.field(label), code));
      else {
        await hands.write(find.field(label), code);
        await steps.press(button);
      }
    },
    async tryOffline(button: string, typed: Readonly<Record<string, string>>) {
      if (!hasScripts) return;
      await page.context().setOffline(true);
      await hands.press(find.button(button));
      await page
        .locator('#offline')
        .filter({ hasText: patternOf(words.t('status.offline')) })
        .waitFor();
      for (const [label, text] of Object.entries(typed))
        assert.equal(await find.field(label).inputValue(), text, label);
      await steps.look('offline');
      await page.context().setOffline(false);
      await page.locator('#offline').waitFor({ state: 'hidden' });
    },
  };
}

async function ended(window: Window, found: readonly string[], condition: Condition, cause?: unknown) {
  const wrong = [...found, ...window.complaints.filter((one) => !isExpected(one))];
  if (cause === undefined) return assert.deepEqual(wrong, []);
  const main = window.page.locator('main');
  const seen = await main.innerText({ timeout: 1_000 }).catch(() => 'nothing');
  throw new Error(`${nameOf(condition)}, at ${window.page.url()}:\n${seen}\n${wrong.join('\n')}`, { cause });
}

let walks = 0;

export async function walk(world: MailWorld, journey: Journey, condition: Condition): Promise<void> {
  const window = await openWindow(world.browser, optionsOf(condition));
  const { page } = window;
  const found: string[] = [];
  const hasScripts = condition.means !== 'no-script';
  await withoutAutofill(page);
  const witness = await createWitness(page, condition, journey.name);
  const words = wordsOf(condition.language);
  const parts = { page, hands: handsOf(page, condition.means !== 'keyboard'), words, witness, found };
  const steps = stepsOn(parts);
  walks += 1;
  try {
    await journey.make({
      ...words,
      ...steps,
      ...stepsByScripts(parts, steps, hasScripts),
      ...{ world, condition, page, hasScripts, name: `kim-${walks}` },
    });
    await ended(window, found, condition);
  } catch (error) {
    if (error instanceof assert.AssertionError && Array.isArray(error.actual)) throw error;
    await ended(window, found, condition, error);
  } finally {
    await window.close();
  }
}
