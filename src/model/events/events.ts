// What is recorded: every event of the audit log by its published name. The names are part of the product's interface
// (GET /admin/api/audit?event=…) and of stored data: they are added to, never renamed, whatever the code calls a thing today
// (`client.trial_started` is a test sign-in).
import { accountEvents } from './account.ts';
import { administrationEvents } from './administration.ts';
import type { EventClass, EventRow } from './event-row.ts';
import { grantEvents } from './grants.ts';
import { signInEvents } from './sign-in.ts';

const rows = { ...signInEvents, ...accountEvents, ...grantEvents, ...administrationEvents };

export type EventName = keyof typeof rows;

export const eventRows: Readonly<Record<EventName, EventRow>> = rows;

const isEventName = (name: string): name is EventName => Object.hasOwn(rows, name);

export const eventNames: readonly EventName[] = Object.keys(rows).filter(isEventName);

/** @returns undefined for an event of another version of this product */
export const eventRow = (name: string): EventRow | undefined =>
  isEventName(name) ? eventRows[name] : undefined;

export const classOfEvent = (name: string): EventClass => eventRow(name)?.class ?? 'general';
