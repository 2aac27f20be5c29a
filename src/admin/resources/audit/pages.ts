// The pages of the audit log: what happened, by whom, to whom; searched by address, and one event in full.

import { eventNames } from '../../../events/index.ts';
import { isMembers } from '../../../json.ts';
import { drawnList } from '../../pages/list-page.ts';
import { type AdminContext, idOf, type Page, type Values } from '../../pages/page.ts';
import { createNames, eventLabel, eventRow, eventRows } from '../names.ts';
import { auditLog } from './resource.ts';

const here = 'audit';

/** The browser's datetime field has no time zone; the log is in UTC. */
const timeOf = (text: string): string => (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(text) ? `${text}:00Z` : text);

function asked(query: URLSearchParams): URLSearchParams {
  const wanted = new URLSearchParams(query);
  for (const [name, text] of query) if (/^at_(from|to)$/.test(name)) wanted.set(name, timeOf(text));
  return wanted;
}

const events = eventNames.map((name) => ({ name, label: eventLabel(name) }));

const list = drawnList({
  path: '/audit',
  title: 'Audit log',
  here,
  template: 'audit',
  list: auditLog.list,
  chips: [
    { label: 'Failures', set: { outcome: 'failure' } },
    { label: 'Sign-ins', set: { event: 'signin.success' } },
    { label: 'Failed sign-ins', set: { event: 'signin.failure' } },
    { label: 'Settings', set: { event: 'settings.changed' } },
    { label: 'Tokens', set: { class: 'tokens' } },
    { label: 'Refused tokens', set: { event: 'token.refused' } },
  ],
  asked,
  more: async (context, items) => ({ events, rows: await eventRows(items, createNames(context)) }),
});

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

const shown = (value: unknown): string => {
  if (value === undefined) return '';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const membersOf = (value: unknown): Values => (isMembers(value) ? value : {});

/** The values before and after, side by side. */
function changesOf(details: Values): readonly Change[] {
  const [before, after] = [membersOf(details.before), membersOf(details.after)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.map((name) => ({ name, before: shown(before[name]), after: shown(after[name]) }));
}

const SHOWN_APART = new Set(['before', 'after', 'api_id']);

async function showEvent(context: AdminContext): Promise<void> {
  const { data: event } = await context.call(auditLog.read, { params: idOf(context) });
  const nameOf = createNames(context);
  const row = await eventRow(event, nameOf);
  const details = event.details ?? {};
  const rest = Object.entries(details).filter(([name]) => !SHOWN_APART.has(name));
  context.show('audit-event', {
    title: row.label,
    here,
    crumbs: [{ label: 'Audit log', href: '/audit' }],
    event,
    row,
    changes: changesOf(details),
    api: typeof details.api_id === 'string' ? await nameOf('api', details.api_id) : undefined,
    rest: rest.map(([name, value]) => ({ name, value: shown(value) })),
  });
}

export const auditPages: readonly Page[] = [list, { method: 'GET', path: '/audit/:id', handle: showEvent }];
