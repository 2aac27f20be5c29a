import { Auth } from '@auth/core';
import { see, serve, visit } from './web.mjs';
import { clientId, clientSecret, done, issuer, step } from './wire.mjs';

await serve((request) =>
  Auth(request, {
    secret: 'of a test that is long enough for everyone',
    trustHost: true,
    basePath: '/auth',
    providers: [{ id: 'latchkey', name: 'Latchkey', type: 'oidc', issuer, clientId, clientSecret }],
    callbacks: { redirect: ({ baseUrl }) => `${baseUrl}/auth/session` },
  }),
);
// Its own page with one button.
see(await visit('/auth/signin', { submit: {} }), 'grace@example.com');
step('sign-in');
done();
