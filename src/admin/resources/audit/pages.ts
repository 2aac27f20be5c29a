// The pages of the audit log: what happened, by whom, to whom; searched by address, and one event in full.

import { AppError } from '../../../errors.ts';
import { eventNames } from '../../../model/events/events.ts';
import { ours, type PageText, Phrase, type PhraseValue, phrase } from '../../../phrase.ts';
import { searchWords } from '../../../store/search-text.ts';
import { exportPage } from '../../pages/exports.ts';
import { personName } from '../../pages/format.ts';
import { drawnList } from '../../pages/list-page.ts';
import { type AdminContext, get, idOf, type Page } from '../../pages/page.ts';
import type { Name } from '../../pages/parts.ts';
import { applicationName } from '../clients/page.ts';
import { clients } from '../clients/resource.ts';
import { createNames, eventLabel, type NameOf, shownEvent, shownEvents } from '../names.ts';
import { sessions } from '../sessions/resource.ts';
import { users } from '../users/resource.ts';
import { changesOf, shown } from './changes.ts';
import { livePage } from './live-page.ts';
import { pickFields, resolvePicks } from './pick.ts';
import { asked } from './query.ts';
import { auditLog } from './resource.ts';
import { sentenceOf } from './sentences.ts';

const here = 'audit';

const events = eventNames.map((name) => ({ name, label: eventLabel(name) }));

const MOST_EXPORTED = 100_000;

const fieldWords: Readonly<Record<string, (value: string) => PageText>> = {
  event: eventLabel,
  outcome: (value) => (value === 'failure' ? 'Failures' : 'Successes'),
  class: (value) => (value === 'all' ? 'With tokens' : value === 'tokens' ? 'Tokens' : 'Without tokens'),
  ip_address: (value) => phrase`From ${value}`,
  at_from: (value) => phrase`Since ${value.slice(0, 16).replace('T', ' ')} UTC`,
  at_to: (value) => phrase`Until ${value.slice(0, 16).replace('T', ' ')} UTC`,
};

/** Ids of the address by name. */
async function filterWords(context: AdminContext) {
  const nameOf = createNames(context);
  const given = pickFields.flatMap(({ filter, inWords, kinds }) => {
    const id = context.query.get(filter);
    return id === null ? [] : [{ filter, inWords, id, kinds: [...kinds.map(kindOf), 'group', 'api'] }];
  });
  const names = new Map<string, PageText>();
  for (const { filter, inWords, id, kinds } of given)
    names.set(filter, inWords(await nameOfAny(nameOf, kinds, id)));
  const open = new Map(pickFields.map(({ name, inWords }) => [name, inWords]));
  return (name: string, value: string): PageText | undefined =>
    names.get(name) ?? open.get(name)?.(`“${value}”`) ?? fieldWords[name]?.(value);
}

const kindOf = (kind: 'user' | 'application'): string => (kind === 'user' ? 'user' : 'client');

async function nameOfAny(nameOf: NameOf, kinds: readonly string[], id: string): Promise<string> {
  for (const kind of kinds) {
    const { label } = await nameOf(kind, id).catch(() => ({ label: id }));
    if (label !== id) return label;
  }
  return id;
}

/** What else the search could have meant: kinds of events by their words, people and applications by name. */
async function meant(context: AdminContext): Promise<readonly { label: PageText; href: string }[]> {
  const text = (context.query.get('search') ?? '').trim();
  if (text === '' || context.query.has('cursor') || context.query.has('offset')) return [];
  const words = searchWords(text);
  const kinds = events.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
  const query = { search: text.slice(0, 200), limit: '4' };
  const [people, applications] = await Promise.all([
    context.call(users.list, { query }),
    context.call(clients.list, { query }),
  ]);
  return [
    ...kinds
      .slice(0, 6)
      .map(({ name, label }) => ({ label: `Event: ${ours(label)}`, href: `/audit?event=${name}` })),
    ...people.data.items.flatMap((user) => [
      { label: phrase`Done by ${personName(user)}`, href: `/audit?actor_id=${user.id}` },
      { label: phrase`About ${personName(user)}`, href: `/audit?target_id=${user.id}` },
    ]),
    ...applications.data.items.map((client) => ({
      label: phrase`Application ${applicationName(client)}`,
      href: `/audit?client_id=${encodeURIComponent(client.client_id)}`,
    })),
  ];
}

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
  wordsOf: filterWords,
  asked,
  async more(context, items) {
    const { picks } = await resolvePicks(context);
    const { query } = context;
    // Newer events belong on top of the first page only.
    const isLive =
      !['cursor', 'offset', 'sort', 'order'].some((name) => query.has(name)) && picks.length === 0;
    return {
      events,
      picks,
      pickFields,
      meant: await meant(context),
      liveQuery: isLive ? query.toString() : undefined,
      rows: await shownEvents(items, createNames(context)),
    };
  },
});

const listPage: Page = {
  ...list,
  async handle(context) {
    const isNamed = pickFields.some(({ name }) => context.query.has(name));
    const { query, picks } = isNamed ? await resolvePicks(context) : { query: undefined, picks: [] };
    // The address has the ids, so that it stays right when names change.
    if (query !== undefined && picks.length === 0)
      return context.go(query.size === 0 ? '/audit' : `/audit?${query}`);
    return list.handle(context);
  },
};

/** What the actor or the target is; what says so itself (nobody, this server) needs no word. */
const kindWords: Readonly<Record<string, string>> = {
  user: 'User',
  client: 'Application',
  bootstrap: 'Token of the environment',
  api_key: 'API key',
  api: 'API',
  group: 'Group',
  session: 'Session',
  invitation: 'Invitation',
  key: 'Signing key',
  token: 'Token',
  grant: 'Permission',
  settings: 'Settings',
};

const SHOWN_APART = new Set(['before', 'after', 'api_id']);

/** The session in which it happened: with its device, while it is kept. */
async function sessionOf(context: AdminContext, id: string | null): Promise<{ device?: string } | undefined> {
  if (id === null) return undefined;
  try {
    const { device } = (await context.call(sessions.read, { params: { id } })).data;
    return { device };
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return {};
    throw error;
  }
}

const inSentence = ({ label, isOurs }: Name): PhraseValue => (isOurs === true ? new Phrase([label]) : label);

async function showEvent(context: AdminContext): Promise<void> {
  const { data: event } = await context.call(auditLog.read, { params: idOf(context) });
  const nameOf = createNames(context);
  const row = await shownEvent(event, nameOf);
  const details = event.details ?? {};
  const rest = Object.entries(details).filter(([name]) => !SHOWN_APART.has(name));
  context.show('audit-event', {
    title: row.label,
    here,
    crumbs: [{ label: 'Audit log', href: '/audit' }],
    event,
    row,
    kinds: {
      actor: kindWords[event.actor_kind] ?? '',
      target: kindWords[event.target_kind ?? ''] ?? '',
    },
    sentence: sentenceOf(event.event, {
      actor: inSentence(row.actor),
      target: row.target && inSentence(row.target),
      client: row.client && inSentence(row.client),
    }),
    changes: changesOf(details),
    session: await sessionOf(context, event.session_id),
    api: typeof details.api_id === 'string' ? await nameOf('api', details.api_id) : undefined,
    rest: rest.map(([name, value]) => ({ name, value: shown(value) })),
  });
}

export const auditPages: readonly Page[] = [
  listPage,
  livePage,
  exportPage(auditLog.list, { event: 'audit.exported', asked, most: MOST_EXPORTED }),
  get('/audit/:id', showEvent),
];
