// Scripts from packages that pages load, each with its licence.
import type { Vendored } from './assets.ts';

const fromPackage = (resolved: string, file: string, licence: string): Vendored => ({
  file: new URL(file, resolved),
  licence: new URL(licence, resolved),
});

/**
 * zxcvbn estimates password strength; strength.js loads it where a password is set. webauthn is used by passkey.js; the
 * package contains it as one file besides its module entry.
 */
export const vendored = {
  'zxcvbn-core.js': fromPackage(
    import.meta.resolve('@zxcvbn-ts/core/dist/zxcvbn-ts.js'),
    'zxcvbn-ts.js',
    '../LICENSE.txt',
  ),
  'zxcvbn-words.js': fromPackage(
    import.meta.resolve('@zxcvbn-ts/language-common/dist/zxcvbn-ts.js'),
    'zxcvbn-ts.js',
    '../LICENSE.txt',
  ),
  'webauthn.js': fromPackage(
    import.meta.resolve('@simplewebauthn/browser'),
    '../dist/bundle/index.umd.min.js',
    '../LICENSE.md',
  ),
};
