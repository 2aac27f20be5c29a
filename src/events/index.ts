// Everything that happens: the recorded events (their rows: src/model/events/), what is reported without being
// recorded (signals.ts), where a request comes from (origin.ts, device-name.ts), and recording and subscribing (events.ts,
// where to start).
// What a domain does when something happens is that domain's; how events are stored is the audit log's (src/audit).
export type { EventName } from '../model/events/events.ts';
export { deviceName, deviceParts } from './device-name.ts';
export { createEvents, type Events } from './events.ts';
export type { Origin, Origins } from './origin.ts';
export type { Actor, RecordedEvent, Target } from './recorded-event.ts';
export type { Signals } from './signals.ts';
