// Three resource servers, each with an API that needs the scope `write` where the library knows scopes. Prints what each answers
// to each of the tokens.
import { JwtVerifier } from 'aws-jwt-verify';
import express from 'express';
import { auth, requiredScopes } from 'express-oauth2-jwt-bearer';
import Fastify from 'fastify';
import fastifyJwtJwks from 'fastify-jwt-jwks';

const { ISSUER: issuer, AUDIENCE: audience, TOKENS = '{}' } = process.env;
const jwksUri = `${issuer}/.well-known/jwks.json`;

const app = express();
app.get('/', auth({ issuer, jwksUri, audience }), requiredScopes('write'), (_request, response) => {
  response.json({});
});
app.use((error, _request, response, _next) => response.status(error.status ?? 500).json({}));
const listening = app.listen(0, '127.0.0.1');
await new Promise((resolve) => listening.once('listening', resolve));

const fastify = Fastify();
await fastify.register(fastifyJwtJwks, { jwksUrl: jwksUri, audience, issuer });
fastify.get('/', { preValidation: fastify.authenticate }, () => ({}));
const fastifyUrl = await fastify.listen({ port: 0, host: '127.0.0.1' });

// It fetches keys from https alone.
const aws = JwtVerifier.create({
  issuer,
  audience,
  jwksUri: 'https://none.example/jwks.json',
  scope: 'write',
});
aws.cacheJwks(await (await fetch(jwksUri)).json());

const statusOf = async (url, token) => {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  return (await fetch(url, { headers })).status;
};
const answers = {};
for (const [name, token] of Object.entries(JSON.parse(TOKENS))) {
  answers[name] = [
    await statusOf(`http://127.0.0.1:${listening.address().port}/`, token),
    await statusOf(fastifyUrl, token),
    await aws.verify(token).then(
      () => 'let in',
      (error) => error.constructor.name,
    ),
  ];
}
process.stdout.write(JSON.stringify(answers));
process.exit(0);
