// The interfaces that the admin API needs from other domains, as narrow as it uses them. Those domains do not import it.
import type Koa from 'koa';
import type { OutboxMail, TestOutcome } from '../../mail/index.ts';
import type { MailTemplate } from '../../model/mails.ts';
import type { Bearers } from '../../oidc/index.ts';
import type { SessionRecord } from '../../store/collections.ts';
import type { Query, Stored } from '../../store/port.ts';

/** Who acts: the bearer of ADMIN_TOKEN, an administrator, a client with scope `admin`, or an API key. */
export type Actor = Awaited<ReturnType<Bearers['authorizeAdmin']>>;

/** @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (ctx: Koa.Context, need?: Actor['access']) => Promise<Actor>;

export interface Listing<Item> {
  readonly items: readonly Item[];
  /** Total of all pages. */
  readonly total: number;
}

/** Outbound mail; `kept` mails, stored because no mail server is configured, include their texts. */
export interface MailPort {
  list(query: Query): Promise<Listing<OutboxMail>>;
  find(id: string): Promise<OutboxMail | undefined>;
  /** When the mail server as it is set now was first found to accept a mail (epoch ms). */
  provenAt(): Promise<number | undefined>;
  /** Why it did not accept a mail, unless it has accepted one since. */
  lastFailure(): Promise<{ readonly at: number; readonly problem: string } | undefined>;
  /** @throws AppError request.invalid for an invalid address */
  sendTest(to: string, language?: string, template?: MailTemplate): Promise<TestOutcome>;
}

export interface SessionsPort {
  find(id: string): Promise<Stored<SessionRecord> | undefined>;
  query(query: Query): Promise<Listing<Stored<SessionRecord>>>;
  isActive(record: SessionRecord): boolean;
  /** @returns whether an active one existed */
  end(id: string): Promise<boolean>;
}
