// What a page of the Admin UI is: an address, and what it does for the administrator or auditor who opens it. Pages
// change things only by the routes of the REST API (context.call), so that rules, audit and concurrency are one mechanism.
import type Koa from 'koa';
import type { Form } from '../../http/form.ts';
import type { Handle, Route } from '../api/route.ts';
import type { SignedInAdmin } from './signed-in-admin.ts';

export type Values = Readonly<Record<string, unknown>>;

/** What a handle's route is given. Values come from forms and addresses: the route checks them, and names what is wrong. */
export type HandleInput<Params, Body> = {
  /** As in an address, without the question mark. */
  readonly query?: URLSearchParams | Readonly<Record<string, string>>;
  readonly body?: { readonly [Name in keyof Body]?: unknown };
  readonly ifVersion?: number | undefined;
} & (object extends Params ? { readonly params?: Params } : { readonly params: Params });

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>;
  /** As in an address, without the question mark. */
  readonly query?: URLSearchParams | Readonly<Record<string, string>>;
  readonly body?: Values;
  readonly ifVersion?: number | undefined;
}

export interface CallResult<Data> {
  readonly data: Data;
  readonly version: number | undefined;
}

export interface AdminContext {
  readonly ctx: Koa.Context;
  readonly admin: SignedInAdmin;
  readonly params: Readonly<Record<string, string>>;
  /** Of the page's own address; without what is empty and what is only for show. */
  readonly query: URLSearchParams;
  /** Empty for GET. */
  readonly form: Form;
  /** Epoch milliseconds. */
  readonly now: number;
  /** All routes of the REST API, for pages about it; what they do is done by `call`. */
  readonly routes: readonly Route[];
  /** Where the REST API is, as others see it. */
  readonly apiUrl: string;
  /** False for auditors, who see no control that changes something; templates know it by the same name. */
  readonly canChange: boolean;
  /**
   * Does what the route of the REST API does, as this person.
   * @throws AppError as the route does
   */
  call<Params, Query, Body, Data>(
    handle: Handle<Params, Query, Body, Data>,
    input: HandleInput<Params, Body>,
  ): Promise<CallResult<Data>>;
  /** The same by name, for resources that are not declared by `defineResource` yet. */
  callByName(route: string, input?: CallInput): Promise<CallResult<Values>>;
  /**
   * The same for a route that takes lines. @param text one thing a line @returns what is answered for each
   * @throws AppError as the route does
   */
  callLines(route: string, text: string): Promise<readonly Values[]>;
  /** @param template below templates/admin */
  show(template: string, model: PageModel, status?: number): void;
  /** 303 to another page of ours. @param done a key of `notices` (console/notices.ts), told there */
  go(path: string, done?: string): void;
  /**
   * 303 to a page of ours, which takes `data` by `once` and shows it, for minutes and one time: a reload repeats nothing.
   * @returns false when it is too large to be kept; nothing was answered then
   */
  goOnce(path: string, data: object): Promise<boolean>;
  /** What `goOnce` sent here; undefined when there is none, or it was shown already. */
  once(): Promise<Values | undefined>;
  /** Sends the browser through the sign-in, which has a second factor added where there is none; then home. */
  addFactor(): void;
  /** Asks for a second factor again tomorrow. */
  putOffFactor(): void;
  /**
   * Sends the browser to sign in as an application (test-sign-in/run.ts). @param parameters of the authorization
   * request
   */
  startTrial(clientId: string, parameters: Readonly<Record<string, string>>): Promise<void>;
}

export interface PageModel {
  readonly title: string;
  /** Which entry of the navigation is lit. */
  readonly here: string;
  /** Where this page lies, without itself. */
  readonly crumbs?: readonly { readonly label: string; readonly href: string }[];
  readonly [name: string]: unknown;
}

export interface Page {
  readonly method: 'GET' | 'POST';
  /** Below /admin, parameters as `:name`; '' is the overview. */
  readonly path: string;
  /**
   * Asks for a fresh sign-in before anything is typed or shown. Whether an act needs one its route says (api/route.ts),
   * whatever stands here.
   */
  readonly isSensitive?: boolean;
  /** Beside every POST: there is nothing to look at but a form, so that it is for full administrators alone. */
  readonly needs?: 'admin';
  /**
   * POST: below /admin, the page that its form is on, and the form's action there; default: the same address, else the
   * nearest page above it.
   */
  readonly formOn?: { readonly path: string; readonly action?: string };
  /** What its form may be long, in bytes; default: as any form. */
  readonly formBytes?: number;
  readonly handle: (context: AdminContext) => Promise<void>;
}
