import type { OutboundFetch } from './outbound-fetch.ts';

/**
 * For what no administrator entered: https to public addresses, whatever OUTBOUND_ALLOW says, no redirects, limited in time and
 * size (outbound-fetch.ts).
 */
export const createFetchDocument =
  (fetch: OutboundFetch) =>
  async (address: string): Promise<{ status: number; contentType: string; text: string }> => {
    const what = { use: 'keys', isApproved: false } as const;
    const response = await fetch(address, { headers: { accept: 'application/json' } }, what);
    const contentType = response.headers.get('content-type') ?? '';
    return { status: response.status, contentType, text: await response.text() };
  };
