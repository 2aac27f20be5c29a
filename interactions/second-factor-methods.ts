import type Koa from 'koa';
import type { AuthenticationMethod } from '../src/sessions/index.ts';

/** Methods with a code to enter. */
export type CodeMethod = 'totp' | 'email' | 'recovery';
export type Method = CodeMethod | 'passkey';

export const isCodeMethod = (value: unknown): value is CodeMethod =>
  value === 'totp' || value === 'email' || value === 'recovery';

export const isMethod = (value: unknown): value is Method => value === 'passkey' || isCodeMethod(value);

/** RFC 8176. An e-mail code is no separate factor: the same password may open the mailbox. */
export const AMR: Readonly<Record<CodeMethod, readonly string[]>> = {
  totp: ['otp', 'mfa'],
  email: ['otp'],
  recovery: ['otp', 'mfa'],
};

/** The method names of decisions §8 (src/accounts/freshness.ts). */
export const PROVEN: Readonly<Record<CodeMethod, readonly AuthenticationMethod[]>> = {
  totp: ['totp'],
  email: ['email_code'],
  recovery: ['recovery'],
};

export const passkeyMethods = ({
  isUserVerified,
}: {
  readonly isUserVerified: boolean;
}): readonly AuthenticationMethod[] => [isUserVerified ? 'passkey' : 'security_key'];

/** RFC 8176 `hwk`: the key is bound to one device; `swk`: it is synced. With user verification it counts as two factors. */
export const passkeyAmr = (passkey: {
  readonly deviceType: 'singleDevice' | 'multiDevice';
  readonly isUserVerified: boolean;
}): string[] => [
  passkey.deviceType === 'singleDevice' ? 'hwk' : 'swk',
  ...(passkey.isUserVerified ? ['user', 'mfa'] : []),
];

export const ALERTS = {
  wrong: 'alert.code_wrong',
  expired: 'alert.code_expired',
  blocked: 'alert.rate_limited',
} as const;

/** Without the methods already used as first factor. */
export function unspentMethods(methods: readonly Method[], amr: readonly string[]): Method[] {
  // A user who signs in by one of these has no passkey.
  const isRecovering = amr.includes('recovery_code') || amr.includes('enrolment_link');
  const isSpent: Readonly<Record<Method, boolean>> = {
    totp: false,
    email: false,
    recovery: amr.includes('recovery_code'),
    passkey: isRecovering || amr.includes('hwk') || amr.includes('swk'),
  };
  return methods.filter((method) => !isSpent[method]);
}

/** POST, redirect, GET: reloading the next page does not submit the form again. */
export function goToStep(
  ctx: Koa.Context,
  basePath: string,
  { uid }: { readonly uid: string },
  method?: Method,
): void {
  const query = new URLSearchParams({ interaction: uid, ...(method !== undefined && { method }) });
  ctx.status = 303;
  ctx.redirect(`${basePath}/oauth2/mfa?${query}`);
}
