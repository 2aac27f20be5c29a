// What the rules say about each redirect URI while it is typed, and after a form was refused.
import { linesOf } from '../../pages/field-values.ts';
import { type AdminContext, type Page, post } from '../../pages/page.ts';
import { clients } from './resource.ts';

export interface UriVerdict {
  readonly uri: string;
  readonly problem?: string;
  /** What is allowed, but worth knowing. */
  readonly note?: string;
}

const MOST = 50;
/** As much as the route takes at once. */
const MOST_TEXT = 4096;

/** In parts that the route takes; a line that is longer than any redirect URI may be is cut. */
function partsOf(lines: readonly string[]): string[] {
  const parts: string[] = [];
  for (const line of lines.slice(0, MOST).map((one) => one.slice(0, MOST_TEXT))) {
    const joined = `${parts.at(-1) ?? ''}\n${line}`;
    if (parts.length > 0 && joined.length <= MOST_TEXT) parts[parts.length - 1] = joined;
    else parts.push(line);
  }
  return parts;
}

function noteOn(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url === null) return undefined;
  if (url.protocol === 'http:') return 'On this computer only: for development.';
  if (url.protocol !== 'https:' && !url.protocol.includes('.'))
    return 'Any program may claim such a scheme; PKCE protects the code.';
  return undefined;
}

/** @param lines one address per line @returns one verdict for each */
export async function verdictsOn(
  context: AdminContext,
  lines: readonly string[],
  applicationType: unknown,
): Promise<readonly UriVerdict[]> {
  const type = applicationType === 'native' ? 'native' : 'web';
  const answers = await Promise.all(
    partsOf(lines).map((uris) =>
      context.call(clients.checkRedirectUris, { query: { uris, application_type: type } }),
    ),
  );
  return answers
    .flatMap(({ data }) => data.items)
    .map(({ uri, problem }) => {
      const note = noteOn(uri);
      return {
        uri,
        ...(problem !== undefined && { problem }),
        ...(problem === undefined && note !== undefined && { note }),
      };
    });
}

/** The script of the forms asks here, and puts the answer below the field. */
async function check(context: AdminContext): Promise<void> {
  const { form } = context;
  const lines = linesOf(form.get('redirect_uris'));
  const verdicts = await verdictsOn(context, lines, form.get('application_type'));
  context.show('uri-verdicts', { title: 'Redirect URIs', here: 'applications', verdicts });
}

export const uriVerdictPages: readonly Page[] = [
  post('/applications/check-redirect-uris', check, { formOn: { path: '/applications/new' } }),
];
