// What a handler of the self-service API is given, and what it gives back.
import type Koa from 'koa';
import type { Body } from './api-body.ts';
import type { SelfServiceUser } from './page-kit.ts';

export interface Call {
  readonly ctx: Koa.Context;
  readonly who: SelfServiceUser;
  /** The last segment of the path, where the route has such a parameter. */
  readonly id: string;
  /** The members of the body: exactly these, all strings. @throws AppError request.invalid */
  readonly read: (required: readonly string[], optional?: readonly string[]) => Promise<Body>;
  /** Those of these members that the body has. @throws AppError request.invalid */
  readonly readChanges: (names: readonly string[]) => Promise<Body>;
  /** The only member of the body, an object; its members are not validated here. @throws AppError request.invalid */
  readonly readObject: (name: string) => Promise<object>;
}

/** @returns the response's `data`; undefined: 204 */
export type Handle = (call: Call) => Promise<unknown>;
