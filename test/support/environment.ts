// What of the tests' own environment a started program is given: where to find things, and nothing that says how to run.
const HANDED_ON = ['PATH', 'HOME', 'NODE_COMPILE_CACHE'] as const;

export function handedOn(): Record<string, string> {
  return Object.fromEntries(
    HANDED_ON.map((name) => [name, process.env[name] ?? '']).filter(([, value]) => value),
  );
}
