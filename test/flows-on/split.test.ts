// The HTTP flow tests with durable data in MongoDB and ephemeral data in Redis, as in production, and the attacks on stored data
// (trust-files.ts). Each run has the flows that depend on stored data: what is used once, ended, counted, listed or found again.
// All of them run with LONG=1, and where MONGODB_TEST_URI names a real server (CI).
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { redisToShare } from '../support/redis-server.ts';
import { runFlows } from './run-flows.ts';
import { trustFiles } from './trust-files.ts';

const isWhole = process.env.LONG === '1' || Boolean(process.env.MONGODB_TEST_URI);
/** They are about what a request or an answer may be, or about pages: what they store the others store as well. */
const LESS_STORED = [
  'access-token',
  'account-api-document',
  'account-applications',
  'account-launcher',
  'admin-bearer',
  'admin-injections',
  'admin-many-users',
  'admin-paging',
  'admin-ui-access',
  'admin-ui-agents',
  'admin-ui-apis',
  'admin-ui-audit',
  'admin-ui-auditor',
  'admin-ui-called-addresses',
  'admin-ui-groups',
  'admin-ui-legacy',
  'admin-ui-pkce',
  'admin-ui-sign-in-rules',
  'aliases',
  'api-demands',
  'application-refusals',
  'authorize-errors',
  'base-url',
  'client-authentication',
  'cors',
  'dead-ends',
  'discovery',
  'dpop-addresses',
  'errors-in-json',
  'forged-tokens',
  'front-channel-logout',
  'id-token',
  'keycloak-tokens',
  'language-choice',
  'legacy-processes',
  'legacy-response-types',
  'logout-programs',
  'lost-work',
  'methods',
  'owner-notices',
  'passkey-modes',
  'password-grant',
  'pkce',
  'prompts',
  'public-basic',
  'realms',
  'redirect-uris',
  'refusals-in-the-log',
  'relying-party',
  'required-authentication',
  'response-modes',
  'scopes',
  'session-management',
  'tampering',
  'test-sign-in',
  'token-kinds',
  'tokens-by-api',
  'userinfo',
];
const isWanted = (name: string): boolean =>
  isWhole || !LESS_STORED.includes(name.slice(0, -'.test.ts'.length));

test(`${isWhole ? 'every flow works' : 'flows that depend on stored state work'} with MongoDB and Redis`, {
  timeout: 900_000,
}, async () => {
  const [mongo, redis] = await Promise.all([startMongoServer(), redisToShare()]);
  try {
    const env = { TEST_STORE: 'split', MONGODB_TEST_URI: mongo.freshUri(), REDIS_TEST_URL: redis.url };
    await runFlows(env, isWanted, trustFiles(isWhole));
  } finally {
    await Promise.all([mongo.stop(), redis.stop()]);
  }
});
