// What the form of the audit log submits, as its route takes it.

import { pickFields } from './pick.ts';

/** The browser's datetime field has no time zone; the log is in UTC. */
const timeOf = (text: string): string => (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00Z` : text);

export function asked(query: URLSearchParams): URLSearchParams {
  const wanted = new URLSearchParams(query);
  for (const { name } of pickFields) wanted.delete(name);
  for (const [name, text] of query) if (/^at_(from|to)$/.test(name)) wanted.set(name, timeOf(text));
  return wanted;
}
