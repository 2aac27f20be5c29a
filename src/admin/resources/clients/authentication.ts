// How an application authenticates to the token endpoint, for pages that show its requests. Credentials are masked or variables.
import { quote } from '../../pages/curl.ts';
import { textOf } from '../../pages/field-values.ts';
import type { Values } from '../../pages/page.ts';

export const MASKED = '••••••••';

/** How the application authenticates to the token endpoint, and the same as shell arguments. */
export function clientAuthenticationOf(client: Values) {
  const id = textOf(client, 'client_id');
  const plain = { headers: [], parameters: [{ name: 'client_id', value: id }] };
  const idOption = `--data-urlencode ${quote(`client_id=${id}`)}`;
  switch (textOf(client, 'token_endpoint_auth_method')) {
    case 'none':
      return { ...plain, options: [idOption], canAsk: false };
    case 'client_secret_post':
      return {
        headers: [],
        parameters: [...plain.parameters, { name: 'client_secret', value: MASKED }],
        options: [idOption, '--data-urlencode "client_secret=$CLIENT_SECRET"'],
        canAsk: true,
      };
    case 'private_key_jwt':
      return {
        headers: [],
        parameters: [...plain.parameters, { name: 'client_assertion', value: MASKED }],
        options: [
          idOption,
          "-d 'client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer'",
          '--data-urlencode "client_assertion=$CLIENT_ASSERTION"',
        ],
        canAsk: true,
      };
    default: {
      const value = `Basic ${MASKED}`;
      return {
        headers: [{ name: 'Authorization', value }],
        parameters: [],
        options: [`-u ${quote(`${encodeURIComponent(id)}:`)}"$CLIENT_SECRET"`],
        canAsk: true,
      };
    }
  }
}
