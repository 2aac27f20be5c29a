// Settings of the rate limits (counted in src/rate-limits/limits.ts): points per window, 0 for no limit. An address stands
// for its network: an IPv4 address, or the /64 of an IPv6 address. All that is counted by address has a ceiling for the wider
// networks that the address is in, as many times an address's limit as the factors say.
import { integer, type SettingDefinition } from './definitions.ts';

const MAX_POINTS = 10_000_000;
const MAX_FACTOR = 1_000_000;

const limit = (points: number, what: string): SettingDefinition<number> =>
  integer({
    group: 'Limits',
    default: points,
    min: 0,
    max: MAX_POINTS,
    description: `${what}; 0: no limit.`,
  });

const factor = (times: number, network: string): SettingDefinition<number> =>
  integer({
    group: 'Limits',
    default: times,
    min: 0,
    max: MAX_FACTOR,
    description: `How many times an address’s limits all addresses of ${network} have together; 0: no limit.`,
  });

export const limitDefinitions = {
  network_factor_56: factor(4, 'an IPv6 /56'),
  network_factor_48: factor(16, 'an IPv6 /48'),
  network_factor_24: factor(32, 'an IPv4 /24'),
  network_factor_16: factor(256, 'an IPv4 /16'),
  limit_login_ip: limit(300, 'Wrong passwords from one address in 10 minutes'),
  limit_login_account_ip: limit(30, 'Wrong passwords for one name from one address in 10 minutes'),
  limit_mfa_ip: limit(100, 'Wrong second-factor codes and refused passkeys from one address in 10 minutes'),
  limit_holder: limit(
    30,
    'Attempts in 10 minutes of one known browser, accepted password, passkey, valid link or invitation, once others have ' +
      'used up the limits of its address',
  ),
  limit_user_code_ip: limit(30, 'Wrong device sign-in codes from one address in an hour'),
  limit_user_code_account: limit(10, 'Wrong device sign-in codes by one account in an hour'),
  limit_client_failures_ip: limit(300, 'Wrong credentials of one application from one address in 10 minutes'),
  limit_token_ip: limit(6000, 'Refused token requests from one address in 10 minutes'),
  limit_register_ip: limit(100, 'Sign-ups and wrong registration tokens from one address in an hour'),
  limit_agents_ip: limit(20, 'Agents that register openly from one address in an hour'),
  limit_agent_documents_ip: limit(60, 'Metadata documents of agents fetched for one address in an hour'),
  limit_agent_documents_host: limit(60, 'Metadata documents of agents fetched from one host in an hour'),
  limit_signup_address: limit(20, 'Wrong sign-up codes for one e-mail address from one address in a day'),
  limit_signup_codes: limit(200, 'Wrong sign-up codes for one e-mail address in a day'),
  limit_mail_address: limit(5, 'Mails of one kind to one e-mail address that anyone can request, in an hour'),
  limit_mail_owner: limit(
    5,
    'Mails of one kind that the owner requests in an hour, in a browser that the account knows or with the password',
  ),
  limit_mail_requester_ip: limit(
    5,
    'Mails of one kind to one e-mail address from one address in an hour, of those that only who requests them can use',
  ),
  limit_mail_acts: limit(
    3,
    'Of one account in 10 minutes: new addresses, moves of the primary one, downloads of its data, reports of foreign ' +
      'activity, new sets of recovery codes, and switching codes by e-mail on or off',
  ),
  limit_mail_ip: limit(20, 'Requests for a mail from one address in 10 minutes'),
  limit_username_account: limit(10, 'Usernames that one account tries to take in a day'),
  limit_avatar_account: limit(20, 'Pictures that one account uploads in an hour'),
  limit_admin_failures_ip: limit(300, 'Wrong bearer tokens for the admin API from one address in 10 minutes'),
  limit_open_signins_ip: limit(2000, 'Unfinished sign-ins of one address at once'),
  limit_open_signins: limit(50_000, 'Unfinished sign-ins of all addresses at once where nobody is signed in'),
  limit_public_requests_ip: limit(
    1000,
    'Pushed and device authorization requests without client authentication from one address in 10 minutes',
  ),
  limit_refusals_ip: limit(
    1000,
    'Malformed requests, those of a wrong type and those answered 403 from one address in 10 minutes; further ones are ' +
      'answered 429, all other requests go on',
  ),
  limit_logout_test_client: limit(20, 'Test sign-outs sent to one application in 10 minutes'),
  limit_authorize_ip: limit(50_000, 'Sign-ins started from one address in an hour'),
} as const;
