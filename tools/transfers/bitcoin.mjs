// Bitcoin transactions, made and read by bitcoinjs-lib.
import { Psbt, Transaction } from 'bitcoinjs-lib';

import { bytes, hex, random, total, untold } from './vectors.mjs';

const main = 'bip122:000000000019d6689c085ae165831e93/slip44:0';
const segwit = () => Uint8Array.from([0x00, 0x14, ...bytes(20)]);
const taproot = () => Uint8Array.from([0x51, 0x20, ...bytes(32)]);
const value = () => BigInt(1000 + (random() % 100_000_000));

// funding is a transaction with one output, which can be spent.
function funding(script, amount) {
  const tx = new Transaction();
  tx.version = 2;
  tx.addInput(bytes(32), 0);
  tx.addOutput(script, amount);
  return tx;
}

// read is what the library finds: what own inputs hold above what own outputs get.
function read(text, own) {
  const psbt = Psbt.fromHex(text);
  let sum = 0n;
  psbt.data.inputs.forEach((input, i) => {
    const spent = input.nonWitnessUtxo ? Transaction.fromBuffer(input.nonWitnessUtxo).outs[psbt.txInputs[i].index] : input.witnessUtxo;
    if (own.includes(hex(spent.script))) sum += spent.value;
  });
  for (const out of psbt.txOutputs) if (own.includes(hex(out.script))) sum -= out.value;
  return total([[main, sum > 0n ? sum : 0n]]);
}

export function bitcoin() {
  const all = [];
  const add = (name, { signer = 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', inputs, outputs, own }, moves) => {
    const psbt = new Psbt();
    for (const { script, amount, proof } of inputs) {
      const from = funding(script, amount);
      const spend = { hash: from.getId(), index: 0 };
      if (proof !== 'none') spend.witnessUtxo = { script, value: amount };
      if (proof === 'whole') spend.nonWitnessUtxo = from.toBuffer();
      psbt.addInput(spend);
    }
    for (const [script, amount] of outputs) psbt.addOutput({ script, value: amount });
    const payload = psbt.toHex();
    const scripts = own.map(hex);
    all.push({ name, chain: 'bitcoin', signer, own: scripts, payload, moves: { ...(moves ?? read(payload, scripts)), 'eip155:1/slip44:60': '0' } });
  };
  const [mine, change, theirs] = [segwit(), segwit(), segwit()];
  for (let i = 0; i < 8; i++) {
    add('a payment with change', {
      inputs: [{ script: mine, amount: 2n * value() + 200_000_000n, proof: 'whole' }, { script: change, amount: value(), proof: 'whole' }],
      outputs: [[theirs, value()], [change, value()]], own: [mine, change],
    });
  }
  add('inputs of others beside', {
    inputs: [{ script: mine, amount: 500_000n, proof: 'whole' }, { script: theirs, amount: 700_000n, proof: 'whole' }],
    outputs: [[theirs, 600_000n], [mine, 100_000n]], own: [mine],
  });
  add('others pay in', {
    inputs: [{ script: mine, amount: 500_000n, proof: 'whole' }, { script: theirs, amount: 700_000n, proof: 'whole' }],
    outputs: [[mine, 900_000n]], own: [mine],
  });
  add('all of it is the fee', { inputs: [{ script: mine, amount: 500_000n, proof: 'whole' }], outputs: [[mine, 1n]], own: [mine] });
  const key = taproot();
  add('P2TR, whose signature covers the amounts', {
    signer: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR', inputs: [{ script: key, amount: 900_000n, proof: 'claimed' }], outputs: [[theirs, 600_000n]], own: [key],
  });
  for (const proof of ['claimed', 'none']) {
    add(`an input whose amount is ${proof === 'none' ? 'not given' : 'only claimed'}`, {
      inputs: [{ script: mine, amount: 500_000n, proof: 'whole' }, { script: change, amount: 700_000n, proof }],
      outputs: [[theirs, 600_000n]], own: [mine, change],
    }, { [main]: untold });
  }
  return all;
}
