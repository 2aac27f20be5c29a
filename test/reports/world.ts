// The one application on which all reports of the protocol are tried, and a person in it.
import { after } from 'node:test';
import { change } from '../flows/support.ts';
import { startApp } from '../support/app.ts';

export const app = await startApp({ store: 'sqlite' });
after(() => app.stop());
await change(app, { agents: true });
export const alice = await app.createUser('alice', { email: 'alice@example.com', given_name: 'Alice' });
