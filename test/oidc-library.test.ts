// What we use of oidc-provider's inside is right for one version of it: when another is installed, or one of the files that we rely on
// is another one, this fails and names the place to compare. Then VERSION and the digests here are brought up to date.
import { equal } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const VERSION = '9.13.3';

interface Reliance {
  readonly place: string;
  readonly on: string;
  /** Below lib/; the first 16 characters of their SHA-256. */
  readonly files: Readonly<Record<string, string>>;
}

const reliances: readonly Reliance[] = [
  {
    place: 'src/oidc/library-internals.ts answerGrant',
    on: 'how handlers of grants are made and called, what they read of the context, and what the token endpoint does around them',
    files: {
      'actions/grants/authorization_code.js': 'LUbc-ZWASVYEK97O',
      'actions/grants/client_credentials.js': '6t5iCAYBL6QABXPS',
      'actions/grants/device_code.js': 'AtDpIA8NN8WJ8S5n',
      'actions/grants/index.js': 'yu_AD5aCXzKcW3uj',
      'actions/token.js': 'sCJGAJgQrNZ8UyMn',
      'helpers/grant_common.js': 'Kpq7zpcniDZBG9vc',
      'helpers/grants.js': 'QqOhRHdlt_p4Rw3E',
      'helpers/initialize_app.js': 'gsx6aJocWQce7Ibt',
    },
  },
  {
    place: 'src/oidc/library-internals.ts contextOf and runIn',
    on: 'where a request keeps its route and its context, and what a new context has',
    files: {
      'helpers/als.js': 'X4nq5Q27RZBzmTCc',
      'helpers/initialize_app.js': 'gsx6aJocWQce7Ibt',
      'helpers/oidc_context.js': 'SnpeCb8zd_bZUuDI',
      'helpers/router.js': 'xpqR1Yq3xaekKrNP',
    },
  },
  {
    place: 'src/oidc/tokens/shared-models.ts',
    on: 'that a model is made from its stored payload alone, and that finding one checks nothing but its times and session',
    files: {
      'models/access_token.js': 'bRb2_ifZYcPNRgbs',
      'models/base_model.js': 'd2I8HX122ED5P1ix',
      'models/base_token.js': 'hHFwjTv2cJXN-f7V',
      'models/client_credentials.js': 'ZFXUFShOECEsgfuT',
      'models/payload.js': 'ssals8F0-VhHCQgE',
    },
  },
];

const folder = new URL('../node_modules/oidc-provider/', import.meta.url);
const installed: { version: string } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));

test('oidc-provider: the version whose inside we know is installed', () => {
  const places = reliances.map(({ place, on }) => `${place} relies on ${on}`).join('\n');
  equal(
    installed.version,
    VERSION,
    `another oidc-provider (${fileURLToPath(folder)}). Compare:\n${places}\n`,
  );
});

for (const { place, on, files } of reliances) {
  test(`oidc-provider: what ${place} relies on is as it was`, () => {
    for (const [file, digest] of Object.entries(files)) {
      const found = createHash('sha256').update(readFileSync(new URL(`lib/${file}`, folder)));
      const message = `lib/${file} has changed. Compare ${place}, which relies on ${on}`;
      equal(found.digest('base64url').slice(0, digest.length), digest, message);
    }
  });
}
