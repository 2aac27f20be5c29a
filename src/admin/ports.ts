// Owns what the admin API needs of the other parts, as narrow as it uses them. The parts themselves know nothing of it.
import type Koa from 'koa';
import type { SessionRecord } from '../store/collections.ts';
import type { Query, Stored } from '../store/port.ts';

/** Who acts: the bearer of ADMIN_TOKEN, an administrator, a client with scope `admin`, or an API key. */
export interface Actor {
  readonly kind: 'bootstrap' | 'user' | 'client' | 'api_key';
  readonly id: string;
}

/** @throws AppError auth.required, auth.invalid_token, auth.insufficient_scope */
export type AuthorizeAdmin = (ctx: Koa.Context) => Promise<Actor>;

export interface Listing<Item> {
  readonly items: readonly Item[];
  /** Over all pages. */
  readonly total: number;
}

export interface SessionsPort {
  find(id: string): Promise<Stored<SessionRecord> | undefined>;
  query(query: Query): Promise<Listing<Stored<SessionRecord>>>;
  isActive(record: SessionRecord): boolean;
  /** @returns whether there was a live one */
  end(id: string): Promise<boolean>;
  /** @returns how many were ended */
  endAllOf(accountId: string): Promise<number>;
}
