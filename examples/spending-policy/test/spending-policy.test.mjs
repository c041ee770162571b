// The limits hold at their edges, for every way to a signature, and what is
// signed is what was asked for: ethers says so.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hashMessage, JsonRpcProvider, parseEther, Transaction } from 'ethers';
import { parse } from 'yaml';

import { setUp } from '../admin.mjs';
import { openWallet, payment, refusal, whyNot } from '../backend.mjs';
import { apiKey, newKey } from '../latchkey.mjs';
import { readPolicies } from '../policies.mjs';

const suppliers = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x90F79bf6EB2c4f870365E785982E1f101E93b906'];
const [supplier] = suppliers;
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const nothingAllows = 'No policies evaluated to outcome: Allow';

describe('a spending policy', () => {
  let shop;
  let wallet;
  before(async () => {
    shop = await setUp();
    wallet = openWallet(shop);
  });

  // The refusal of what a function tries.
  const refused = async (attempt) => {
    const error = await attempt().then(
      (result) => assert.fail(`it was done: ${JSON.stringify(result)}`),
      (e) => e,
    );
    return refusal(error);
  };

  for (const [name, transaction] of [
    ['the limit, to the wei', payment(suppliers[0], '0.5')],
    ['the other supplier', payment(suppliers[1], '0.000000000000000001', { nonce: 7 })],
    ['the supplier in lower case', payment(supplier.toLowerCase(), '0.1')],
    ['the highest fee', payment(supplier, '0', { maxFeePerGas: 100_000_000_000n })],
  ]) {
    it(`signs ${name}`, async () => {
      const signed = Transaction.from(await wallet.signTransaction({ ...transaction }));
      assert.equal(signed.from, shop.address);
      assert.equal(signed.type, 2);
      assert.equal(signed.unsignedSerialized, Transaction.from(transaction).unsignedSerialized);
      assert.deepEqual(await whyNot(shop, transaction), []);
    });
  }

  for (const [name, transaction, clause] of [
    ['a wei above the limit', payment(supplier, '0.500000000000000001'), 'eth.tx.value <= 500000000000000000'],
    ['more than 64 bits hold', payment(supplier, '0', { value: 2n ** 64n }), 'eth.tx.value <= 500000000000000000'],
    ['more than 128 bits hold', payment(supplier, '0', { value: 2n ** 128n + 1n }), 'eth.tx.value <= 500000000000000000'],
    ['another address', payment(stranger, '0'), /^eth\.tx\.to in/],
    ['a new contract', payment(null, '0', { data: '0x00' }), /^eth\.tx\.to in/],
    ['another chain', payment(supplier, '0.1', { chainId: 1n }), 'eth.tx.chain_id == 11155111'],
    ['a call', payment(supplier, '0', { data: '0xdeadbeef' }), "eth.tx.data == '0x'"],
    [
      'a fee that eats the wallet',
      payment(supplier, '0', { maxFeePerGas: 2n ** 90n }),
      'eth.tx.max_fee_per_gas <= 100000000000',
    ],
    ['much gas', payment(supplier, '0', { gasLimit: 30_000_000n }), 'eth.tx.gas <= 21000'],
    [
      'an older type',
      { type: 0, chainId: 11155111n, nonce: 0, to: supplier, value: 1n, gasLimit: 21_000n, gasPrice: 1n },
      "eth.tx.type == 'TYPE_2'",
    ],
  ]) {
    it(`refuses ${name}, and says why`, async () => {
      const { message, reason } = await refused(() => wallet.signTransaction({ ...transaction }));
      assert.match(message, /^You don't have sufficient permissions to take this action/);
      assert.equal(reason, nothingAllows);
      const why = await whyNot(shop, transaction);
      const fits = (part) => (clause instanceof RegExp ? clause.test(part) : part === clause);
      assert.ok(why.some(fits), `${why}`);
    });
  }

  it('broadcasts through a node, and what is refused is never sent', async () => {
    const node = await fakeNode();
    try {
      const provider = new JsonRpcProvider(node.url, 11155111, { staticNetwork: true });
      const connected = wallet.connect(provider);
      await connected.sendTransaction({ to: supplier, value: parseEther('0.5') });
      assert.equal(node.sent.length, 1);
      const { from, to, value, nonce, type } = Transaction.from(node.sent[0]);
      assert.deepEqual(
        { from, to, value, nonce, type },
        { from: shop.address, to: supplier, value: parseEther('0.5'), nonce: 7, type: 2 },
      );
      await refused(() => connected.sendTransaction({ to: supplier, value: parseEther('0.6') }));
      assert.equal(node.sent.length, 1);
      provider.destroy();
    } finally {
      node.close();
    }
  });

  it('refuses every kind of raw payload, also to the hash of a good payment', async () => {
    const { policies } = await shop.backend.client.getPolicies();
    const { policyId } = policies.find((policy) => policy.effect === 'EFFECT_DENY');
    const { client } = shop.backend;
    const hash = Transaction.from(payment(supplier, '0.1')).unsignedHash;
    const raw = { signWith: shop.address, encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
    const domain = { name: 'Shop', chainId: 11155111 };
    const types = { Order: [{ name: 'amount', type: 'uint256' }] };
    for (const attempt of [
      () => wallet.signMessage('hello'),
      () => wallet.signTypedData(domain, types, { amount: 1n }),
      () => client.signRawPayload({ ...raw, payload: hash }),
      () => client.signRawPayloads({ ...raw, payloads: [hash, hashMessage('hello')] }),
    ]) {
      assert.deepEqual(await refused(attempt), {
        message: 'policy engine denied request explicitly',
        reason: `The following policies denied this action: ${policyId}`,
      });
    }
  });

  it('does not let the backend change its limits or take the key', async () => {
    const { client } = shop.backend;
    const { policies } = await client.getPolicies();
    const [limit] = readPolicies({ 'user.Backend': shop.backend.userId, 'wallet.Hot': shop.walletId });
    const user = { userName: 'x', apiKeys: [apiKey('x', newKey())], authenticators: [], oauthProviders: [], userTags: [] };
    for (const attempt of [
      () => client.createPolicy({ ...limit, policyName: 'more', condition: "activity.action == 'SIGN'" }),
      () => client.updatePolicy({ policyId: policies[0].policyId, policyCondition: "activity.action == 'SIGN'" }),
      () => client.deletePolicy({ policyId: policies[1].policyId }),
      () => client.updateRootQuorum({ threshold: 1, userIds: [shop.backend.userId] }),
      () => client.createUsers({ users: [user] }),
      () => client.createWallet({ walletName: 'mine', accounts: [] }),
      () => client.exportWallet({ walletId: shop.walletId, targetPublicKey: newKey().publicKeyUncompressed }),
    ]) {
      assert.match((await refused(attempt)).message, /^You don't have sufficient permissions/);
    }
    assert.deepEqual((await client.getPolicies()).policies, policies);
  });

  it('holds for the one wallet and the one user', async () => {
    const { admin } = shop;
    const account = {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    };
    const { addresses } = await admin.client.createWallet({ walletName: 'Cold', accounts: [account] });
    const cold = openWallet({ ...shop, address: addresses[0] });
    await refused(() => cold.signTransaction(payment(supplier, '0.1')));
    // The administrator needs no policy.
    const asAdmin = openWallet({ ...shop, backend: admin });
    const signed = Transaction.from(await asAdmin.signTransaction(payment(stranger, '5')));
    assert.equal(signed.value, parseEther('5'));
    assert.equal(signed.from, shop.address);
  });

  it('runs with the policies that were tested', async () => {
    const ids = { 'user.Backend': shop.backend.userId, 'wallet.Hot': shop.walletId };
    const { policies } = await shop.backend.client.getPolicies();
    for (const [i, written] of readPolicies(ids).entries()) {
      for (const [part, text] of Object.entries(written)) assert.equal(policies[i][part], text);
    }
    assert.equal(policies.length, readPolicies(ids).length);
    assert.throws(() => readPolicies({ 'user.Backend': shop.backend.userId }), /\$\{wallet\.Hot\}/);

    const latchkey = process.env.LATCHKEY_BIN || fileURLToPath(new URL('../../../bin/latchkey', import.meta.url));
    const file = fileURLToPath(new URL('../policies.yaml', import.meta.url));
    const output = execFileSync(latchkey, ['policy', 'test', '--min-coverage', '100', file], { encoding: 'utf8' });
    assert.match(output, /13 of 13 cases passed; 100% of the clauses covered/);
    execFileSync(latchkey, ['policy', 'check', '--strict', file]);
  });

  it('the page shows the policies as they are', () => {
    const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
    const [, shown] = /^```yaml\n(.*?)^```$/ms.exec(read('README.md'));
    const { policies } = parse(read('policies.yaml'));
    assert.deepEqual(
      parse(shown),
      policies.map(({ notes, ...policy }) => policy),
    );
  });
});

// As much of an Ethereum node as ethers asks for when it sends a transaction.
async function fakeNode() {
  const sent = [];
  const answers = {
    eth_chainId: () => '0xaa36a7',
    eth_blockNumber: () => '0x10',
    eth_getTransactionCount: () => '0x7',
    eth_estimateGas: () => '0x5208',
    eth_gasPrice: () => '0x3b9aca00',
    eth_maxPriorityFeePerGas: () => '0x3b9aca00',
    eth_getBlockByNumber: () => ({
      number: '0x10',
      hash: `0x${'11'.repeat(32)}`,
      parentHash: `0x${'22'.repeat(32)}`,
      timestamp: '0x1',
      nonce: '0x0000000000000000',
      difficulty: '0x0',
      gasLimit: '0x1c9c380',
      gasUsed: '0x0',
      miner: stranger,
      extraData: '0x',
      baseFeePerGas: '0x3b9aca00',
      transactions: [],
    }),
    eth_sendRawTransaction: ([raw]) => {
      sent.push(raw);
      return Transaction.from(raw).hash;
    },
  };
  const answer = ({ id, method, params }) =>
    answers[method]
      ? { jsonrpc: '2.0', id, result: answers[method](params) }
      : { jsonrpc: '2.0', id, error: { code: -32601, message: `no ${method} here` } };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const asked = JSON.parse(body);
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, sent, close: () => server.close() };
}
