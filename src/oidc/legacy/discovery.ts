import { CHECK_SESSION } from './check-session.ts';

/** What the profile adds to the discovery document, beside what the library says of response types and request objects. */
export const legacyDiscovery = (baseUrl: string): Readonly<Record<string, unknown>> => ({
  request_uri_parameter_supported: true,
  require_request_uri_registration: true,
  check_session_iframe: `${baseUrl}${CHECK_SESSION}`,
  frontchannel_logout_supported: true,
  frontchannel_logout_session_supported: true,
  registration_endpoint: `${baseUrl}/oauth2/register`,
});
