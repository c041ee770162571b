// Ways to log in: OpenID Connect, codes and keys by mail and SMS, sessions, and
// recovery. Bundles and tokens are opened and checked with @turnkey/crypto, and
// the keys in them then sign requests.
import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ApiKeyStamper, SignatureFormat } from '@turnkey/api-key-stamper';
import { getClientSignatureMessageForLogin } from '@turnkey/core';
import { AttestedScheme, AttestedStamper } from '@turnkey/core/dist/__stampers__/attested/base.js';
import {
  decryptCredentialBundle,
  encryptOtpCodeToBundle,
  generateP256KeyPair,
  getPublicKey,
  verifyOtpVerificationToken,
  verifySessionJwtSignature,
} from '@turnkey/crypto';

import { flavours, newKey, send } from '../lib/clients.mjs';
import { nonce, useIssuer } from '../lib/issuer.mjs';
import { message, messages } from '../lib/outbox.mjs';
import { Passkey } from '../lib/passkey.mjs';
import { through } from '../lib/record.mjs';
import { storeName, useServer } from '../lib/server.mjs';
import { shape } from '../lib/shapes.mjs';
import { apiKey, connectUser, createOrganization, createUsers, newUser, refusal, refuses } from '../lib/users.mjs';

const appName = 'Example App';

// Opens a bundle, and gives the key pair that is in it.
function openBundle(bundle, target) {
  const apiPrivateKey = decryptCredentialBundle(bundle, target.privateKey);
  return { apiPrivateKey, apiPublicKey: Buffer.from(getPublicKey(apiPrivateKey, true)).toString('hex') };
}

// A request as it looks when an identity proves itself: the stamper of
// @turnkey/core, which signs with the key that the proof is bound to.
function attested(key, attestedIdentity, scheme) {
  const signer = new ApiKeyStamper(key);
  const stamper = new AttestedStamper({ sign: (payload, format) => signer.sign(payload, format) });
  stamper.configure({ attestedIdentity, publicKey: key.apiPublicKey, scheme });
  return stamper;
}

// Runs what makes something that @turnkey/crypto then opens or checks, which
// counts as a call of that package.
const opened = (run) => through('@turnkey/crypto', run);

const claimsOf = (jwt) => JSON.parse(Buffer.from(jwt.split('.')[1], 'base64url'));

describe(`logins on ${storeName}`, () => {
  const held = useServer();
  const issuer = useIssuer();
  const turning = useIssuer(); // its keys rotate

  for (const flavour of flavours) {
    describe(flavour.name, () => {
      const { label } = flavour;
      const address = (name) => `${name}.${label.replaceAll(' ', '.')}@example.com`;
      let parent; // root user of the parent organization, who acts in the child
      let dev; // the child
      let root;
      let began; // when this test did

      // What lasts so many seconds was made between the begin of the test and now.
      const lasts = (end, seconds) => {
        const [made, now] = [end - seconds, Date.now() / 1000];
        assert.ok(made > began - 1 && made < now + 1, `${seconds} seconds end at ${end}; it is ${now}, the test began at ${began}`);
      };

      const user = async (name, more) => {
        const key = newKey();
        const { userIds } = await root.run('createUsers', { users: [newUser(name, key, { userEmail: address(name), ...more })] });
        return connectUser(flavour, dev, key, userIds[0]);
      };
      const whoIs = async (stamper, organization = dev) => {
        const who = shape.whoami(await flavour.connect(organization, stamper).query('getWhoami'));
        assert.equal(who.organizationId, dev.organizationId);
        return who.userId;
      };
      const unknown = refusal(flavour, 16);
      const keysOf = async (userId) => (await root.query('getApiKeys', { userId })).apiKeys.map((k) => shape.apiKey(k));
      // What a session says, after its signature was checked.
      const openSession = async (session) => {
        assert.ok(await verifySessionJwtSignature(session, held.dev.sessionPublicKey));
        // One client decodes it without the alphabet for URLs.
        assert.match(session.split('.')[1], /^[A-Za-z0-9]+$/);
        return claimsOf(session);
      };
      const isSession = async (session, userId, key, seconds = 900) => {
        const claims = await openSession(session);
        assert.equal(claims.user_id, userId);
        assert.equal(claims.organization_id, dev.organizationId);
        assert.equal(claims.public_key, key.apiPublicKey);
        assert.equal(claims.session_type, 'SESSION_TYPE_READ_WRITE');
        lasts(claims.exp, seconds);
        assert.equal(await whoIs(key), userId);
        const stored = (await keysOf(userId)).find((k) => k.credential.publicKey === key.apiPublicKey);
        assert.equal(stored.credential.type, 'CREDENTIAL_TYPE_LOGIN');
        assert.equal(stored.expirationSeconds, String(seconds));
      };
      // The key in a bundle is a key of the user, and expires.
      const isKey = async (key, userId, type, name, seconds = '900') => {
        assert.equal(await whoIs(key), userId);
        const stored = (await keysOf(userId)).find((k) => k.credential.publicKey === key.apiPublicKey);
        assert.equal(stored.credential.type, `CREDENTIAL_TYPE_${type}`);
        assert.match(stored.apiKeyName, name);
        assert.equal(stored.expirationSeconds, seconds);
        return stored.apiKeyId;
      };
      const on = (child) => ({ organizationId: child.organizationId });
      // The parent acts in the child.
      const forChild = (method, parameters) => connectUser(flavour, dev, held.rootKey).run(method, parameters);

      before(async () => {
        parent = connectUser(flavour, held.dev, held.rootKey, held.dev.userId);
        [dev, root] = await createOrganization({ ...held, flavour }, `${label} logins`, ['Root']);
      });
      beforeEach(() => {
        began = Date.now() / 1000;
      });

      describe('OpenID Connect', () => {
        let ada;
        const audience = `client of ${label}`;
        const sub = `ada ${label}`;
        const token = (publicKey, claims, more) =>
          issuer.mint({ sub, aud: audience, ...(publicKey && { nonce: nonce(publicKey) }), ...claims }, more);

        it('create_oauth_providers, and users that begin with one', async () => {
          ada = await user('ada');
          const parameters = { userId: ada.userId, oauthProviders: [{ providerName: 'test', oidcToken: await token() }] };
          const { providerIds } = await ada.run('createOauthProviders', parameters);
          assert.equal(providerIds.length, 1);
          const { oauthProviders } = await ada.query('getOauthProviders', { userId: ada.userId });
          oauthProviders.forEach(shape.oauthProvider);
          const [{ providerId, providerName, subject, ...rest }] = oauthProviders;
          assert.deepEqual(
            { providerId, providerName, subject, issuer: rest.issuer, audience: rest.audience },
            { providerId: providerIds[0], providerName: 'test', subject: sub, issuer: issuer.url, audience },
          );
          // No other user can have the same identity.
          const eve = await user('eve');
          await refuses(flavour, eve, 6, 'createOauthProviders', { ...parameters, userId: eve.userId });

          const key = newKey();
          const users = [
            {
              userName: 'oauth only',
              apiKeys: [],
              authenticators: [],
              oauthProviders: [{ providerName: 'first', oidcToken: await token(undefined, { sub: `only ${label}` }) }],
              userTags: [],
            },
          ];
          const { userIds } = await root.run('createUsers', { users });
          const oidcToken = await token(key.apiPublicKey, { sub: `only ${label}` });
          const { session } = await opened(() => forChild('oauthLogin', { oidcToken, publicKey: key.apiPublicKey }));
          await isSession(session, userIds[0], key);
        });

        it('oauth: the bundle opens, and its key signs', async () => {
          const target = generateP256KeyPair();
          const targetPublicKey = target.publicKeyUncompressed;
          for (const [client, alg] of [
            [root, 'RS256'],
            [connectUser(flavour, dev, held.rootKey), 'ES256'],
          ]) {
            const oidcToken = await token(targetPublicKey, {}, { alg });
            const result = await opened(() => client.run('oauth', { oidcToken, targetPublicKey }));
            assert.equal(result.userId, ada.userId);
            const key = openBundle(result.credentialBundle, target);
            const apiKeyId = await isKey(key, ada.userId, 'OAUTH_KEY_P256', /^Oauth - /);
            assert.equal(apiKeyId, result.apiKeyId);
            const asAda = connectUser(flavour, dev, key);
            const made = await asAda.run('createApiKeys', { userId: ada.userId, apiKeys: [apiKey('by oauth', newKey())] });
            await asAda.run('deleteApiKeys', { userId: ada.userId, apiKeyIds: made.apiKeyIds });
          }
          const named = await root.run('oauth', {
            oidcToken: await token(targetPublicKey),
            targetPublicKey,
            apiKeyName: 'named',
            expirationSeconds: '600',
            invalidateExisting: true,
          });
          const key = openBundle(named.credentialBundle, target);
          await isKey(key, ada.userId, 'OAUTH_KEY_P256', /^named$/, '600');
          const all = await keysOf(ada.userId);
          assert.equal(all.filter((k) => k.credential.type === 'CREDENTIAL_TYPE_OAUTH_KEY_P256').length, 1);
        });

        it('oauth_login, and stamp_login with the token itself', async () => {
          const key = newKey();
          const publicKey = key.apiPublicKey;
          const { session } = await root.run('oauthLogin', {
            oidcToken: await token(publicKey),
            publicKey,
            expirationSeconds: '1200',
          });
          await isSession(session, ada.userId, key, 1200);
          // The claim may have another name, for issuers that keep the first.
          const other = newKey();
          const renamed = await token(undefined, { tknonce: nonce(other.apiPublicKey) });
          await root.run('oauthLogin', { oidcToken: renamed, publicKey: other.apiPublicKey });

          // As @turnkey/core logs in: with the id of the parent organization.
          const fresh = newKey();
          const oidcToken = await token(fresh.apiPublicKey);
          const stamper = attested(fresh, oidcToken, AttestedScheme.P256_OIDC);
          const activity = await flavour.connect(held.dev, stamper).submit('stampLogin', { publicKey: fresh.apiPublicKey });
          assert.equal(activity.organizationId, dev.organizationId);
          await isSession(activity.result.stampLoginResult.session, ada.userId, fresh);
        });

        it('bad tokens', async () => {
          const key = newKey();
          const publicKey = key.apiPublicKey;
          for (const [name, oidcToken, code = 3] of [
            ['another key', await token(newKey().apiPublicKey)],
            ['no nonce', await token()],
            ['expired', await token(publicKey, { exp: Math.floor(Date.now() / 1000) - 3600 })],
            ['unsigned', await token(publicKey, {}, { alg: 'none' })],
            ['signed with the public key', await token(publicKey, {}, { alg: 'HS256' })],
            ['signed by a stranger', await token(publicKey, {}, { key: 'stranger' })],
            ['signed by an impostor', await token(publicKey, {}, { key: 'impostor' })],
            ['no subject', await token(publicKey, { sub: null })],
            ['malformed', 'aaaa.bbbb.cccc'],
            ['of an issuer that is not there', await token(publicKey, { iss: 'http://127.0.0.1:1' })],
            ['another audience', await token(publicKey, { aud: 'another' }), 5],
            ['another subject', await token(publicKey, { sub: 'another' }), 5],
          ]) {
            await assert.rejects(root.client.submit('oauthLogin', { oidcToken, publicKey }), (error) => {
              assert.ok(error instanceof flavour.RequestError, `${name}: ${error.stack}`);
              assert.equal(error.code, code, `${name}: ${error.message}`);
              assert.ok(!error.message.includes(oidcToken), 'a token is not repeated');
              return true;
            });
          }
          await assert.rejects(whoIs(key), unknown);
        });

        it('delete_oauth_providers', async () => {
          const { oauthProviders } = await ada.query('getOauthProviders', { userId: ada.userId });
          const providerIds = oauthProviders.map((p) => p.providerId);
          const [eve] = await createUsers(flavour, dev, root, 'stranger');
          await refuses(flavour, eve, 7, 'deleteOauthProviders', { userId: ada.userId, providerIds });
          assert.deepEqual(await ada.run('deleteOauthProviders', { userId: ada.userId, providerIds }), { providerIds });
          assert.deepEqual((await ada.query('getOauthProviders', { userId: ada.userId })).oauthProviders, []);
          const key = newKey();
          await refuses(flavour, root, 5, 'oauthLogin', {
            oidcToken: await token(key.apiPublicKey),
            publicKey: key.apiPublicKey,
          });
          await refuses(flavour, ada, 5, 'deleteOauthProviders', { userId: ada.userId, providerIds });
        });
      });

      describe('codes', () => {
        // The first half: a code is sent, and read.
        const init = async (client, contact, nth = 1, more) => {
          const result = await opened(() => client.run('initOtp', { otpType: 'OTP_TYPE_EMAIL', contact, appName, ...more }));
          const { code, header } = await message(held.place, contact, nth);
          return { ...result, code, header };
        };
        const seal = ({ code, otpEncryptionTargetBundle }, key) =>
          encryptOtpCodeToBundle(code, otpEncryptionTargetBundle, key.apiPublicKey, held.dev.signerPublicKey);
        // @turnkey/core leaves this step to a proxy, in whose place another
        // client stands here, and has no otp_login of the second version: it
        // logs in with the token itself.
        const whole = flavour.name !== '@turnkey/core';
        const itWhole = whole ? it : () => {};
        const verify = async ({ key: stamper }, organization, otp, key) => {
          const verifier = whole ? flavour : flavours[1];
          const encryptedOtpBundle = await seal(otp, key);
          const client = connectUser(verifier, organization, stamper);
          return (await opened(() => client.run('verifyOtp', { otpId: otp.otpId, encryptedOtpBundle }))).verificationToken;
        };
        // What a client signs to prove that the token is its own.
        const clientSignature = async (verificationToken, key, sessionPublicKey) => {
          const { message: text, publicKey } = getClientSignatureMessageForLogin({ verificationToken, sessionPublicKey });
          assert.equal(publicKey, key.apiPublicKey);
          const signature = await new ApiKeyStamper(key).sign(text, SignatureFormat.Raw);
          return { publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256', message: text, signature };
        };

        itWhole('init_otp, verify_otp and otp_login', async () => {
          const fay = await user('fay');
          const contact = address('fay');
          const otp = await init(parent, contact);
          assert.match(otp.code, /^[0-9A-HJKMNP-TV-Z]{9}$/);
          assert.match(otp.header.subject, /Example App|code/i);
          const key = newKey();
          const verificationToken = await verify(parent, held.dev, otp, key);
          const claims = await verifyOtpVerificationToken(verificationToken, held.dev.signerPublicKey);
          assert.equal(claims.contact, contact);
          assert.equal(claims.verification_type, 'OTP_TYPE_EMAIL');
          assert.equal(claims.public_key, key.apiPublicKey);
          assert.equal(claims.organization_id, held.dev.organizationId);

          // Another key for the session than the one that the token is bound to.
          const session = newKey();
          const parameters = {
            verificationToken,
            publicKey: session.apiPublicKey,
            clientSignature: await clientSignature(verificationToken, key, session.apiPublicKey),
          };
          const refusedBy = (changed) =>
            refuses(flavour, connectUser(flavour, dev, held.rootKey), 3, 'otpLogin', { ...parameters, ...changed });
          await refusedBy({ publicKey: newKey().apiPublicKey });
          await refusedBy({ clientSignature: { ...parameters.clientSignature, signature: '00'.repeat(64) } });
          await refusedBy({ verificationToken: `${verificationToken.slice(0, -4)}AAAA` });
          const result = await opened(() => forChild('otpLogin', parameters));
          await isSession(result.session, fay.userId, session);
        });

        it('stamp_login with the token itself', async () => {
          const gus = await user('gus');
          const key = newKey();
          const otp = await init(parent, address('gus'), 1, { otpLength: 6, alphanumeric: false });
          assert.match(otp.code, /^\d{6}$/);
          const token = await verify(parent, held.dev, otp, key);
          const stamper = attested(key, token, AttestedScheme.P256_VERIFICATION_TOKEN);
          // As @turnkey/core logs in: with the id of the parent organization.
          const login = flavour.connect(held.dev, stamper);
          const activity = await login.submit('stampLogin', { publicKey: key.apiPublicKey, expirationSeconds: '1200' });
          assert.equal(activity.organizationId, dev.organizationId);
          await isSession(activity.result.stampLoginResult.session, gus.userId, key, 1200);
          // It is accepted for no other operation, and with no other key.
          await assert.rejects(login.query('getWhoami'), unknown);
          const stolen = new AttestedStamper({ sign: (payload, format) => new ApiKeyStamper(newKey()).sign(payload, format) });
          stolen.configure({
            attestedIdentity: token,
            publicKey: key.apiPublicKey,
            scheme: AttestedScheme.P256_VERIFICATION_TOKEN,
          });
          await assert.rejects(flavour.connect(held.dev, stolen).submit('stampLogin', { publicKey: key.apiPublicKey }), unknown);
        });

        itWhole('within the child, by mail and by SMS', async () => {
          const phone = `+1415555${String(1000 + flavours.indexOf(flavour))}`;
          const hal = await user('hal', { userPhoneNumber: phone });
          const key = newKey();
          const otp = await init(root, phone, 1, {
            otpType: 'OTP_TYPE_SMS',
            smsCustomization: { template: 'Your code: {{.OtpCode}}' },
          });
          const [sms] = messages(held.place, phone);
          assert.match(sms.body, new RegExp(`Your code: ${otp.code}`));
          const verificationToken = await verify(root, dev, otp, key);
          const { session } = await root.run('otpLogin', {
            verificationToken,
            publicKey: key.apiPublicKey,
            clientSignature: await clientSignature(verificationToken, key),
          });
          await isSession(session, hal.userId, key);
          // SMS is off in the parent organization.
          await refuses(
            flavour,
            parent,
            7,
            'initOtp',
            { otpType: 'OTP_TYPE_SMS', contact: phone, appName },
            /FEATURE_NAME_SMS_AUTH/,
          );
        });

        itWhole('a wrong code, three times, and a code that was used', async () => {
          const ida = await user('ida');
          const contact = address('ida');
          const key = newKey();
          const otp = await init(parent, contact);
          const wrong = { ...otp, code: otp.code.startsWith('A') ? `B${otp.code.slice(1)}` : `A${otp.code.slice(1)}` };
          const attempt = async (text) => ({ otpId: otp.otpId, encryptedOtpBundle: await seal(text, key) });
          for (let i = 0; i < 3; i++) {
            await assert.rejects(
              parent.client.submit('verifyOtp', await attempt(wrong)),
              refusal(flavour, 3, /Invalid OTP code/),
            );
          }
          // Now the right one is no longer accepted either.
          await assert.rejects(parent.client.submit('verifyOtp', await attempt(otp)), refusal(flavour, 3));
          const second = await init(parent, contact, 2);
          await verify(parent, held.dev, second, key);
          await refuses(flavour, parent, 3, 'verifyOtp', {
            otpId: second.otpId,
            encryptedOtpBundle: await seal(second, key),
          });
          await assert.rejects(whoIs(key), unknown);
          assert.equal(await whoIs(ida.key), ida.userId);
        });

        it('at most three codes at a time', async () => {
          await user('max');
          const parameters = { otpType: 'OTP_TYPE_EMAIL', contact: address('max'), appName, userIdentifier: `max ${label}` };
          for (let i = 0; i < 3; i++) await parent.run('initOtp', parameters);
          await refuses(flavour, parent, 8, 'initOtp', parameters, /Max number of OTPs have been initiated/);
        });

        it('init_otp_auth and otp_auth', async () => {
          const jon = await user('jon');
          const contact = address('jon');
          const { otpId } = await forChild('initOtpAuth', { otpType: 'OTP_TYPE_EMAIL', contact, appName });
          const { code } = await message(held.place, contact);
          const target = generateP256KeyPair();
          const parameters = { otpId, otpCode: code, targetPublicKey: target.publicKeyUncompressed };
          const parentInChild = connectUser(flavour, dev, held.rootKey);
          await refuses(flavour, parentInChild, 3, 'otpAuth', { ...parameters, otpCode: '000000000' }, /Invalid OTP code/);
          const result = await opened(() => forChild('otpAuth', parameters));
          assert.equal(result.userId, jon.userId);
          const key = openBundle(result.credentialBundle, target);
          assert.equal(await isKey(key, jon.userId, 'OTP_AUTH_KEY_P256', /^OTP Auth - /), result.apiKeyId);
          await refuses(flavour, parentInChild, 3, 'otpAuth', parameters);
        });

        it('email_auth', async () => {
          const kim = await user('kim');
          const email = address('kim');
          const target = generateP256KeyPair();
          const parameters = {
            email,
            targetPublicKey: target.publicKeyUncompressed,
            emailCustomization: { appName, magicLinkTemplate: 'https://app.example.com/login?bundle=%s' },
          };
          const { userId, apiKeyId } = await opened(() => forChild('emailAuth', parameters));
          assert.equal(userId, kim.userId);
          const { bundle, body } = await message(held.place, email);
          assert.ok(body.replaceAll('=\n', '').includes('app.example.com/login'));
          const key = openBundle(bundle, target);
          assert.equal(await isKey(key, kim.userId, 'EMAIL_AUTH_KEY_P256', /^Email Auth - /), apiKeyId);
          await refuses(flavour, connectUser(flavour, dev, held.rootKey), 3, 'emailAuth', { ...parameters, email: 'kim' });
          await refuses(flavour, connectUser(flavour, dev, held.rootKey), 5, 'emailAuth', { ...parameters, email: address('noone') });
          // Not where it is switched off.
          await root.run('removeOrganizationFeature', { name: 'FEATURE_NAME_EMAIL_AUTH' });
          const { status } = await send(await connectUser(flavour, dev, held.rootKey).client.sign('emailAuth', parameters));
          assert.ok(status === 400 || status === 403, `${status}`);
          await root.run('setOrganizationFeature', { name: 'FEATURE_NAME_EMAIL_AUTH', value: '' });
        });

        it('init_user_email_recovery and recover_user', async () => {
          const leo = await user('leo');
          const email = address('leo');
          const target = generateP256KeyPair();
          const parameters = { email, targetPublicKey: target.publicKeyUncompressed, emailCustomization: { appName } };
          const { userId } = await opened(() => forChild('initUserEmailRecovery', parameters));
          assert.equal(userId, leo.userId);
          const { bundle } = await message(held.place, email);
          const key = openBundle(bundle, target);
          const recovering = connectUser(flavour, dev, key, userId);
          assert.equal((await recovering.query('getWhoami')).userId, userId);
          // It is valid for recovery only.
          const passkey = new Passkey();
          await refuses(flavour, recovering, 7, 'createApiKeys', { userId, apiKeys: [apiKey('x', newKey())] });
          await refuses(flavour, recovering, 7, 'recoverUser', { userId: root.userId, authenticator: passkey.register('x') });
          await refuses(flavour, leo, 7, 'recoverUser', { userId, authenticator: passkey.register('x') });

          const { authenticatorId } = await recovering.run('recoverUser', { userId, authenticator: passkey.register('new one') });
          assert.equal(authenticatorId.length, 1);
          assert.equal(await whoIs(passkey), userId);
          const { authenticator } = await leo.query('getAuthenticator', { authenticatorId: authenticatorId[0] });
          assert.equal(authenticator.authenticatorName, 'new one');
          await assert.rejects(whoIs(key), unknown);
        });
      });

      describe('sessions', () => {
        it('create_read_write_session', async () => {
          const mia = await user('mia');
          const passkey = new Passkey();
          await mia.run('createAuthenticators', { userId: mia.userId, authenticators: [passkey.register('hers')] });
          const target = generateP256KeyPair();
          const parameters = { targetPublicKey: target.publicKeyUncompressed };
          const withPasskey = connectUser(flavour, dev, passkey);
          const { credentialBundle, apiKeyId, ...who } = await opened(() =>
            withPasskey.run('createReadWriteSession', parameters),
          );
          assert.deepEqual(who, {
            organizationId: dev.organizationId,
            organizationName: `${label} logins`,
            userId: mia.userId,
            username: 'mia',
          });
          const key = openBundle(credentialBundle, target);
          assert.equal(await isKey(key, mia.userId, 'READ_WRITE_SESSION_KEY_P256', /^Read Write Session - /), apiKeyId);
          const asMia = connectUser(flavour, dev, key, mia.userId);
          await asMia.run('createApiKeys', { userId: mia.userId, apiKeys: [apiKey('by session', newKey())] });

          const next = await asMia.run('createReadWriteSession', {
            ...parameters,
            userId: mia.userId,
            apiKeyName: 'second',
            expirationSeconds: '600',
            invalidateExisting: true,
          });
          await isKey(openBundle(next.credentialBundle, target), mia.userId, 'READ_WRITE_SESSION_KEY_P256', /^second$/, '600');
          await assert.rejects(whoIs(key), unknown);
          // The organization may be the parent, for a client that knows no other.
          const above = await flavour.connect(held.dev, passkey).submit('createReadWriteSession', parameters);
          assert.equal(above.result.createReadWriteSessionResultV2.organizationId, dev.organizationId);
          await refuses(flavour, mia, 7, 'createReadWriteSession', { ...parameters, userId: root.userId });
          await refuses(flavour, mia, 3, 'createReadWriteSession', { ...parameters, expirationSeconds: '0' }, /expiration/);
          await refuses(flavour, mia, 3, 'createReadWriteSession', { targetPublicKey: `04${'11'.repeat(64)}` });
        });

        it('stamp_login', async () => {
          const nia = await user('nia');
          const [first, second] = [newKey(), newKey()];
          const login = (client, key, more) => opened(() => client.run('stampLogin', { publicKey: key.apiPublicKey, ...more }));
          await isSession((await login(nia, first)).session, nia.userId, first);
          // A session can open the next one.
          const { session } = await login(connectUser(flavour, dev, first, nia.userId), second, {
            expirationSeconds: '600',
            invalidateExisting: true,
          });
          await isSession(session, nia.userId, second, 600);
          await assert.rejects(whoIs(first), unknown);
          await assert.rejects(
            verifySessionJwtSignature(`${session.slice(0, -4)}AAAA`, held.dev.sessionPublicKey).then(assert.ok),
          );
        });

        it('a session ends', async () => {
          const ola = await user('ola');
          const key = newKey();
          await ola.run('stampLogin', { publicKey: key.apiPublicKey, expirationSeconds: '1' });
          await sleep(1500); // it ended a second after the server made it
          // One client knows by these words that it must log in again.
          const ended = new RegExp(`Unauthenticated desc = expired api key publicKey: ${key.apiPublicKey}`);
          await assert.rejects(whoIs(key), refusal(flavour, 16, ended));
        });

        it('create_read_only_session reads, and only that', async () => {
          const oda = await user('oda');
          const { session, sessionExpiry, ...who } = await oda.run('createReadOnlySession', {});
          assert.deepEqual(who, {
            organizationId: dev.organizationId,
            organizationName: `${label} logins`,
            userId: oda.userId,
            username: 'oda',
          });
          lasts(Number(sessionExpiry), 3600);
          const post = async (path, body, token = session) => {
            const reply = await fetch(`${dev.baseUrl}/public/v1/${path}`, {
              method: 'POST',
              headers: { 'X-Session': token, 'Content-Type': 'application/json' },
              body: JSON.stringify(body),
            });
            return { status: reply.status, reply: await reply.json() };
          };
          const whoami = await post('query/whoami', on(dev));
          assert.equal(whoami.status, 200);
          assert.equal(whoami.reply.userId, oda.userId);
          assert.equal((await post('query/list_users', on(dev))).status, 200);
          // The last characters of a signature may happen to be what one puts in their place.
          const damaged = session.slice(0, -20) + (session.at(-20) === 'A' ? 'B' : 'A') + session.slice(-19);
          const { body } = await oda.client.sign('createApiKeys', { userId: oda.userId, apiKeys: [apiKey('x', newKey())] });
          for (const refused of [
            await post('submit/create_api_keys', JSON.parse(body)),
            await post('query/whoami', on(dev), damaged),
            await post('query/whoami', on(dev), 'x'),
            await post('query/list_users', on(held.dev)),
          ]) {
            assert.equal(refused.status, 401, JSON.stringify(refused.reply));
            shape.error(refused.reply);
          }
        });
      });
    });
  }

  it('keys of an issuer rotate', async () => {
    const [, flavour] = flavours;
    const [dev, root] = await createOrganization({ ...held, flavour }, 'rotation', ['Root']);
    const key = newKey();
    const publicKey = key.apiPublicKey;
    const token = (alg) => turning.mint({ nonce: nonce(publicKey) }, { alg });
    await root.run('createOauthProviders', {
      userId: root.userId,
      oauthProviders: [{ providerName: 'turning', oidcToken: await token('RS256') }],
    });
    const old = await token('RS256');
    await root.run('oauthLogin', { oidcToken: old, publicKey });
    await turning.rotate();
    await root.run('oauthLogin', { oidcToken: await token('RS256'), publicKey });
    await root.run('oauthLogin', { oidcToken: await token('ES256'), publicKey });
    await refuses(flavour, root, 3, 'oauthLogin', { oidcToken: old, publicKey }, /invalid OIDC token/);
    assert.equal((await flavour.connect(dev, key).query('getWhoami')).userId, root.userId);
  });

  it('the first versions, for old clients', async () => {
    const [http] = flavours;
    const [dev, root] = await createOrganization({ ...held, flavour: http }, 'old logins', ['Root']);
    const parent = http.connect(held.dev, held.rootKey);
    const inChild = http.connect(dev, held.rootKey);
    const as = async (client, method, type, parameters) => {
      const activity = shape.activity(await client.submit(method, parameters, `ACTIVITY_TYPE_${type}`));
      assert.equal(activity.status, 'ACTIVITY_STATUS_COMPLETED');
      return activity.result;
    };
    const who = async (key) => (await http.connect(dev, key).query('getWhoami')).userId;
    const contact = 'old@example.com';
    const { userIds } = await root.run('createUsers', { users: [newUser('old', newKey(), { userEmail: contact })] });
    const [userId] = userIds;
    let mails = 0;
    const next = () => message(held.place, contact, ++mails);
    const email = { otpType: 'OTP_TYPE_EMAIL', contact };

    // Codes that are sent back as they are.
    for (const [type, more] of [
      ['INIT_OTP', { emailCustomization: { appName } }],
      ['INIT_OTP_V2', { appName }],
    ]) {
      const { otpId } = (await as(parent, 'initOtp', type, { ...email, ...more })).initOtpResult;
      const { code } = await next();
      const key = newKey();
      const verified = await as(parent, 'verifyOtp', 'VERIFY_OTP', { otpId, otpCode: code, publicKey: key.apiPublicKey });
      const { verificationToken } = verified.verifyOtpResult;
      assert.equal(claimsOf(verificationToken).contact, contact);
      const { otpLoginResult } = await as(inChild, 'otpLogin', 'OTP_LOGIN', { verificationToken, publicKey: key.apiPublicKey });
      assert.ok(await verifySessionJwtSignature(otpLoginResult.session, held.dev.sessionPublicKey));
      assert.equal(await who(key), userId);
    }

    const target = generateP256KeyPair();
    const targetPublicKey = target.publicKeyUncompressed;
    for (const [type, resultKey, more] of [
      ['INIT_OTP_AUTH', 'initOtpAuthResult', {}],
      ['INIT_OTP_AUTH_V2', 'initOtpAuthResultV2', { otpLength: 6 }],
    ]) {
      const result = await as(inChild, 'initOtpAuth', type, { ...email, ...more });
      const { otpId } = result[resultKey];
      const { otpAuthResult } = await as(inChild, 'otpAuth', 'OTP_AUTH', {
        otpId,
        otpCode: (await next()).code,
        targetPublicKey,
      });
      assert.equal(await who(openBundle(otpAuthResult.credentialBundle, target)), userId);
    }
    for (const type of ['EMAIL_AUTH', 'EMAIL_AUTH_V2']) {
      await as(inChild, 'emailAuth', type, { email: contact, targetPublicKey });
      assert.equal(await who(openBundle((await next()).bundle, target)), userId);
    }
    await as(inChild, 'initUserEmailRecovery', 'INIT_USER_EMAIL_RECOVERY', { email: contact, targetPublicKey });
    assert.equal(await who(openBundle((await next()).bundle, target)), userId);

    const session = await as(root.client, 'createReadWriteSession', 'CREATE_READ_WRITE_SESSION', {
      email: contact,
      targetPublicKey,
    });
    const { credentialBundle, ...rest } = session.createReadWriteSessionResult;
    assert.equal(rest.userId, userId);
    assert.equal(await who(openBundle(credentialBundle, target)), userId);

    const oidcToken = await issuer.mint({ sub: 'old', aud: 'old' });
    const provided = await as(root.client, 'createOauthProviders', 'CREATE_OAUTH_PROVIDERS', {
      userId,
      oauthProviders: [{ providerName: 'old', oidcToken }],
    });
    assert.equal(provided.createOauthProvidersResult.providerIds.length, 1);
  });
});
