// Ids under which the protocol core knows an application: its own, and a passing one beside it while an administrator tries its
// sign-in ("Try it" in the Admin UI). So nothing of a test is the application's: no grant or token, no place in the session.

/** No id that this server gives has a colon, and an address that is an id begins with its scheme. */
const PREFIX = 'test-sign-in:';

export const passingId = (clientId: string): string => `${PREFIX}${clientId}`;

/** Whether what a client with this id is given passes with one sign-in: nobody is shown, told or asked about it later. */
export const isPassing = (clientId: string): boolean => clientId.startsWith(PREFIX);

/** @returns the id under which the application is registered */
export const registeredId = <Id extends string | undefined>(clientId: Id): Id | string =>
  clientId !== undefined && isPassing(clientId) ? clientId.slice(PREFIX.length) : clientId;
