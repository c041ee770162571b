// The programs of docs/migration.md, as they are written there. A second server
// of ours stands in for the hosted service, whose interface is the same.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { hashMessage, recoverAddress } from 'ethers';

import { flavours, newKey } from '../lib/clients.mjs';
import { runPages } from '../lib/page.mjs';
import { Passkey } from '../lib/passkey.mjs';
import { newPlace, storeName, useServer } from '../lib/server.mjs';
import { connectUser, createUsers, refusal, rootUser } from '../lib/users.mjs';

const [flavour] = flavours;
const page = fileURLToPath(new URL('../../docs/migration.md', import.meta.url));

const account = (curve, path, addressFormat) => ({ curve, pathFormat: 'PATH_FORMAT_BIP32', path, addressFormat });

describe(`migration on ${storeName}`, () => {
  const there = useServer();
  const here = useServer();
  const passkey = new Passkey();
  const owner = new Passkey();
  let ada;
  let addresses;
  let keyAddress;

  const root = (side) => connectUser(flavour, side.dev, side.rootKey, side.dev.userId);

  before(async () => {
    const old = root(there);
    const { userTagId } = await old.run('createUserTag', { userTagName: 'treasurers', userIds: [] });
    [ada] = await createUsers(flavour, there.dev, old, 'Ada');
    await old.run('updateUser', { userId: ada.userId, userTagIds: [userTagId] });
    await ada.run('createAuthenticators', { userId: ada.userId, authenticators: [passkey.register('laptop')] });
    const accounts = [
      account('CURVE_SECP256K1', "m/44'/60'/0'/0/0", 'ADDRESS_FORMAT_ETHEREUM'),
      account('CURVE_ED25519', "m/44'/501'/0'/0'", 'ADDRESS_FORMAT_SOLANA'),
    ];
    let walletId;
    ({ walletId, addresses } = await old.run('createWallet', { walletName: 'treasury', accounts }));
    const keys = await old.run('createPrivateKeys', {
      privateKeys: [
        { privateKeyName: 'hot', curve: 'CURVE_SECP256K1', addressFormats: ['ADDRESS_FORMAT_ETHEREUM'], privateKeyTags: [] },
      ],
    });
    keyAddress = keys.privateKeys[0].addresses[0].address;
    await old.run('createPolicy', {
      policyName: 'treasurers sign',
      effect: 'EFFECT_ALLOW',
      condition: `activity.action == 'SIGN' && wallet.id == '${walletId}'`,
      consensus: `approvers.any(user, user.tags.contains('${userTagId}'))`,
      notes: '',
    });
    await old.run('createSubOrganization', {
      subOrganizationName: 'Customer 1',
      rootQuorumThreshold: 1,
      rootUsers: [rootUser('Owner', newKey(), { userEmail: 'owner@example.com', authenticators: [owner.register('phone')] })],
    });

    const place = newPlace();
    try {
      const files = {
        'there.json': JSON.stringify(there.dev),
        'here.json': JSON.stringify(here.dev),
        'root.key': `${here.dev.apiPrivateKey}:p256\n`,
      };
      await runPages([page], place, { files });
    } finally {
      place.remove();
    }
  });

  const signature = (user, signWith) =>
    user.run('signRawPayload', {
      signWith,
      payload: hashMessage('hello'),
      encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
      hashFunction: 'HASH_FUNCTION_NO_OP',
    });

  it('keys sign as before, and the policy that came along decides who may', async () => {
    const { userId } = await flavour.connect(here.dev, ada.key).query('getWhoami');
    const moved = connectUser(flavour, here.dev, ada.key, userId);
    const { r, s, v } = await signature(moved, addresses[0]);
    assert.equal(recoverAddress(hashMessage('hello'), `0x${r}${s}${v === '00' ? '1b' : '1c'}`), addresses[0]);
    await assert.rejects(signature(moved, keyAddress), refusal(flavour, 7));
    await signature(root(here), keyAddress);
    const { accounts } = await moved.query('getWalletAccounts');
    assert.deepEqual(accounts.map(({ address }) => address).sort(), [...addresses].sort());
  });

  it('passkeys stamp, of a user and of the owner of a sub-organization', async () => {
    const whoami = (stamper) => flavour.connect(here.dev, stamper).query('getWhoami');
    assert.equal((await whoami(passkey)).username, 'Ada');
    // The owner knows the id of the parent only.
    const { username, organizationName, organizationId } = await whoami(owner);
    assert.deepEqual([username, organizationName], ['Owner', 'Customer 1']);
    assert.notEqual(organizationId, here.dev.organizationId);
    const { organizationIds } = await root(here).query('getSubOrgIds', { filterType: 'EMAIL', filterValue: 'owner@example.com' });
    assert.deepEqual(organizationIds, [organizationId]);
  });
});
