import type { MailTemplate } from '../mails.ts';

/** The volume class of events: `tokens` are many and kept for a shorter time (decision 0020). */
export type EventClass = 'general' | 'tokens';

/** What is said of each event of the audit log. */
export interface EventRow {
  /** In lists. */
  readonly label: string;
  /** On its page. What stands in brackets is left out where its name is unknown. */
  readonly sentence: string;
  readonly class: EventClass;
  /** For the owner, who can understand it and act on it: the key of a text `activity.…`. */
  readonly activity?: string;
  /** It may have been an attempt by another person. */
  readonly isProblem?: true;
  /** The mail to the owner whose own act it is; of what others did to an account, signals tell (src/events/signals.ts). */
  readonly notice?: MailTemplate;
  /** In its place, where something new took the place of something old (`is_replaced`). */
  readonly noticeOfReplacement?: MailTemplate;
  /** What latchkey_sign_ins_total counts it as; without a method, by the session's `amr`. */
  readonly counter?: {
    readonly result: 'success' | 'stepped_up' | 'failure' | 'locked';
    readonly method?: 'password' | 'passkey' | 'second_factor';
  };
}
