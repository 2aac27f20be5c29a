// Servers in Python that people run as they are: Synapse, with back-channel logout over http on loopback, and JupyterHub.
import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { startIssuer } from '../support/issuer.ts';
import { packages, runPython } from './packages.ts';

const synapse = await packages('synapse');
const jupyterhub = await packages('jupyterhub');
const fastmcp = await packages('fastmcp');

test('Synapse: sign-in, and the Matrix session ends by back-channel logout', synapse, async () => {
  const port = await freePort();
  const issuer = await startIssuer({ env: { OUTBOUND_ALLOW: `localhost:${port}` } });
  try {
    const path = '/_synapse/client/oidc';
    const steps = await runPython(issuer, {
      installed: synapse,
      file: 'synapse_client.py',
      name: 'synapse',
      port,
      callback: `${path}/callback`,
      metadata: { backchannel_logout_uri: `http://localhost:${port}${path}/backchannel_logout` },
    });
    deepEqual(steps, ['sign-in', 'userinfo', 'logout']);
  } finally {
    await issuer.close();
  }
});

test('JupyterHub: sign-in by GenericOAuthenticator', jupyterhub, async () => {
  const issuer = await startIssuer();
  try {
    const steps = await runPython(issuer, {
      installed: jupyterhub,
      file: 'jupyterhub_client.py',
      name: 'jupyterhub',
      callback: '/hub/oauth_callback',
    });
    deepEqual(steps, ['sign-in', 'userinfo']);
  } finally {
    await issuer.close();
  }
});

const MACHINE = { grant_types: ['client_credentials'], redirect_uris: [] };

for (const { name, steps, ...more } of [
  { name: 'proxy', steps: ['sign-in', 'refresh'], api: '/mcp' },
  { name: 'jwt', steps: ['call', 'refuse'], metadata: MACHINE },
  { name: 'introspection', steps: ['call', 'refuse'], metadata: MACHINE },
])
  test(`FastMCP: a server by ${name}`, fastmcp, async () => {
    const issuer = await startIssuer();
    try {
      const client = { installed: fastmcp, file: 'fastmcp_client.py', callback: '/auth/callback' };
      deepEqual(await runPython(issuer, { ...client, name, ...more }), steps);
    } finally {
      await issuer.close();
    }
  });
