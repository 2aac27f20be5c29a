// Defines a page of the Admin UI: an address and its handler for the signed-in administrator or auditor. Pages change data
// only through the routes of the REST API (context.call), so that rules, audit and concurrency have one implementation.

import type Koa from 'koa';
import type { RecordedEvent } from '../../events/index.ts';
import type { Form } from '../../http/index.ts';
import type { Queued } from '../../mail/index.ts';
import type { PageText } from '../../phrase.ts';
import type { Handle, LinesHandle, Route } from '../api/route.ts';
import type { Previews } from './previews.ts';
import type { SignedInAdmin } from './signed-in-admin.ts';
import type { ImportDesk } from './user-imports.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Input of a handle's route. Values come from forms and addresses: the route validates them and names invalid fields. */
export type HandleInput<Params, Body> = {
  /** As in an address, without the question mark. */
  readonly query?: URLSearchParams | Readonly<Record<string, string>>;
  readonly body?: { readonly [Name in keyof Body]?: unknown };
  readonly ifVersion?: number | undefined;
} & (object extends Params ? { readonly params?: Params } : { readonly params: Params });

export interface CallResult<Data> {
  readonly data: Data;
  readonly version: number | undefined;
  /** Of acts that mail something. */
  readonly mail?: Queued | undefined;
}

export interface AdminContext {
  readonly ctx: Koa.Context;
  readonly admin: SignedInAdmin;
  readonly params: Readonly<Record<string, string>>;
  /** The page's query parameters, without empty ones and without those that only control the display. */
  readonly query: URLSearchParams;
  /** Empty for GET. */
  readonly form: Form;
  /** Of a page that takes one (`Page.file`): what was chosen. */
  readonly file?: Buffer | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** All routes of the REST API, for pages that document it; `call` runs them. */
  readonly routes: readonly Route[];
  /** URL of the REST API, as clients see it. */
  readonly apiUrl: string;
  /** What applications are told about this server. */
  readonly server: { readonly issuer: string; readonly baseUrl: string };
  /** False for auditors, who see no control that changes data; templates use the same name. */
  readonly canChange: boolean;
  /**
   * Runs a route of the REST API as this user.
   * @throws AppError as the route does
   */
  call<Params, Query, Body, Data>(
    handle: Handle<Params, Query, Body, Data>,
    input: HandleInput<Params, Body>,
  ): Promise<CallResult<Data>>;
  /**
   * The same for a route that reads lines. @param text one item per line @returns the result of each line
   * @throws AppError as the route does
   */
  callLines<Result>(handle: LinesHandle<Result>, text: string): Promise<readonly Result[]>;
  /** Records what a page does besides calling routes, as done by this user. */
  record(event: RecordedEvent): Promise<void>;
  /** Imports of tables of users, which outlive a request. A page for them asks for what their route does (`isSensitive`). */
  readonly userImports: ImportDesk;
  /** @param template below templates/admin */
  show(template: string, model: PageModel, status?: number): void;
  /**
   * 303 to another page of the Admin UI. @param done a key of `notices` (console/notices.ts), shown on that page
   * @param undo offered there, for seconds
   */
  go(path: string, done?: string, undo?: Undo): void;
  /** Pages and mails with a look, stored or being edited. */
  readonly previews: Previews;
  /** What this administrator chose for the look of pages. */
  readonly choices: ViewChoices;
  keepChoices(changes: Partial<ViewChoices>): void;
  /**
   * 303 to a page that reads `data` by `once` and shows it, for minutes and one time: a reload repeats nothing.
   * @returns false when it is too large to store; no response was sent then
   */
  goOnce(path: string, data: object): Promise<boolean>;
  /** The data that `goOnce` passed on; undefined when there is none, or it was already shown. */
  once(): Promise<Values | undefined>;
  /** Redirects to the sign-in, which adds a second factor if there is none, and then to the overview. */
  addFactor(): void;
  /** Postpones the offer of a second factor until tomorrow. */
  putOffFactor(): void;
  /**
   * Starts a test sign-in as an application (test-sign-in/run.ts). @param parameters of the authorization
   * request
   */
  startTestSignIn(clientId: string, parameters: Readonly<Record<string, string>>): Promise<void>;
}

/** The form of the opposite act. */
export interface Undo {
  /** Below /admin. */
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

export interface ViewChoices {
  /** The first steps on the overview. */
  readonly areStepsDismissed: boolean;
  /** By the path of a list below /admin: the names of its columns that are not shown (list-columns.ts). */
  readonly hiddenColumns: Readonly<Record<string, readonly string[]>>;
}

export interface Crumb {
  readonly label: string;
  /** Below /admin. */
  readonly href: string;
  /** Whether somebody gave it that name: it is shown as it is in each language. */
  readonly isName?: boolean;
}

export interface PageModel {
  readonly title: PageText;
  /** Current entry of the navigation. */
  readonly here: string;
  /** Breadcrumbs to this page, without the page itself. */
  readonly crumbs?: readonly Crumb[];
  /** Whether it shows previews in frames. */
  readonly hasFrames?: boolean;
  readonly [name: string]: unknown;
}

export interface Page {
  readonly method: 'GET' | 'POST';
  /** Below /admin, parameters as `:name`; '' is the overview. */
  readonly path: string;
  /**
   * Requires a fresh sign-in before the page is shown. Whether an act requires one is up to its route (api/route.ts),
   * regardless of this setting.
   */
  readonly isSensitive?: boolean;
  /** As every POST does, requires full access: the page has nothing but a form. */
  readonly needs?: 'admin';
  /**
   * POST: path of the page that has the form, below /admin, and the form's action there; default: the same address, else the
   * nearest page above it.
   */
  readonly formOn?: { readonly path: string; readonly action?: string };
  /** Asked for by a script again and again: it neither keeps anyone signed in nor starts a sign-in, but answers 401. */
  readonly isBackground?: boolean;
  /** Maximum size of the form in bytes; default: that of every form. */
  readonly formBytes?: number;
  /** POST: the form is one with a file, in the field of that name. */
  readonly file?: { readonly name: string; readonly limitBytes: number };
  readonly handle: (context: AdminContext) => Promise<void>;
}

type More = Omit<Page, 'method' | 'path' | 'handle'>;

export const get = (path: string, handle: Page['handle'], more: More = {}): Page => ({
  ...more,
  method: 'GET',
  path,
  handle,
});
/** What a form submits to. */
export const post = (path: string, handle: Page['handle'], more: More = {}): Page => ({
  ...more,
  method: 'POST',
  path,
  handle,
});

/** The item that a page with `:id` in its path is about, as the parameter of its route. */
export const idOf = ({ params }: Pick<AdminContext, 'params'>): { readonly id: string } => ({
  id: params.id ?? '',
});
