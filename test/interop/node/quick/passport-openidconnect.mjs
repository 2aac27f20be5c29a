// A web server with Passport, on plain node:http: what Passport needs of Express is a query and a session.
import { createServer } from 'node:http';
import passport from 'passport';
import Strategy from 'passport-openidconnect';
import { ask, clientId, clientSecret, done, expect, issuer, redirectUri, step } from './wire.mjs';

const { origin, port } = new URL(redirectUri);
let seen;
passport.use(
  new Strategy(
    {
      issuer,
      authorizationURL: `${issuer}/authorize`,
      tokenURL: `${issuer}/token`,
      userInfoURL: `${issuer}/userinfo`,
      clientID: clientId,
      clientSecret,
      callbackURL: redirectUri,
      scope: ['profile', 'email'],
    },
    (_issuer, profile, _context, _idToken, accessToken, refreshToken, verified) => {
      seen = { profile, accessToken, refreshToken };
      verified(null, profile);
    },
  ),
);

// One person, one session.
const session = {};
const handle = passport.authenticate('openidconnect', { session: false });
const server = createServer((request, response) => {
  const url = new URL(request.url, origin);
  request.query = Object.fromEntries(url.searchParams);
  request.session = session;
  handle(request, response, (error) => {
    response.statusCode = error ? 500 : 200;
    response.end(error ? String(error.stack) : `hello ${seen.profile.displayName}`);
  });
});
await new Promise((resolve) => server.listen(Number(port), 'localhost', resolve));

const { page } = await ask({ visit: `${origin}/login` });
expect(page.status === 200 && page.body === 'hello Grace Hopper', 'the signed-in page', page);
step('sign-in');
expect(seen.profile.emails?.[0]?.value === 'grace@example.com', 'profile of userinfo', seen.profile);
step('userinfo');
done();
