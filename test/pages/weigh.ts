// What a page weighs on the wire, with everything that it asks for.
import type { Page, Request } from 'playwright-core';

/** ux.md: what a page and its assets may weigh, compressed. */
export const PAGE_BYTES = 60_000;
export const SIGN_IN_BYTES = 25_000;
/** docs/branding.md: what the pictures of a look may weigh besides; of a logo and its dark form a page has one. */
export const PICTURE_BYTES = { logo: 10_000, icon: 10_000, background: 200_000 };

export interface Scales {
  /** @returns the bytes of all bodies since this was asked last */
  weight(): Promise<number>;
}

/** @returns the bytes of its body once it is here whole, which the page may be told of before; 0 of what gets no answer */
export async function bytesOf(request: Request): Promise<number> {
  const response = await request.response();
  if (response === null) return 0;
  await response.finished();
  const { responseBodySize } = await request.sizes();
  return responseBodySize;
}

/** The page must be one whose assets come anew each time, as to somebody who was never here: with a route, nothing is cached. */
export function putOnScales(page: Page): Scales {
  let asked: Request[] = [];
  page.on('request', (request) => {
    // A frame is a page of its own.
    if (request.frame() !== page.mainFrame()) return;
    // What the page before still waits for is not this page's.
    if (request.isNavigationRequest() && request.redirectedFrom() === null) asked = [];
    asked.push(request);
  });
  return {
    async weight() {
      const weighed = asked;
      asked = [];
      const sizes = await Promise.all(weighed.map(bytesOf));
      return sizes.reduce((sum, bytes) => sum + bytes, 0);
    },
  };
}
