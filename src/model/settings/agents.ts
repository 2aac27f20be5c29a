import { flag } from '../kinds.ts';
import { setting } from './setting.ts';

export const agentsSettings = {
  agents: setting(flag, {
    group: 'Agents',
    label: 'Agents may introduce themselves',
    description:
      'Whether programs that nobody here knows (AI agents, MCP clients) may introduce themselves: anyone can then register a ' +
      'client at /oauth2/register without a token, and client_id may be the https address of a metadata document. Such a client is public, is never trusted without consent, gets no ' +
      'roles, groups or admin scopes, reaches only APIs that are open to agents, and is removed after 30 days without use. ' +
      'Turned off, those that exist can do nothing.',
    absent: false,
    mayShutOut: false,
  }),
};
