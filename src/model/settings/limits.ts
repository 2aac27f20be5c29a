// Rate limits (counted in src/rate-limits/limits.ts): points per window, 0 for no limit. An address stands
// for its network: an IPv4 address, or the /64 of an IPv6 address. All that is counted by address has a ceiling for the wider
// networks that the address is in, as many times an address's limit as the factors say.
import { integer } from '../kinds.ts';
import { type SettingRow, setting } from './setting.ts';

const group = 'Limits';

const points = integer(0, 10_000_000);
const times = integer(0, 1_000_000);

/** @param mayShutOut where it counts what every sign-in does, or everybody's mistakes together */
const limit = (label: string, absent: number, what: string, mayShutOut = false): SettingRow<number> =>
  setting(points, { group, label, description: `${what}; 0: no limit.`, absent, mayShutOut });

const factor = (label: string, absent: number, network: string): SettingRow<number> =>
  setting(times, {
    group,
    label,
    description: `How many times an address’s limits all addresses of ${network} have together; 0: no limit.`,
    absent,
    mayShutOut: true,
  });

export const limitSettings = {
  network_factor_56: factor('Limits of an IPv6 /56 network', 4, 'an IPv6 /56'),
  network_factor_48: factor('Limits of an IPv6 /48 network', 16, 'an IPv6 /48'),
  network_factor_24: factor('Limits of an IPv4 /24 network', 32, 'an IPv4 /24'),
  network_factor_16: factor('Limits of an IPv4 /16 network', 256, 'an IPv4 /16'),
  limit_login_ip: limit(
    'Wrong passwords per IP address',
    300,
    'Wrong passwords from one address in 10 minutes',
    true,
  ),
  limit_login_account_ip: limit(
    'Wrong passwords per name and IP address',
    30,
    'Wrong passwords for one name from one address in 10 minutes',
    true,
  ),
  limit_mfa_ip: limit(
    'Wrong second factors per IP address',
    100,
    'Wrong second-factor codes and refused passkeys from one address in 10 minutes',
    true,
  ),
  limit_holder: limit(
    'Attempts of known browsers and link holders',
    30,
    'Attempts in 10 minutes of one known browser, accepted password, passkey, valid link or invitation, once others have ' +
      'used up the limits of its address',
  ),
  limit_user_code_ip: limit(
    'Wrong device codes per IP address',
    30,
    'Wrong device sign-in codes from one address in an hour',
  ),
  limit_user_code_account: limit(
    'Wrong device codes per account',
    10,
    'Wrong device sign-in codes by one account in an hour',
  ),
  limit_client_failures_ip: limit(
    'Wrong application credentials per IP address',
    300,
    'Wrong credentials of one application from one address in 10 minutes',
    true,
  ),
  limit_token_ip: limit(
    'Refused token requests per IP address',
    6000,
    'Refused token requests from one address in 10 minutes',
    true,
  ),
  limit_register_ip: limit(
    'Sign-ups per IP address',
    100,
    'Sign-ups and wrong registration tokens from one address in an hour',
  ),
  limit_agents_ip: limit(
    'New agents per IP address',
    20,
    'Agents that register openly from one address in an hour',
  ),
  limit_agent_documents_ip: limit(
    'Documents of agents per IP address',
    60,
    'Metadata documents of agents fetched for one address in an hour',
  ),
  limit_agent_documents_host: limit(
    'Documents of agents per host',
    60,
    'Metadata documents of agents fetched from one host in an hour',
  ),
  limit_signup_address: limit(
    'Wrong sign-up codes per e-mail address',
    20,
    'Wrong sign-up codes for one e-mail address from one address in a day',
  ),
  limit_signup_codes: limit(
    'Wrong sign-up codes from all IP addresses',
    200,
    'Wrong sign-up codes for one e-mail address in a day',
  ),
  limit_mail_address: limit(
    'Requested mails per e-mail address',
    5,
    'Mails of one kind to one e-mail address that anyone can request, in an hour',
  ),
  limit_mail_owner: limit(
    'Mails that the owner requests',
    5,
    'Mails of one kind that the owner requests in an hour, in a browser that the account knows or with the password',
  ),
  limit_mail_requester_ip: limit(
    'Mails per e-mail address and IP address',
    5,
    'Mails of one kind to one e-mail address from one address in an hour, of those that only who requests them can use',
  ),
  limit_mail_acts: limit(
    'Acts of an account that send mails',
    3,
    'Of one account in 10 minutes: new addresses, moves of the primary one, downloads of its data, reports of foreign ' +
      'activity, new sets of recovery codes, and switching codes by e-mail on or off',
  ),
  limit_mail_ip: limit(
    'Requested mails per IP address',
    20,
    'Requests for a mail from one address in 10 minutes',
  ),
  limit_username_account: limit(
    'Attempts at a new username per account',
    10,
    'Usernames that one account tries to take in a day',
  ),
  limit_avatar_account: limit(
    'Uploaded pictures per account',
    20,
    'Pictures that one account uploads in an hour',
  ),
  limit_admin_failures_ip: limit(
    'Wrong admin API tokens per IP address',
    300,
    'Wrong bearer tokens for the admin API from one address in 10 minutes',
    true,
  ),
  limit_open_signins_ip: limit(
    'Unfinished sign-ins per IP address',
    2000,
    'Unfinished sign-ins of one address at once',
    true,
  ),
  limit_open_signins: limit(
    'Unfinished sign-ins in all',
    50_000,
    'Unfinished sign-ins of all addresses at once where nobody is signed in',
    true,
  ),
  limit_public_requests_ip: limit(
    'Unauthenticated requests per IP address',
    1000,
    'Pushed and device authorization requests without client authentication from one address in 10 minutes',
    true,
  ),
  limit_refusals_ip: limit(
    'Refused requests per IP address',
    1000,
    'Malformed requests, those of a wrong type and those answered 403 from one address in 10 minutes; further ones are ' +
      'answered 429, all other requests go on',
    true,
  ),
  limit_logout_test_client: limit(
    'Test sign-outs per application',
    20,
    'Test sign-outs sent to one application in 10 minutes',
  ),
  limit_authorize_ip: limit(
    'Started sign-ins per IP address',
    50_000,
    'Sign-ins started from one address in an hour',
    true,
  ),
};
