// One visit of an address that the suite wants opened: what a person would do on the pages of the provider until the browser is
// back at the suite, or stays on a page that ends here.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';

export interface Visit {
  readonly suite: string;
  readonly person: { readonly username: string; readonly password: string };
  /** Cancels where a person may. */
  readonly isRefusing: boolean;
  /** Whether the module has ended: nothing is pressed for it any more. */
  hasEnded(): Promise<boolean>;
  /** Takes the pictures that are wanted of this page. */
  picture(kind: PageKind): Promise<void>;
}

/** What the suite asks pictures of. */
export type PageKind = 'sign-in' | 'consent' | 'sign-out' | 'end';

const SETTLE_MS = 250;
/** Steps without a change after which the page is the last one: longer than the "signed out" page waits for its frames. */
const STILL_STEPS = 12;
const ALL_STEPS = 80;
const RETURN_MS = 8000;

type Acted = 'acted' | 'nothing';

/** Opens an address by a link or a form on a page of the suite, as an application sends its users. */
export async function open(page: Page, url: string, method: string, suite: string): Promise<void> {
  const { origin, pathname, searchParams } = new URL(url);
  const attribute = (text: string): string =>
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  const fields = [...searchParams].map(
    ([name, value]) => `<input type="hidden" name="${attribute(name)}" value="${attribute(value)}">`,
  );
  const way =
    method === 'POST'
      ? `<form method="post" action="${attribute(origin + pathname)}">${fields.join('')}<button id="go">Go</button></form>`
      : `<a id="go" href="${attribute(url)}">Go</a>`;
  await page.goto(`${suite}/robots.txt`);
  await page.setContent(way);
  await Promise.all([page.waitForURL((now) => !now.pathname.endsWith('/robots.txt')), page.click('#go')]);
}

async function act(page: Page, { person, isRefusing, picture }: Visit): Promise<Acted> {
  const shown = (css: string) => page.locator(css).filter({ visible: true }).first();
  const isShown = (css: string): Promise<boolean> => shown(css).isVisible();
  const press = async (css: string): Promise<Acted> => {
    await shown(css).click();
    return 'acted';
  };
  if (await isShown('form[action$="/oauth2/login"]')) {
    await picture('sign-in');
    if (isRefusing) return press('button[value=cancel]');
    if (await isShown('input[name=username]')) await shown('input[name=username]').fill(person.username);
    if (await isShown('input[name=password]')) await shown('input[name=password]').fill(person.password);
    return press('form[action$="/oauth2/login"] button.primary');
  }
  if (await isShown('button[value=allow]')) {
    await picture('consent');
    return press(`button[value=${isRefusing ? 'deny' : 'allow'}]`);
  }
  if (await isShown('form[action$="/oauth2/logout"] button.primary')) {
    await picture('sign-out');
    return press('form[action$="/oauth2/logout"] button.primary');
  }
  return 'nothing';
}

/** On the suite's pages scripts send on what is in fragments, or post between frames. */
async function waitAtSuite(page: Page): Promise<void> {
  if (page.url().includes('session_verify'))
    await page.waitForURL(/session_result/, { timeout: 2 * RETURN_MS });
  else
    await page
      .waitForSelector('#submission_complete', { state: 'attached', timeout: RETURN_MS })
      .catch(() => undefined);
}

/** Goes on from the page that is open. */
export async function goOn(page: Page, visit: Visit): Promise<void> {
  let still = 0;
  for (let step = 0; step < ALL_STEPS; step += 1) {
    await page.waitForLoadState('load').catch(() => undefined);
    if (page.url().startsWith(visit.suite)) return waitAtSuite(page);
    if (await visit.hasEnded()) return;
    // A page that goes on by itself may leave in the middle of it.
    const acted = await act(page, visit).catch((): Acted => 'nothing');
    still = acted === 'acted' ? 0 : still + 1;
    if (still > STILL_STEPS) return visit.picture('end');
    await sleep(SETTLE_MS);
  }
}
