// Logins at a provider of OAuth 2.0, by every published client, as the public
// examples do them. What is refused, and what must hold, is tested in Go.
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import { before, describe, it } from 'node:test';

import { decryptCredentialBundle, encryptOauth2ClientSecret, generateP256KeyPair } from '@turnkey/crypto';

import { flavours, newKey } from '../lib/clients.mjs';
import { nonce } from '../lib/issuer.mjs';
import { useProvider } from '../lib/provider.mjs';
import { through } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { connectUser } from '../lib/users.mjs';

const redirectUri = 'https://app.example.com/callback';

describe(`OAuth 2.0 on ${storeName}`, () => {
  const provider = useProvider();
  const held = useServer(provider.flags);
  let encryptTo; // the key to which client secrets are encrypted

  before(async () => {
    ({ oauth2ClientSecretPublicKey: encryptTo } = await fetch(`${held.dev.baseUrl}/.well-known/latchkey.json`).then((reply) => reply.json()));
  });

  // verified gives the claims of a token, after checking it by what the issuer
  // publishes.
  const verified = async (token) => {
    const [header, payload, signature] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const get = (url) => fetch(url).then((reply) => reply.json());
    const { issuer, jwks_uri: uri } = await get(`${claims.iss}/.well-known/openid-configuration`);
    assert.equal(issuer, claims.iss);
    const { kid, alg } = JSON.parse(Buffer.from(header, 'base64url').toString());
    const key = (await get(uri)).keys.find((one) => one.kid === kid);
    assert.equal(alg, 'ES256');
    const publicKey = { key: createPublicKey({ key, format: 'jwk' }), dsaEncoding: 'ieee-p1363' };
    assert.ok(verify('sha256', Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url')));
    return claims;
  };

  for (const flavour of flavours) {
    const { label, name } = flavour;
    it(`${name}: uploads a client secret, signs a user up and logs the user in`, async () => {
      const root = connectUser(flavour, held.dev, held.rootKey, held.dev.userId);
      const clientId = `${label} client`;
      await provider.register(clientId, 'the secret of the client');
      const encryptedClientSecret = await encryptOauth2ClientSecret('the secret of the client', encryptTo);
      const { oauth2CredentialId } = await through('@turnkey/crypto', () =>
        root.run('createOauth2Credential', { provider: 'OAUTH2_PROVIDER_X', clientId, encryptedClientSecret }),
      );
      const { oauth2Credential } = await root.query('getOauth2Credential', { oauth2CredentialId });
      assert.deepEqual([oauth2Credential.provider, oauth2Credential.clientId], ['OAUTH2_PROVIDER_X', clientId]);
      const { oauth2Credentials } = await root.query('listOauth2Credentials');
      assert.ok(oauth2Credentials.some((one) => one.oauth2CredentialId === oauth2CredentialId));

      // The user comes back with a code, and has made a key for the session.
      const session = newKey();
      const authenticate = async (more) => {
        const code = await provider.logIn(clientId, redirectUri, '1842');
        return root.run('oauth2Authenticate', { oauth2CredentialId, ...code, nonce: nonce(session.apiPublicKey), ...more });
      };
      const { oidcToken } = await authenticate();
      const { iss, aud, sub, nonce: bound } = await verified(oidcToken);
      assert.deepEqual([iss, aud, sub, bound], [held.dev.baseUrl, clientId, 'x:1842', nonce(session.apiPublicKey)]);

      const { subOrganizationId } = await root.run('createSubOrganization', {
        subOrganizationName: `${label} sub-organization`,
        rootQuorumThreshold: 1,
        rootUsers: [
          { userName: 'User of X', apiKeys: [], authenticators: [], oauthProviders: [{ providerName: 'X', oidcToken }] },
        ],
      });
      const login = connectUser(flavour, { ...held.dev, organizationId: subOrganizationId }, held.rootKey, held.dev.userId);
      await login.run('oauthLogin', { oidcToken, publicKey: session.apiPublicKey });
      const user = connectUser(flavour, { ...held.dev, organizationId: subOrganizationId }, session);
      assert.equal((await user.query('getWhoami')).organizationId, subOrganizationId);

      // With a key of the caller's, the provider's own token is in ours.
      const pair = generateP256KeyPair();
      const again = await authenticate({ bearerTokenTargetPublicKey: pair.publicKeyUncompressed });
      const claims = JSON.parse(Buffer.from(again.oidcToken.split('.')[1], 'base64url').toString());
      const bearer = Buffer.from(decryptCredentialBundle(claims.encrypted_bearer_token, pair.privateKey), 'hex').toString();
      const whose = await fetch(`${provider.url}/users/me`, { headers: { Authorization: `Bearer ${bearer}` } }).then((reply) => reply.json());
      assert.equal(whose.data.id, '1842');

      // A new secret, first a wrong one.
      const update = async (secret) =>
        root.run('updateOauth2Credential', {
          oauth2CredentialId,
          provider: 'OAUTH2_PROVIDER_X',
          clientId,
          encryptedClientSecret: await encryptOauth2ClientSecret(secret, encryptTo),
        });
      await update('wrong');
      await assert.rejects(authenticate(), /invalid_client/);
      await update('the secret of the client');
      await authenticate();
      assert.deepEqual(await root.run('deleteOauth2Credential', { oauth2CredentialId }), { oauth2CredentialId });
      await assert.rejects(authenticate(), /no OAuth 2.0 credential/);
    });
  }
});
