// Recording what happens, and who hears of it. What gives something (a sign-in, a consent) is recorded before it is given;
// what takes something away (a logout, a revocation) is done first and noted.
import type { EventName } from '../model/events/events.ts';
import { createOrigins, type Origins } from './origin.ts';
import { type RecordedEvent, type ToRecord, withOwner } from './recorded-event.ts';
import type { AwaitedSignals, Signals } from './signals.ts';

type EventData = { readonly [Name in EventName]: RecordedEvent } & Signals & AwaitedSignals;

export type Subscriber<Name extends keyof EventData> = (
  data: EventData[Name],
) => Name extends keyof AwaitedSignals ? Promise<unknown> : void;

type Subscribers = { [Name in keyof EventData]?: readonly Subscriber<Name>[] };

export interface Events {
  /** Where the running request comes from. */
  readonly origins: Origins;
  /**
   * Durable when it resolves; subscribers hear of it then.
   * @throws StoreUnavailable when it could not be recorded
   */
  record(event: ToRecord): Promise<void>;
  /**
   * For what has happened already: subscribers hear of it at once, and the request is answered only when it is recorded, else
   * with 503. Never throws.
   */
  note(event: ToRecord): void;
  /** Reports what is not recorded. */
  emit<Name extends keyof Signals>(name: Name, data: EventData[Name]): void;
  /** The same, where the subscribers must have done their part first. @throws what a subscriber throws */
  emitAndWait<Name extends keyof AwaitedSignals>(name: Name, data: EventData[Name]): Promise<void>;
  on<Name extends keyof EventData>(name: Name, subscriber: Subscriber<Name>): void;
  /** Has every recorded event kept by this: what it throws fails `record`, and the request of a `note`. */
  recordWith(recorder: (event: RecordedEvent) => Promise<void>): void;
}

export function createEvents(): Events {
  const origins = createOrigins();
  const recorders: ((event: RecordedEvent) => Promise<void>)[] = [];
  const subscribers: Subscribers = {};

  const subscribersOf = <Name extends keyof EventData>(name: Name): readonly Subscriber<Name>[] =>
    subscribers[name] ?? [];

  async function keep(event: RecordedEvent): Promise<void> {
    for (const recorder of recorders) await recorder(event);
  }

  function notify(event: RecordedEvent): void {
    for (const subscriber of subscribersOf(event.event)) subscriber(event);
  }

  return {
    origins,
    async record(given) {
      const event = withOwner(given);
      await keep(event);
      notify(event);
    },
    note(given) {
      const event = withOwner(given);
      notify(event);
      const keeping = keep(event);
      // The recorder has logged it; the request, if there is one, waits for the same promise and fails with it.
      keeping.catch(() => undefined);
      origins.defer(keeping);
    },
    emit(name, data) {
      for (const subscriber of subscribersOf(name)) subscriber(data);
    },
    async emitAndWait(name, data) {
      await Promise.all(subscribersOf(name).map((subscriber) => subscriber(data)));
    },
    on(name, subscriber) {
      Object.assign(subscribers, { [name]: [...subscribersOf(name), subscriber] });
    },
    recordWith(recorder) {
      recorders.push(recorder);
    },
  };
}
