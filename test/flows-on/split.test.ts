// The HTTP flow tests with durable data in MongoDB and ephemeral data in Redis, as in production, and the attacks on stored data
// (trust-files.ts). Each run has the flows that depend on stored data: what is used once, ended, counted, listed or found again.
// All of them run with LONG=1, and where MONGODB_TEST_URI names a real server (CI).
import { test } from 'node:test';
import { startMongoServer } from '../support/mongodb-server.ts';
import { redisToShare } from '../support/redis-server.ts';
import { runFlows } from './run-flows.ts';
import { trustFiles } from './trust-files.ts';

const isWhole = process.env.LONG === '1' || Boolean(process.env.MONGODB_TEST_URI);
/**
 * They are about what a request or an answer may be, or about pages: what they store the others, or the stores' contract, store as
 * well.
 */
const LESS_STORED = [
  'access-token',
  'account',
  'account-addresses',
  'account-api',
  'account-api-document',
  'account-applications',
  'account-data',
  'account-email',
  'account-launcher',
  'account-passkeys',
  'account-profile',
  'admin-bearer',
  'admin-injections',
  'admin-lists',
  'admin-many-users',
  'admin-paging',
  'admin-ui-access',
  'admin-ui-agents',
  'admin-ui-apis',
  'admin-ui-applications',
  'admin-ui-audit',
  'admin-ui-auditor',
  'admin-ui-called-addresses',
  'admin-ui-comfort',
  'admin-ui-groups',
  'admin-ui-import',
  'admin-ui-languages',
  'admin-ui-legacy',
  'admin-ui-people',
  'admin-ui-pkce',
  'admin-ui-sign-in-rules',
  'admin-ui-signatures',
  'agents',
  'agents-and-apis',
  'aliases',
  'api-demands',
  'api-machines',
  'api-users',
  'application-refusals',
  'authorize-errors',
  'avatar',
  'base-url',
  'client-authentication',
  'client-key-rotation',
  'confirmed-act',
  'cors',
  'dead-ends',
  'discovery',
  'dpop',
  'dpop-addresses',
  'enrolment-links',
  'errors-in-json',
  'es256',
  'forced-enrolment',
  'forged-tokens',
  'front-channel-logout',
  'group-access',
  'id-token',
  'keycloak-tokens',
  'language-choice',
  'legacy-processes',
  'legacy-response-types',
  'logout-attacks',
  'logout-programs',
  'lost-work',
  'methods',
  'owner-notices',
  'passkey-modes',
  'password-grant',
  'pkce',
  'places',
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
  'signed-responses',
  'signup-passkeys',
  'tampering',
  'test-sign-in',
  'token-kinds',
  'token-preview',
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
