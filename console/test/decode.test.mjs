// What the page reads out of signed bytes, of each chain, and what it warns of. The
// addresses are those of the chains' own documents.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';

import { consoleUrl, erc20, ethereum, furnish, picture, signIn, signTransaction, storeName, useBrowser, useServer } from './lib.mjs';
import { bitcoin, solana, tron } from './transactions.mjs';

const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'; // of EIP-55
const token = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

describe(`decoding on ${storeName}`, () => {
  const held = useServer();
  const browser = useBrowser();
  let org;
  let page;
  let nonce = 0;
  before(async () => {
    org = await furnish(held);
    page = await browser.open();
    await signIn(page, held.dev, org.people.Bob.key);
  });

  // shows waits for each of the words on the activity's page.
  const shows = async (activity, ...words) => {
    assert.equal(activity.status, 'ACTIVITY_STATUS_CONSENSUS_NEEDED');
    await page.goto(consoleUrl(held.dev, `activities/${activity.id}`));
    for (const text of words) await page.locator('main').getByText(text).first().waitFor();
  };
  const evm = (fields) => signTransaction(org.people.Ada, org.ethereum, ethereum({ nonce: nonce++, gas: 100_000, ...fields }));
  const ask = (signWith, text, type) => signTransaction(org.people.Ada, signWith, text, type);

  it('reads a transfer of a coin, with its chain, its fee and its recipient', async () => {
    await shows(await evm({ to: checksummed.toLowerCase(), value: 1_234_500_000_000_000_000n, gas: 21_000 }), 'Send 1.2345 ETH', checksummed, '0.00063 ETH', 'New recipient');
    await shows(await evm({ chainId: 424242, to: checksummed, value: 1234n }), 'Send 1,234 wei', 'Chain 424242');
  });

  it('reads calls of tokens in raw units, never in guessed ones', async () => {
    await shows(await evm({ to: token, data: erc20('transfer', checksummed, 2_500_000n) }), 'Send 2,500,000 of the token’s smallest units', checksummed, token, 'no interface of this contract');
    await shows(await evm({ to: token, data: erc20('approve', checksummed, 2n ** 256n - 1n) }), 'Allow spending of an unlimited amount', 'Unlimited approval');
    await shows(await evm({ to: token, data: '0xdeadbeef' + '00'.repeat(32) }), 'Call a contract', 'This call cannot be read');
    await shows(await evm({ to: '0x', data: '0x6001600155' }), 'Deploy a contract');
  });

  it('warns of delegatecall, of look-alikes, and of raw payloads', async () => {
    const words = [checksummed, 0n, 320n, 1n, 0n, 0n, 0n, 0n, 0n, 352n, 0n, 0n].map((v) => BigInt(v).toString(16).padStart(64, '0')).join('');
    await shows(await evm({ to: token, data: '0x6a761202' + words }), 'delegatecall', 'Call execTransaction');
    const own = org.ethereum.toLowerCase();
    const twin = own.slice(0, 6) + '0'.repeat(32) + own.slice(-4);
    await shows(await evm({ to: twin, value: 1n }), 'looks like Treasury');
    const raw = await org.people.Ada.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', { signWith: org.ethereum, payload: 'ab'.repeat(32), encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_NO_OP' });
    await shows(raw, 'Sign a raw payload', 'it may be a transaction');
  });

  it('reads calls by the interface that the organization has stored', async () => {
    const abi = [{ type: 'function', name: 'pay', inputs: [{ name: 'invoice', type: 'string' }, { name: 'lines', type: 'tuple[]', components: [{ name: 'to', type: 'address' }, { name: 'amount', type: 'uint256' }] }], outputs: [], stateMutability: 'nonpayable' }];
    await org.root.submit('create_smart_contract_interface', 'CREATE_SMART_CONTRACT_INTERFACE', {
      smartContractAddress: '0x1111111111111111111111111111111111111111', smartContractInterface: JSON.stringify(abi), type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', label: 'Payroll', notes: '',
    });
    const word = (v) => BigInt(v).toString(16).padStart(64, '0');
    const data = word(64) + word(128) + word(5) + Buffer.from('INV-7').toString('hex').padEnd(64, '0') + word(1) + word(checksummed) + word(77);
    await page.reload();
    await shows(await evm({ to: '0x1111111111111111111111111111111111111111', data: '0x4053ac31' + data }), 'Call pay', 'Payroll', 'INV-7', checksummed);
  });

  it('shows amounts of tokens in the unit that the organization has given, and in no other', async () => {
    const described = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
    const limited = '0x6B175474E89094C44Da98b954EedeAC495271d0F';
    const disputed = '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599';
    await org.root.submit('create_smart_contract_interface', 'CREATE_SMART_CONTRACT_INTERFACE', {
      smartContractAddress: described, smartContractInterface: '[]', type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', label: 'USD Coin', decimals: '6', symbol: 'USDC',
    });
    const limit = (identifier, ...definition) =>
      org.root.submit('create_velocity_control', 'CREATE_VELOCITY_CONTROL', {
        name: identifier, identifier,
        dataSource: { chainAssetTransfer: { definition: definition.map(([address, decimals]) => ({ caip19: `eip155:1/erc20:${address}`, decimals })) } },
        aggregation: { method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM', operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN', threshold: '1000', window: { infinite: {} }, groupBy: { organization: {} } },
      });
    await limit('first', [limited, '18'], [disputed, '8']);
    await limit('second', [disputed, '18']);
    await page.reload();
    await shows(await evm({ to: described, data: erc20('transfer', checksummed, 2_500_000n) }), 'Send 2.5 USDC', described, 'USD Coin');
    await shows(await evm({ to: limited, data: erc20('transfer', checksummed, 3_250_000_000_000_000_000n) }), 'Send 3.25 tokens', limited);
    await shows(await evm({ chainId: 10, to: limited, data: erc20('transfer', checksummed, 7n) }), 'Send 7 of the token’s smallest units', limited); // the limit is on another chain
    await shows(await evm({ to: disputed, data: erc20('transfer', checksummed, 8n) }), 'Send 8 of the token’s smallest units', disputed);
    const types = { EIP712Domain: [{ name: 'chainId', type: 'uint256' }, { name: 'verifyingContract', type: 'address' }], TransferWithAuthorization: ['from address', 'to address', 'value uint256', 'validAfter uint256', 'validBefore uint256', 'nonce bytes32'].map((f) => ({ name: f.split(' ')[0], type: f.split(' ')[1] })) };
    const payment = { domain: { chainId: 1, verifyingContract: described }, primaryType: 'TransferWithAuthorization', types, message: { from: org.ethereum, to: checksummed, value: '1250000', validAfter: '0', validBefore: '1999999999', nonce: '0x' + '00'.repeat(32) } };
    const asked = await org.people.Ada.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', { signWith: org.ethereum, payload: JSON.stringify(payment), encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' });
    await shows(asked, 'Send 1.25 USDC', checksummed, described);
  });

  it('reads typed data', async () => {
    const typed = {
      domain: { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: token }, primaryType: 'Permit',
      types: { EIP712Domain: [{ name: 'name', type: 'string' }, { name: 'version', type: 'string' }, { name: 'chainId', type: 'uint256' }, { name: 'verifyingContract', type: 'address' }], Permit: [{ name: 'owner', type: 'address' }, { name: 'spender', type: 'address' }, { name: 'value', type: 'uint256' }, { name: 'nonce', type: 'uint256' }, { name: 'deadline', type: 'uint256' }] },
      message: { owner: org.ethereum, spender: checksummed, value: String(2n ** 256n - 1n), nonce: '0', deadline: '1999999999' },
    };
    const asked = await org.people.Ada.submit('sign_raw_payload', 'SIGN_RAW_PAYLOAD_V2', { signWith: org.ethereum, payload: JSON.stringify(typed), encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' });
    await shows(asked, 'Allow spending of an unlimited amount', checksummed, 'Unlimited approval', 'USD Coin');
  });

  it('reads Solana, Bitcoin and Tron', async () => {
    const to = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
    await shows(await ask(org.solana, solana(org.solana, to, 1_500_000_000n), 'SOLANA'), 'Send 1.5 SOL', to);
    await picture(page, 'activity-solana');
    const bip173 = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    await shows(await ask(org.bitcoin, bitcoin(org.bitcoin, bip173, 100_000_000n, 40_000_000n, 1500n), 'BITCOIN'), 'Send 0.4 BTC', bip173, 'Change', '0.599985 BTC', '0.000015 BTC');
    await picture(page, 'activity-bitcoin');
    await shows(await ask(org.bitcoin, bitcoin(org.bitcoin, bip173, 100_000_000n, 40_000_000n, 20_000_000n), 'BITCOIN'), 'more than a tenth');
    const tether = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    await shows(await ask(org.tron, tron(org.tron, tether, 2_500_000n), 'TRON'), 'Send 2.5 TRX', tether, org.tron);
  });
});
