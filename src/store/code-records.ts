// Codes that were sent by mail.

/** A code sent by mail; the id identifies it in the interaction that requested it. */
export interface EmailChallengeRecord {
  accountId: string;
  /** A code for one purpose is not accepted for another. */
  purpose: 'sign_in' | 'email_change';
  digest: string;
  /** Codes that were mailed before for the same, newest first; epoch milliseconds. */
  earlier?: { digest: string; expiresAt: number }[];
  triesLeft: number;
  createdAt: number;
  /** The interaction or session that requested it. */
  boundTo: string;
  /** The counted mails of it (`rates`): free again when a code was used. */
  mails?: string[];
}
