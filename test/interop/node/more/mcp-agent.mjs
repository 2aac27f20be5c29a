// An agent of the MCP SDK at its defaults, which nobody registered: from a server's address to a tool call, and to a tool that
// needs more. MODE: registration, or document (its client_id is CLIENT_ID).
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ask, clientId, done, expect, redirectUri, step } from './wire.mjs';

const { MODE: mode, MCP_SERVER: server } = process.env;
const kept = {};
let isSteppingUp = false;
let asked;
const provider = {
  redirectUrl: redirectUri,
  clientMetadata: {
    client_name: 'An MCP agent',
    redirect_uris: [redirectUri],
    scope: 'mcp:tools notes:read',
  },
  ...(mode === 'document' ? { clientMetadataUrl: clientId } : {}),
  clientInformation: () => kept.client,
  saveClientInformation: (client) => {
    kept.client = client;
  },
  // While a tool needs more, the refresh token is kept back: with it the SDK refreshes what it has, and then gives up.
  tokens: () => (isSteppingUp ? { ...kept.tokens, refresh_token: undefined } : kept.tokens),
  saveTokens: (tokens) => {
    kept.tokens = tokens;
  },
  redirectToAuthorization: (url) => {
    asked = url.href;
  },
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier;
  },
  codeVerifier: () => kept.verifier,
  invalidateCredentials: (what) => {
    if (what === 'all') delete kept.client;
    delete kept.tokens;
  },
};

let transport;
async function connect() {
  transport = new StreamableHTTPClientTransport(new URL(server), { authProvider: provider });
  const client = new Client({ name: 'agent', version: '1' });
  await client.connect(transport);
  return client;
}

/** What the SDK leaves to its user: the person is sent to the browser, and comes back with a code. */
async function afterSignIn(act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    const { callback } = await ask({ authorize: asked });
    await transport.finishAuth(new URL(callback).searchParams.get('code'));
    return act();
  }
}

const textOf = ({ content, isError }) => (isError ? `error: ${content[0].text}` : content[0].text);

let client = await afterSignIn(connect);
step('connect', { registered: kept.client?.client_id });
const { tools } = await client.listTools();
expect(tools.length === 3, 'three tools', tools);
step('tools');
const me = JSON.parse(textOf(await client.callTool({ name: 'whoami', arguments: {} })));
expect(me.scopes.join() === 'notes:read', 'what was granted', me);
step('call', me);

const add = () => client.callTool({ name: 'add_note', arguments: { text: 'Milk' } });
isSteppingUp = true;
expect(textOf(await afterSignIn(add)) === 'Noted.', 'a tool that needs more', null);
isSteppingUp = false;
expect(new URL(asked).searchParams.get('scope') === 'notes:read notes:write', 'what was asked', asked);
step('step-up', { scope: kept.tokens.scope });

// As after a night: the access token is gone, the refresh token is not.
const { access_token: old } = kept.tokens;
kept.tokens = { ...kept.tokens, access_token: `${old}x` };
client = await connect();
const notes = textOf(await client.callTool({ name: 'list_notes', arguments: {} }));
expect(notes.endsWith('Milk'), 'the note', notes);
expect(kept.tokens.access_token !== old, 'a new access token', null);
step('refresh');

await ask({ remove: kept.client.client_id });
asked = undefined;
const refused = await client.callTool({ name: 'whoami', arguments: {} }).catch((error) => error);
expect(
  refused instanceof UnauthorizedError && asked !== undefined,
  'asked to sign in again',
  String(refused),
);
step('revoked');
done();
