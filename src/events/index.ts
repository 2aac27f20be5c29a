// Everything that happens: the catalogue of recorded events with their labels (catalogue.ts), what is reported without being
// recorded (signals.ts), where a request comes from (origin.ts, device-name.ts), and recording and subscribing (events.ts,
// where to start).
// What a domain does when something happens is that domain's; how events are stored is the audit log's (src/audit).
export {
  type Actor,
  classOfEvent,
  type EventClass,
  type EventName,
  eventLabels,
  eventNames,
  type RecordedEvent,
  type Target,
} from './catalogue.ts';
export { deviceName, deviceParts } from './device-name.ts';
export { createEvents, type Events } from './events.ts';
export type { Origin, Origins } from './origin.ts';
export type { Signals } from './signals.ts';
