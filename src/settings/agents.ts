import { flag } from './definitions.ts';

export const agentDefinitions = {
  agents: flag({
    group: 'Agents',
    default: false,
    description:
      'Whether programs that nobody here knows (AI agents, MCP clients) may introduce themselves: anyone can then register a ' +
      'client at /oauth2/register without a token, and client_id may be the https address of a metadata document. Such a client is public, is never trusted without consent, gets no ' +
      'roles, groups or admin scopes, reaches only APIs that are open to agents, and is removed after 30 days without use. ' +
      'Turned off, those that exist can do nothing.',
  }),
};
