// The tools: each needs a scope of the API. What they keep lives as long as the process.
import type { Caller } from './tokens.ts';

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly scope: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** @throws Error what is wrong with the arguments */
  run(caller: Caller, given: Readonly<Record<string, unknown>>): string;
}

/** As the provider's consent page says them. */
export const scopes = [
  { name: 'notes:read', description: 'See your notes', is_default: true },
  { name: 'notes:write', description: 'Add notes' },
] as const;

const MAX_NOTES = 100;
const MAX_LENGTH = 1000;

const noArguments = { type: 'object', properties: {}, additionalProperties: false };

export function createTools(): readonly Tool[] {
  const notes = new Map<string, string[]>();
  return [
    {
      name: 'whoami',
      description: 'Says who calls, by which application.',
      scope: 'notes:read',
      inputSchema: noArguments,
      run: ({ subject, clientId, scopes: granted }) =>
        JSON.stringify({ subject, clientId, scopes: [...granted].sort() }),
    },
    {
      name: 'list_notes',
      description: 'Lists the notes of the person.',
      scope: 'notes:read',
      inputSchema: noArguments,
      run: ({ subject }) => (notes.get(subject) ?? []).join('\n') || 'There are no notes yet.',
    },
    {
      name: 'add_note',
      description: 'Adds a note.',
      scope: 'notes:write',
      inputSchema: {
        type: 'object',
        properties: { text: { type: 'string', minLength: 1, maxLength: MAX_LENGTH } },
        required: ['text'],
        additionalProperties: false,
      },
      run({ subject }, { text }) {
        if (typeof text !== 'string' || text === '' || text.length > MAX_LENGTH)
          throw new Error(`text must have 1 to ${MAX_LENGTH} characters.`);
        const own = notes.get(subject) ?? [];
        if (own.length >= MAX_NOTES) throw new Error(`There is room for ${MAX_NOTES} notes only.`);
        notes.set(subject, [...own, text]);
        return 'Noted.';
      },
    },
  ];
}
