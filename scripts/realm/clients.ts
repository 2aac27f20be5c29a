// Converts a realm's clients to bodies for POST /admin/api/clients. Ids and secrets are new: the notes list them.
import { listOf, type Members, membersOf, textOf, textsOf } from './json.ts';

/** Built-in clients of every realm. */
const builtIn = new Set([
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
]);

const isUri = (text: string): boolean => URL.canParse(text) && !text.includes('*');

function grantTypesOf(client: Members): string[] {
  const isOn = membersOf(client.attributes)['oauth2.device.authorization.grant.enabled'] === 'true';
  return [
    ...(client.standardFlowEnabled === false ? [] : ['authorization_code', 'refresh_token']),
    ...(client.serviceAccountsEnabled === true ? ['client_credentials'] : []),
    ...(client.directAccessGrantsEnabled === true ? ['password'] : []),
    ...(isOn ? ['urn:ietf:params:oauth:grant-type:device_code'] : []),
  ];
}

/** Relative URIs are resolved against the client's root URL, as in the realm. */
function urisOf(client: Members, texts: readonly string[]): { kept: string[]; left: string[] } {
  const root = textOf(client.rootUrl) ?? '';
  const whole = texts.map((text) => (text.startsWith('/') ? root.replace(/\/$/, '') + text : text));
  return { kept: whole.filter(isUri), left: whole.filter((text) => !isUri(text)) };
}

export function toClients(realm: Members, note: (text: string) => void): object[] {
  return listOf(realm.clients).flatMap((client) => {
    const id = textOf(client.clientId);
    if (id === undefined || builtIn.has(id) || client.bearerOnly === true) return [];
    if ((textOf(client.protocol) ?? 'openid-connect') !== 'openid-connect') {
      note(`client ${id}: its protocol ${client.protocol} is not supported`);
      return [];
    }
    const redirects = urisOf(client, textsOf(client.redirectUris));
    const logout = textOf(membersOf(client.attributes)['post.logout.redirect.uris'])?.split('##') ?? [];
    const afterLogout = urisOf(
      client,
      logout.filter((uri) => uri !== '+' && uri !== '-'),
    );
    for (const uri of [...redirects.left, ...afterLogout.left]) {
      note(`client ${id}: ${uri} is not a complete URI; register each URI that is used`);
    }
    if (client.implicitFlowEnabled === true) note(`client ${id}: the implicit flow is not supported`);
    const grantTypes = grantTypesOf(client);
    const hasCode = grantTypes.includes('authorization_code') && redirects.kept.length > 0;
    const kept = hasCode
      ? grantTypes
      : grantTypes.filter((one) => one !== 'authorization_code' && one !== 'refresh_token');
    if (kept.length === 0) {
      note(`client ${id}: skipped, no supported grant type remains`);
      return [];
    }
    note(`client ${id}: gets a new client_id${client.publicClient === true ? '' : ' and a new secret'}`);
    const home = textOf(client.baseUrl);
    return [
      {
        client_name: textOf(client.name)?.startsWith('${') ? id : (textOf(client.name) ?? id),
        grant_types: kept,
        response_types: hasCode ? ['code'] : [],
        redirect_uris: hasCode ? redirects.kept : [],
        ...(hasCode && afterLogout.kept.length > 0 && { post_logout_redirect_uris: afterLogout.kept }),
        ...(home !== undefined && isUri(home) && { client_uri: home }),
        client_type: client.publicClient === true ? 'public' : 'confidential',
        is_active: client.enabled !== false,
        skip_consent: client.consentRequired !== true,
      },
    ];
  });
}
