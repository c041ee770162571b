// Recovery by mail: it works once, for the right user on the right device, and
// for nothing else.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { generateP256KeyPair } from '@turnkey/crypto';
import { verifyMessage } from 'viem';

import { App } from '../app.mjs';
import { connect, forgetOthers, newTarget, open, recover, sign } from '../device.mjs';
import { server } from '../latchkey.mjs';
import { bundleFrom, mails } from '../mailbox.mjs';
import { Passkey } from '../passkey.mjs';

const { env } = process;
const { apiBaseUrl } = server;
const app = new App(server);

const unknownKey = { code: 16 };
const forbidden = { code: 7 };

let people = 0;
async function newPerson() {
  const email = `person${++people}.${Date.now()}@example.com`;
  const passkey = new Passkey();
  const person = await app.signUp({ name: `Person ${people}`, email, authenticator: passkey.register('old') });
  return { ...person, email, passkey, as: (stamper) => connect(apiBaseUrl, person.organizationId, stamper) };
}

// asked has a mail sent to a user, and gives what the new device then has.
async function asked({ email }, { nth = 1, ...more } = {}) {
  const target = newTarget();
  assert.equal(await app.startRecovery({ email, targetPublicKey: target.publicKey, ...more }), undefined);
  return { target, bundle: await bundleFrom(env.LATCHKEY_DATA, email, nth) };
}

describe('recovery by mail', () => {
  let ada;
  beforeEach(async () => (ada = await newPerson()));

  const signs = async (stamper) => {
    const signature = await sign(ada.as(stamper), ada, 'hello');
    assert.ok(await verifyMessage({ address: ada.address, message: 'hello', signature }));
  };

  it('replaces a lost passkey by a new one', async () => {
    await signs(ada.passkey);
    const { bundle, target } = await asked(ada);
    const key = open(bundle, target);

    // The device knows the parent organization only, and learns who it is.
    const who = await connect(apiBaseUrl, server.organizationId, key).getWhoami();
    assert.deepEqual([who.organizationId, who.userId], [ada.organizationId, ada.userId]);

    const passkey = new Passkey();
    const id = await recover(ada.as(key), who.userId, passkey.register('new'));
    await signs(passkey);
    await signs(ada.passkey); // until she deletes it: it may only have been mislaid
    assert.deepEqual(await forgetOthers(ada.as(passkey), ada.userId, id), ['old']);
    await assert.rejects(signs(ada.passkey), unknownKey);
    await signs(passkey);
    const { authenticators } = await ada.as(passkey).getAuthenticators({ userId: ada.userId });
    assert.deepEqual(authenticators.map((a) => a.authenticatorName), ['new']);
  });

  it('the code opens on the device that asked for it, and only whole', async () => {
    const { bundle, target } = await asked(ada);
    assert.throws(() => open(bundle, newTarget()), /another device/);
    const middle = Math.floor(bundle.length / 2);
    const other = bundle[middle] === '2' ? '3' : '2';
    for (const [name, damaged] of [
      ['a letter changed', `${bundle.slice(0, middle)}${other}${bundle.slice(middle + 1)}`],
      ['cut off', bundle.slice(0, -1)],
      ['empty', ''],
      ['something else', 'hello'],
    ]) {
      assert.throws(() => open(damaged, target), /damaged/, name);
    }
    assert.ok(open(bundle, target));
  });

  it('works once', async () => {
    const { bundle, target } = await asked(ada);
    const client = ada.as(open(bundle, target));
    await recover(client, ada.userId, new Passkey().register('new'));
    const thief = new Passkey();
    await assert.rejects(recover(client, ada.userId, thief.register('another')), unknownKey);
    await assert.rejects(client.getWhoami(), unknownKey);
    await assert.rejects(signs(thief), unknownKey);
  });

  it('a new mail invalidates the one before', async () => {
    const first = await asked(ada);
    const second = await asked(ada, { nth: 2 });
    const late = ada.as(open(first.bundle, first.target));
    await assert.rejects(recover(late, ada.userId, new Passkey().register('late')), unknownKey);
    await recover(ada.as(open(second.bundle, second.target)), ada.userId, new Passkey().register('new'));
  });

  it('expires', async () => {
    // A mail is not sent when its key has expired, as it may have on a slow
    // machine: then another user asks for one that lasts longer.
    const brief = async () => {
      for (let seconds = 2; ; seconds *= 2) {
        const target = newTarget();
        await app.startRecovery({ email: ada.email, targetPublicKey: target.publicKey, expirationSeconds: String(seconds) });
        const end = Date.now() + seconds * 1000 + 500;
        while (Date.now() < end && mails(env.LATCHKEY_DATA, ada.email).length === 0) await sleep(20);
        if (mails(env.LATCHKEY_DATA, ada.email).length > 0) return { target, end };
        assert.ok(seconds < 100, 'no mail came in time');
        ada = await newPerson();
      }
    };
    const { target, end } = await brief();
    const key = open(await bundleFrom(env.LATCHKEY_DATA, ada.email), target);
    await sleep(Math.max(end - Date.now(), 0));
    const passkey = new Passkey();
    await assert.rejects(recover(ada.as(key), ada.userId, passkey.register('late')), unknownKey);
    await assert.rejects(signs(passkey), unknownKey);
    await signs(ada.passkey);
  });

  it('the key in the mail does nothing else', async () => {
    const { bundle, target } = await asked(ada);
    const key = open(bundle, target);
    const client = ada.as(key);
    const { wallets } = await ada.as(ada.passkey).getWallets();
    const { publicKey, publicKeyUncompressed } = generateP256KeyPair();
    for (const [name, request] of [
      ['signs', () => sign(client, ada, 'x')],
      ['exports', () => client.exportWallet({ walletId: wallets[0].walletId, targetPublicKey: publicKeyUncompressed })],
      [
        'adds an API key',
        () =>
          client.createApiKeys({
            userId: ada.userId,
            apiKeys: [{ apiKeyName: 'x', publicKey, curveType: 'API_KEY_CURVE_P256' }],
          }),
      ],
      ['changes the address', () => client.updateUserEmail({ userId: ada.userId, userEmail: 'eve@example.com' })],
      ['logs in', () => client.stampLogin({ publicKey })],
      ['reads', () => client.getWallets()],
    ]) {
      await assert.rejects(request(), forbidden, name);
    }
    // Nor does it recover another user, in the same organization or another.
    const ben = await newPerson();
    await assert.rejects(recover(client, ben.userId, new Passkey().register('x')), forbidden);
    await assert.rejects(recover(ben.as(key), ben.userId, new Passkey().register('x')), unknownKey);
    // After all that it still does what it is for.
    await recover(client, ada.userId, new Passkey().register('new'));
  });

  it('an unknown address gets no mail, and the same answer', async () => {
    const email = `unknown.${Date.now()}@example.com`;
    assert.equal(await app.startRecovery({ email, targetPublicKey: newTarget().publicKey }), undefined);
    // Mail goes out in order: when Ada's is there, the other would be.
    await asked(ada);
    assert.deepEqual(mails(env.LATCHKEY_DATA, email), []);
  });

  it('the application cannot recover a user by itself', async () => {
    const { bundle } = await asked(ada);
    const client = app.in(ada.organizationId);
    await assert.rejects(recover(client, ada.userId, new Passkey().register('x')), { code: 3 });
    // It can read the whole record of her organization; the code is not in it.
    const { activities } = await client.getActivities();
    const types = activities.map((activity) => activity.type);
    assert.ok(types.includes('ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2'), types.join(' '));
    assert.ok(!JSON.stringify(activities).includes(bundle));
    const [mail] = mails(env.LATCHKEY_DATA, ada.email);
    assert.ok(mail.includes(bundle));
  });

  it('the application needs only a key that may start it', async () => {
    const root = app.in(server.organizationId);
    const { publicKey, privateKey } = generateP256KeyPair();
    const { userIds } = await root.createUsers({
      users: [
        {
          userName: `Recovery ${Date.now()}`,
          apiKeys: [{ apiKeyName: 'server', publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    });
    const limited = new App({ ...server, apiPublicKey: publicKey, apiPrivateKey: privateKey });
    const request = { email: ada.email, targetPublicKey: newTarget().publicKey };
    await assert.rejects(limited.startRecovery(request), forbidden);
    await root.createPolicy({
      policyName: `Recovery ${Date.now()}`,
      effect: 'EFFECT_ALLOW',
      condition: "activity.type == 'ACTIVITY_TYPE_INIT_USER_EMAIL_RECOVERY_V2'",
      consensus: `approvers.any(user, user.id == '${userIds[0]}')`,
      notes: '',
    });
    await limited.startRecovery(request);
    await bundleFrom(env.LATCHKEY_DATA, ada.email);
    const stranger = { name: 'x', email: 'x@example.com', authenticator: new Passkey().register('x') };
    await assert.rejects(limited.signUp(stranger), forbidden);
  });

  it('can be switched off by the user', async () => {
    const client = ada.as(ada.passkey);
    await client.removeOrganizationFeature({ name: 'FEATURE_NAME_EMAIL_RECOVERY' });
    const request = { email: ada.email, targetPublicKey: newTarget().publicKey };
    await assert.rejects(app.startRecovery(request), /FEATURE_NAME_EMAIL_RECOVERY/);
    await client.setOrganizationFeature({ name: 'FEATURE_NAME_EMAIL_RECOVERY', value: '' });
    await asked(ada);
  });
});
