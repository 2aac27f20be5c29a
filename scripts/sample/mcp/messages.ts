// Messages of the Model Context Protocol, as JSON-RPC 2.0: what a server with tools alone has to answer.
import type { Caller } from './tokens.ts';
import type { createTools } from './tools.ts';

const VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];

interface Message {
  readonly id?: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

type Tools = ReturnType<typeof createTools>;

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns undefined for what is no message, a batch included */
export function readMessage(text: string): Message | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isMembers(value) || value.jsonrpc !== '2.0' || typeof value.method !== 'string') return undefined;
  const { id, method, params } = value;
  const isId = typeof id === 'string' || typeof id === 'number';
  return { method, params: isMembers(params) ? params : {}, ...(isId && { id }) };
}

/** @returns the scope that the message needs beyond that of every call */
export const scopeNeeded = ({ method, params }: Message, tools: Tools): string | undefined =>
  method === 'tools/call' ? tools.find(({ name }) => name === params.name)?.scope : undefined;

const failure = (code: number, message: string) => ({ error: { code, message } });
export const notAMessage = failure(-32_600, 'The body must be one JSON-RPC 2.0 message.');

function callTool({ params }: Message, caller: Caller, tools: Tools): object {
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) return failure(-32_602, `There is no tool ${JSON.stringify(params.name)}.`);
  const say = (text: string, isError: boolean) => ({
    result: { content: [{ type: 'text', text }], isError },
  });
  try {
    return say(tool.run(caller, isMembers(params.arguments) ? params.arguments : {}), false);
  } catch (error) {
    return say(error instanceof Error ? error.message : String(error), true);
  }
}

/** @returns `result` or `error` of the response; undefined for a notification, which has none */
export function answerTo(message: Message, caller: Caller, tools: Tools): object | undefined {
  if (message.id === undefined) return undefined;
  switch (message.method) {
    case 'initialize': {
      const asked = String(message.params.protocolVersion);
      return {
        result: {
          protocolVersion: VERSIONS.includes(asked) ? asked : VERSIONS[0],
          capabilities: { tools: {} },
          serverInfo: { name: 'latchkey-sample', version: '1' },
        },
      };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return {
        result: {
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
        },
      };
    case 'tools/call':
      return callTool(message, caller, tools);
    default:
      return failure(-32_601, `There is no method ${JSON.stringify(message.method)}.`);
  }
}
