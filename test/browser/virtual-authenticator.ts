// Virtual authenticators in Chromium (WebAuthn §11), over the DevTools protocol.
import type { CDPSession, Page } from 'playwright-core';

export interface VirtualAuthenticator {
  /** How many passkeys are on it. */
  count(): Promise<number>;
  credentials(): Promise<unknown[]>;
  /** Puts passkeys of another one onto it. */
  take(credentials: readonly unknown[]): Promise<void>;
  setUserVerified(isVerified: boolean): Promise<void>;
  /** As pulled out. */
  remove(): Promise<void>;
}

export interface Plugged {
  /** `platform`: in the device, checks its holder; `key`: on USB, cannot. */
  readonly kind: 'platform' | 'key';
  readonly isVerified?: boolean;
  readonly isSynced?: boolean;
  /** Whether it keeps passkeys that are found without a name. */
  readonly hasStorage?: boolean;
}

const sessions = new WeakMap<Page, Promise<CDPSession>>();

async function open(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  return session;
}

const sessionOf = (page: Page): Promise<CDPSession> => {
  const known = sessions.get(page) ?? open(page);
  sessions.set(page, known);
  return known;
};

export async function plugIn(
  page: Page,
  { kind, isVerified = true, isSynced = false, hasStorage = true }: Plugged,
): Promise<VirtualAuthenticator> {
  const session = await sessionOf(page);
  const isPlatform = kind === 'platform';
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: isPlatform ? 'internal' : 'usb',
      hasResidentKey: hasStorage,
      hasUserVerification: isPlatform,
      isUserVerified: isPlatform && isVerified,
      automaticPresenceSimulation: true,
      defaultBackupEligibility: isSynced,
      defaultBackupState: isSynced,
    },
  });
  const credentials = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  return {
    credentials,
    count: async () => (await credentials()).length,
    async take(all) {
      // What getCredentials gave, which is what this takes.
      for (const credential of all)
        await session.send('WebAuthn.addCredential', { authenticatorId, credential: credential as never });
    },
    setUserVerified: async (isUserVerified) => {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
    remove: async () => {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    },
  };
}

/** So that nothing happens on a page before the person does something: autofill has a test of its own. */
export const withoutAutofill = (page: Page): Promise<unknown> =>
  page.addInitScript(
    'if (globalThis.PublicKeyCredential) PublicKeyCredential.isConditionalMediationAvailable = async () => false;',
  );

/** A browser from before passkeys. */
export const withoutWebAuthn = (page: Page): Promise<unknown> =>
  page.addInitScript('delete globalThis.PublicKeyCredential;');
