// All doors below the protocol core, each with one name and one type. What stands above takes them whole and names those that it
// uses (decision 0042).
import type { AccountDomain } from './accounts/index.ts';
import type { Agents } from './agents/index.ts';
import type { Apis } from './apis/index.ts';
import type { AuditLogs } from './audit/index.ts';
import type { Avatars } from './avatars/index.ts';
import type { Base } from './base.ts';
import type { Branding } from './branding/index.ts';
import type { ClientDomain } from './clients/index.ts';
import type { Csrf, OneTime } from './http/index.ts';
import type { Keys } from './keys/index.ts';
import type { Mail } from './mail/index.ts';
import type { Passkeys } from './passkeys/index.ts';
import type { RateLimiting } from './rate-limits/index.ts';
import type { Recovery } from './recovery/index.ts';
import type { Registration } from './registration/index.ts';
import type { SecondFactors } from './second-factors/index.ts';
import type { SessionDomain } from './sessions/index.ts';
import type { Settings } from './settings/index.ts';
import type { Views } from './views/index.ts';

export interface Domains
  extends Base,
    AccountDomain,
    AuditLogs,
    Branding,
    ClientDomain,
    RateLimiting,
    SessionDomain {
  readonly agents: Agents;
  readonly apis: Apis;
  readonly avatars: Avatars;
  readonly keys: Keys;
  readonly mail: Mail;
  readonly passkeys: Passkeys;
  readonly recovery: Recovery;
  readonly registration: Registration;
  readonly secondFactors: SecondFactors;
  /** To describe and to change them; their values: `settings`. */
  readonly settingsInStore: Settings;
  readonly views: Views;
  readonly csrf: Csrf;
  readonly oneTime: OneTime;
}
