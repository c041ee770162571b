// The agent calls what it may, and reaches nothing else, by no way; and what is
// signed is the call that was asked for: ethers says so.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Interface, Transaction } from 'ethers';
import { parse } from 'yaml';

import { call, open, refusal, whyNot } from '../agent.mjs';
import { apiKey, newKey } from '../latchkey.mjs';
import { abi, mandate, setUp, token } from '../owner.mjs';

const ana = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const bo = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
const stranger = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const otherToken = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
const cap = 100_000_000n;

const contract = new Interface(abi);
const refuses = async (attempt, pattern) => {
  const error = await attempt().then(
    (result) => assert.fail(`it was done: ${JSON.stringify(result)}`),
    (e) => e,
  );
  assert.match(refusal(error), pattern);
};
const nothingAllows = /^You don't have sufficient permissions to take this action\./;
const denied = /^policy engine denied request explicitly$/;
const unknownKey = /^could not find public key/;
const expired = /expired api key/;

describe('a delegated agent', () => {
  let place;
  let agent;
  before(async () => {
    place = await setUp();
    const key = newKey();
    await mandate(place, key.publicKey, 3600);
    agent = open(place, key);
  });

  for (const [name, args] of [
    ['the cap to Ana', [ana, cap]],
    ['nothing to Bo', [bo, 0n]],
    ['an address in lower case', [ana.toLowerCase(), 1n]],
  ]) {
    it(`transfers ${name}`, async () => {
      const transaction = call('transfer', args);
      const signed = Transaction.from(await agent.signer.signTransaction({ ...transaction }));
      assert.equal(signed.from, place.address);
      assert.equal(signed.to, token);
      assert.equal(signed.unsignedSerialized, Transaction.from(transaction).unsignedSerialized);
      const { name: called, args: got } = contract.parseTransaction(signed);
      assert.equal(called, 'transfer');
      assert.deepEqual([got[0].toLowerCase(), got[1]], [args[0].toLowerCase(), args[1]]);
      assert.deepEqual(await whyNot(agent, transaction), []);
    });
  }

  const good = contract.encodeFunctionData('transfer', [ana, 1n]);
  for (const [name, transaction, clause] of [
    ['a millionth above the cap', call('transfer', [ana, cap + 1n]), "['value'] <= 100000000"],
    ['all there is', call('transfer', [ana, 2n ** 256n - 1n]), "['value'] <= 100000000"],
    ['a stranger', call('transfer', [stranger, 1n]), "contract_call_args['to'] in"],
    ['another function', call('approve', [ana, 1n]), "function_name == 'transfer'"],
    ['a function that the ABI does not have', call('transfer', [ana, 1n], { data: '0x23b872dd' }), 'function_name'],
    ['another contract', call('transfer', [ana, 1n], { to: otherToken }), 'eth.tx.to =='],
    ['a new contract', call('transfer', [ana, 1n], { to: null }), 'eth.tx.to =='],
    ['ether with the call', call('transfer', [ana, 1n], { value: 1n }), 'eth.tx.value == 0'],
    ['plain ether', call('transfer', [ana, 1n], { to: ana, data: '0x', value: 1n }), 'eth.tx.to =='],
    ['another chain', call('transfer', [ana, 1n], { chainId: 137n }), 'eth.tx.chain_id == 1'],
    ['bytes behind the arguments', call('transfer', [ana, 1n], { data: `${good}00` }), 'function_name'],
    ['an argument that is cut short', call('transfer', [ana, 1n], { data: good.slice(0, -2) }), 'function_name'],
    ['an address with a dirty upper half', call('transfer', [ana, 1n], { data: good.replace('000', '001') }), 'function_name'],
    ['a fee that eats the wallet', call('transfer', [ana, 1n], { maxFeePerGas: 2n ** 90n }), 'max_fee_per_gas'],
    [
      'a fee of an older kind',
      call('transfer', [ana, 1n], { type: 0, gasPrice: 2n ** 90n, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }),
      "eth.tx.type == 'TYPE_2'",
    ],
    ['much gas', call('transfer', [ana, 1n], { gasLimit: 30_000_000n }), 'eth.tx.gas <='],
  ]) {
    it(`refuses ${name}, and says why`, async () => {
      await refuses(() => agent.signer.signTransaction({ ...transaction }), nothingAllows);
      const why = await whyNot(agent, transaction);
      assert.ok(
        why.some((part) => part.includes(clause)),
        `${why}`,
      );
    });
  }

  it('signs no bytes, not even the hash of a good call', async () => {
    const raw = { signWith: place.address, encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' };
    const payload = Transaction.from(call('transfer', [ana, 1n])).unsignedHash;
    // A permit is an approval by typed data.
    const types = {
      Permit: [
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
      ],
    };
    const domain = { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: token };
    await refuses(() => agent.signer.signMessage('hello'), nothingAllows);
    await refuses(() => agent.signer.signTypedData(domain, types, { spender: ana, value: 1n }), nothingAllows);
    await refuses(() => agent.client.signRawPayload({ ...raw, payload }), nothingAllows);
    await refuses(() => agent.client.signRawPayloads({ ...raw, payloads: [payload] }), nothingAllows);
  });

  it('does not change what it may do', async () => {
    const { client } = agent;
    const { policies } = await client.getPolicies();
    const { smartContractInterfaces } = await client.getSmartContractInterfaces({});
    const consensus = `approvers.any(user, user.id == '${place.agentId}')`;
    const more = { policyName: 'More', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'", consensus, notes: '' };
    const [{ smartContractInterfaceId }] = smartContractInterfaces;
    const lies = {
      smartContractAddress: otherToken,
      smartContractInterface: abi,
      type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
      label: 'x',
      notes: '',
    };
    for (const attempt of [
      () => client.createPolicy(more),
      () => client.updatePolicy({ policyId: policies[0].policyId, policyCondition: more.condition }),
      () => client.deletePolicy({ policyId: policies[1].policyId }),
      () => client.createSmartContractInterface(lies),
      () => client.deleteSmartContractInterface({ smartContractInterfaceId }),
      () => client.updateRootQuorum({ threshold: 1, userIds: [place.agentId] }),
      () => client.exportWallet({ walletId: place.walletId, targetPublicKey: newKey().publicKeyUncompressed }),
      () => client.createWallet({ walletName: 'mine', accounts: [] }),
    ]) {
      await refuses(attempt, nothingAllows);
    }
    assert.deepEqual((await client.getPolicies()).policies, policies);
    assert.deepEqual((await client.getSmartContractInterfaces({})).smartContractInterfaces, smartContractInterfaces);
  });

  it('does not prolong its mandate', async () => {
    const { client } = agent;
    const userId = place.agentId;
    const { apiKeys: before } = await client.getApiKeys({ userId });
    const later = newKey();
    for (const attempt of [
      () => client.createApiKeys({ userId, apiKeys: [apiKey('forever', later)] }),
      () => client.createApiKeys({ userId, apiKeys: [{ ...apiKey('longer', later), expirationSeconds: '86400' }] }),
      () => client.deleteApiKeys({ userId, apiKeyIds: [before[0].apiKeyId] }),
      () => client.stampLogin({ publicKey: later.publicKey, expirationSeconds: '86400' }),
      () => client.createReadWriteSession({ targetPublicKey: later.publicKeyUncompressed, expirationSeconds: '86400' }),
    ]) {
      await refuses(attempt, denied);
    }
    assert.deepEqual((await client.getApiKeys({ userId })).apiKeys, before);
    await refuses(() => open(place, later).client.getWhoami(), unknownKey);
  });

  it('ends with its mandate, and begins again with a new one', async () => {
    const transaction = call('transfer', [bo, 1n]);
    const signs = async ({ signer }) => Transaction.from(await signer.signTransaction({ ...transaction })).from === place.address;
    // brief gives a mandate that was good at first. On a slow machine it may be
    // over before it was used: then the next one is longer.
    const brief = async () => {
      for (let seconds = 4; ; seconds *= 2) {
        const key = newKey();
        const began = Date.now();
        await mandate(place, key.publicKey, seconds);
        const end = Date.now() + seconds * 1000;
        const mandated = open(place, key);
        try {
          assert.ok(await signs(mandated));
          return { mandated, end };
        } catch (error) {
          if (seconds > 300 || Date.now() < began + seconds * 1000 || !expired.test(refusal(error))) throw error;
        }
      }
    };
    const { mandated, end } = await brief();
    await sleep(Math.max(end - Date.now(), 0) + 1000);
    await refuses(() => mandated.signer.signTransaction({ ...transaction }), expired);
    await refuses(() => mandated.client.getWhoami(), expired);

    const next = newKey();
    await mandate(place, next.publicKey, 3600);
    assert.ok(await signs(open(place, next)));
  });

  it('ends at once when Uma says so', async () => {
    const key = newKey();
    const apiKeyId = await mandate(place, key.publicKey, 3600);
    const mandated = open(place, key);
    assert.equal((await mandated.client.getWhoami()).userId, place.agentId);
    await place.uma.client.deleteApiKeys({ userId: place.agentId, apiKeyIds: [apiKeyId] });
    await refuses(() => mandated.signer.signTransaction(call('transfer', [ana, 1n])), unknownKey);
  });

  it('depends on the ABI', async () => {
    const [{ smartContractInterfaceId }] = (await place.uma.client.getSmartContractInterfaces({})).smartContractInterfaces;
    await place.uma.client.deleteSmartContractInterface({ smartContractInterfaceId });
    await refuses(() => agent.signer.signTransaction(call('transfer', [ana, 1n])), nothingAllows);
  });

  it('the policies do what their cases say', () => {
    const latchkey = process.env.LATCHKEY_BIN || fileURLToPath(new URL('../../../bin/latchkey', import.meta.url));
    const file = fileURLToPath(new URL('../policies.yaml', import.meta.url));
    const output = execFileSync(latchkey, ['policy', 'test', '--min-coverage', '100', file], { encoding: 'utf8' });
    assert.match(output, /20 of 20 cases passed; 100% of the clauses covered/);
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
