// The pictures that a module asks for: taken in Chromium, given to the suite, and kept beside the outcomes for a person to look at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Calls, listIn, textIn } from './calls.ts';
import type { PageKind } from './visit.ts';

export interface Album {
  /** Fills the places for pictures of such a page. */
  fill(page: Page, kind: PageKind): Promise<void>;
  /** Where the pictures were kept. */
  readonly files: readonly string[];
}

/** By the suite's name for what it expects. `ExpectLoginPage` is left alone: it holds up nothing, and the sign-in goes on. */
function kindOf(expectation: string): PageKind | undefined {
  // "Either an error screen or confirm with the user": here it is the latter.
  if (/IdTokenHint.*ErrorPage$/.test(expectation)) return 'sign-out';
  if (/^ExpectLoginPageWith/.test(expectation)) return 'consent';
  if (/LoginPage/.test(expectation)) return /Second/.test(expectation) ? 'sign-in' : undefined;
  return 'end';
}

/** @param folder where pictures are kept, as `name`; absent: only the suite has them */
export function createAlbum(calls: Calls, id: string, name: string, folder: string | undefined): Album {
  const files: string[] = [];
  return {
    files,
    async fill(page, kind) {
      const wanted = listIn(await calls.suite('GET', `log/${id}/images`)).filter(
        (place) => textIn(place, 'upload') !== '' && kindOf(textIn(place, 'src')) === kind,
      );
      for (const place of wanted) {
        const picture = await page.screenshot({ fullPage: true });
        await calls.upload(
          `log/${id}/images/${textIn(place, 'upload')}`,
          `data:image/png;base64,${picture.toString('base64')}`,
        );
        if (folder === undefined) continue;
        mkdirSync(folder, { recursive: true });
        const file = join(folder, `${name}${files.length === 0 ? '' : `-${files.length + 1}`}.png`);
        writeFileSync(file, picture);
        files.push(file);
      }
    },
  };
}
