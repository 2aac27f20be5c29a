// Checks one bcrypt hash; foreign-hash.ts starts a thread for each.
import { parentPort, workerData } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

const { hash, password }: { hash: string; password: string } = workerData;
parentPort?.postMessage(compareSync(password, hash));
