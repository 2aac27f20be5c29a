// A user's authenticator app, and enrolling it at sign-in.
import { equal, match } from 'node:assert/strict';
import { generateSync } from 'otplib';
import type { Agent, Page } from './agent.ts';
import { PASSWORD, type TestApp } from './app.ts';

export interface Phone {
  /** What was scanned. */
  readonly secret: string;
  /** A code that was not used before: the clock moves past the step of the last one. */
  code(): string;
}

export function createPhone(secret: string, app: Pick<TestApp, 'advance' | 'now'>): Phone {
  return {
    secret,
    code() {
      app.advance(60_000);
      return generateSync({ secret, epoch: Math.floor(app.now() / 1000) });
    },
  };
}

/** @param first the sign-in page, while mfa_mode is `required` */
export async function enrolPhone(
  app: TestApp,
  agent: Agent,
  first: Page,
  username: string,
): Promise<{ phone: Phone; last: Page }> {
  const page = await agent.submit(first, { username, password: PASSWORD });
  match(page.body, /data:image\/png;base64/);
  const phone = createPhone(/[?&;]secret=([A-Z2-7]+)/.exec(page.body)?.[1] ?? '', app);
  const shown = await agent.submit(page, { action: 'enrol', code: phone.code() });
  equal(shown.status, 200);
  return { phone, last: await agent.submit(shown, { action: 'continue' }) };
}
