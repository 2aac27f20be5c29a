// The child process of the MongoDB tests: creates, consumes and removes notes until it is killed.
import { createMongoStore } from '../../adapters/mongodb/store.ts';
import { churn } from './child-support.ts';
import { notes } from './sqlite-support.ts';

const [uri = '', label = ''] = process.argv.slice(2);
const store = await createMongoStore({ uri, clock: Date.now, timeoutMs: 20_000 });
await churn(store.collection(notes), label, 4);
