// What the admin API needs of the other parts, as narrow as it uses them. The parts themselves know nothing of it.
import type Koa from 'koa';
import type { AdminAccess } from '../../accounts/index.ts';
import type { OutboxMail } from '../../mail/index.ts';
import type { SessionRecord } from '../../store/collections.ts';
import type { Query, Stored } from '../../store/port.ts';

/** Who acts: the bearer of ADMIN_TOKEN, an administrator, a client with scope `admin`, or an API key. */
export interface Actor {
  readonly kind: 'bootstrap' | 'user' | 'client' | 'api_key';
  readonly id: string;
  /** What the bearer opens: everything, or reading alone. */
  readonly access: AdminAccess;
  /** Whether a person authenticated for this as a sensitive act wants it (decisions §8); only a person has it. */
  readonly isFresh?: () => Promise<boolean>;
}

/** @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (ctx: Koa.Context, need?: Actor['access']) => Promise<Actor>;

export interface Listing<Item> {
  readonly items: readonly Item[];
  /** Over all pages. */
  readonly total: number;
}

/** Outbound mail; `kept` ones, which there was no server for, come with their texts. */
export interface MailPort {
  list(query: Query): Promise<Listing<OutboxMail>>;
  find(id: string): Promise<OutboxMail | undefined>;
  /** @throws AppError request.invalid for a bad address */
  sendTest(to: string): Promise<{ readonly state: 'sent' | 'kept' | 'failed'; readonly problem?: string }>;
}

export interface SessionsPort {
  find(id: string): Promise<Stored<SessionRecord> | undefined>;
  query(query: Query): Promise<Listing<Stored<SessionRecord>>>;
  isActive(record: SessionRecord): boolean;
  /** @returns whether there was a live one */
  end(id: string): Promise<boolean>;
}
