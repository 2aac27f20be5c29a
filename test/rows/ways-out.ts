// What an answer, a page, a record and the OpenAPI document say, read without the code that writes them.
import { apiDocument } from '../support/api-document.ts';
import { type Members, membersOf } from './world.ts';

const paths = membersOf(membersOf(apiDocument()).paths);
export const documentText = JSON.stringify(paths);

const schemaOf = (holder: unknown): Members =>
  membersOf(membersOf(membersOf(membersOf(membersOf(holder).content)['application/json']).schema).properties);

/** @returns what is said of the members of its body, and of its answer */
export function describedIn(
  path: string,
  method: string,
): { readonly given: Members; readonly shown: Members } {
  const { requestBody, responses } = membersOf(membersOf(paths[path])[method]);
  const [answer] = Object.entries(membersOf(responses)).flatMap(([status, one]) =>
    /^20/.test(status) ? [one] : [],
  );
  return { given: schemaOf(requestBody), shown: membersOf(membersOf(schemaOf(answer).data).properties) };
}

/** @returns what a record has at that place, such as `metadata.client_name` */
export const placeIn = (record: unknown, place: string): unknown =>
  place.split('.').reduce<unknown>((holder, member) => membersOf(holder)[member], record);

/** Whether a page has that text, escaped as pages escape. */
export const isIn = (html: string, text: string): boolean =>
  html.includes(
    text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#39;').replaceAll('<', '&lt;'),
  );
