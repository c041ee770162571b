// `latchkey serve` with a real mail server and a real SMS gateway, each in a
// process of its own: internal/test/mailtest/smtpd, whose package says what they want.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import {
  decryptCredentialBundle,
  encryptOtpCodeToBundle,
  generateP256KeyPair,
  getPublicKey,
  verifySessionJwtSignature,
} from '@turnkey/crypto';

import { flavours, newKey } from '../lib/clients.mjs';
import { startCommand } from '../lib/command.mjs';
import { parse } from '../lib/outbox.mjs';
import { newPlace, startServe, storeName } from '../lib/server.mjs';
import { until } from '../lib/until.mjs';
import { connectUser, createOrganization, newUser, refuses } from '../lib/users.mjs';

const [, flavour] = flavours;
const appName = 'Example App';

describe(`mail on ${storeName}`, () => {
  const place = newPlace();
  const rootKey = newKey();
  let outside;
  let server;
  let parent;
  let dev;
  let root;

  before(async () => {
    outside = await startCommand('./internal/test/mailtest/smtpd');
    const { smtp, caFile, username, password, sms, smsToken } = outside.ready;
    const [host, port] = smtp.split(':');
    writeFileSync(join(place.data, 'password'), password, { mode: 0o600 });
    const config = `
mail:
  host: ${host}
  port: ${port}
  tls: starttls
  ca: ${caFile}
  username: ${username}
  password: file:password
  from: login@example.com
  fromName: Example
sms:
  url: ${sms}
  headers: {Authorization: "Bearer ${smsToken}"}
`;
    server = await startServe(place, config, rootKey);
    parent = connectUser(flavour, server.dev, rootKey, server.dev.userId);
    [dev, root] = await createOrganization({ flavour, dev: server.dev, rootKey }, 'Mailed', ['Root']);
  });
  after(async () => {
    try {
      await server?.stop();
    } finally {
      await server?.end();
      await outside?.stop();
      place.remove();
    }
  });

  // The first message to an address. It may come twice, so they are not counted.
  const received = (folder, to, read, addressee) =>
    until(
      () => `a message to ${to}`,
      () =>
        readdirSync(folder)
          .filter((name) => !name.startsWith('.')) // still being written
          .sort()
          .map((name) => read(readFileSync(join(folder, name), 'utf8')))
          .find((message) => addressee(message).includes(to)),
    );
  const mailTo = async (to) => {
    const { header, body } = await received(outside.ready.mailDir, to, parse, (mail) => mail.header['delivered-to']);
    // Quoted-printable, as far as it matters here.
    return { header, text: body.replace(/=\n/g, '').replace(/=3D/g, '=') };
  };
  const addUser = async (userName, contact) => {
    const { userIds } = await root.run('createUsers', { users: [newUser(userName, newKey(), contact)] });
    return userIds[0];
  };
  const whoIs = async (key) => (await flavour.connect(dev, key).query('getWhoami')).userId;
  const logIn = async ({ otpId, otpEncryptionTargetBundle }, code) => {
    const key = newKey();
    const encryptedOtpBundle = await encryptOtpCodeToBundle(
      code,
      otpEncryptionTargetBundle,
      key.apiPublicKey,
      server.dev.signerPublicKey,
    );
    const { verificationToken } = await parent.run('verifyOtp', { otpId, encryptedOtpBundle });
    assert.equal(verificationToken.split('.').length, 3);
    return verificationToken;
  };

  it('a code by mail, over STARTTLS and with a password', async () => {
    const contact = 'ada@example.com';
    await addUser('Ada', { userEmail: contact });
    const otp = await parent.run('initOtp', { otpType: 'OTP_TYPE_EMAIL', contact, appName });
    const { header, text } = await mailTo(contact);
    assert.match(header.from, /Example.*login@example\.com/);
    assert.equal(header['x-mailtest-encrypted'], 'true');
    assert.equal(header['x-mailtest-login'], outside.ready.username);
    // The code is for the reader of the mail, not for programs.
    assert.equal(header['x-latchkey-code'], undefined);
    const code = text.match(/\b[0-9A-HJKMNP-TV-Z]{9}\b/)[0];
    await logIn(otp, code);
  });

  it('a key by mail', async () => {
    const email = 'ben@example.com';
    const userId = await addUser('Ben', { userEmail: email });
    const target = generateP256KeyPair();
    const inChild = connectUser(flavour, dev, rootKey);
    await inChild.run('emailAuth', {
      email,
      targetPublicKey: target.publicKeyUncompressed,
      emailCustomization: { appName, magicLinkTemplate: 'https://app.example.com/login?bundle=%s' },
    });
    const { text } = await mailTo(email);
    const bundle = text.match(/login\?bundle=([1-9A-HJ-NP-Za-km-z]+)/)[1];
    const apiPrivateKey = decryptCredentialBundle(bundle, target.privateKey);
    const key = { apiPrivateKey, apiPublicKey: Buffer.from(getPublicKey(apiPrivateKey, true)).toString('hex') };
    assert.equal(await whoIs(key), userId);
    const session = newKey();
    const result = await connectUser(flavour, dev, key).run('stampLogin', { publicKey: session.apiPublicKey });
    assert.ok(await verifySessionJwtSignature(result.session, server.dev.sessionPublicKey));
    assert.equal(await whoIs(session), userId);
  });

  it('a mail server that is busy at first', async () => {
    const contact = 'fail-once@example.com';
    const otp = await parent.run('initOtp', { otpType: 'OTP_TYPE_EMAIL', contact, appName, otpLength: 6, alphanumeric: false });
    const { text } = await mailTo(contact);
    await logIn(otp, text.match(/\b\d{6}\b/)[0]);
  });

  it('a code by SMS', async () => {
    const contact = '+14155550123';
    await addUser('Cleo', { userPhoneNumber: contact });
    const otp = await root.run('initOtp', { otpType: 'OTP_TYPE_SMS', contact, appName });
    const read = (file) => JSON.parse(JSON.parse(file).body);
    const { text } = await received(outside.ready.smsDir, contact, read, ({ to }) => [to]);
    assert.ok(otp.otpId);
    assert.match(text, /\b[0-9A-HJKMNP-TV-Z]{9}\b/);
  });

  it('what serve does not do', async () => {
    // Tokens of an issuer on this machine, without TLS.
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const oidcToken = `${part({ alg: 'RS256' })}.${part({ iss: 'http://127.0.0.1:1', sub: 'x', aud: 'x' })}.AAAA`;
    await refuses(flavour, root, 3, 'createOauthProviders', {
      userId: root.userId,
      oauthProviders: [{ providerName: 'local', oidcToken }],
    });
    // A sender that the operator has not allowed.
    await refuses(flavour, parent, 3, 'initOtp', {
      otpType: 'OTP_TYPE_EMAIL',
      contact: 'dora@example.com',
      appName,
      sendFromEmailAddress: 'boss@example.org',
    });
    // And none of the codes is in the log.
    assert.doesNotMatch(server.output(), /bundle=|"code"/);
  });
});
