// The part of the tests' own environment that a started program gets: where to find things, and nothing about how to run.
const HANDED_ON = ['PATH', 'HOME', 'NODE_COMPILE_CACHE'] as const;

export function handedOn(): Record<string, string> {
  return Object.fromEntries(
    HANDED_ON.map((name) => [name, process.env[name] ?? '']).filter(([, value]) => value),
  );
}
