// Transactions of other chains, written by hand from their formats.

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

export function fromBase58(text) {
  let number = 0n;
  for (const c of text) number = number * 58n + BigInt(alphabet.indexOf(c));
  const digits = number.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.alloc(/^1*/.exec(text)[0].length), number === 0n ? Buffer.alloc(0) : bytes]);
}

const little = (value, size) => {
  const bytes = Buffer.alloc(size);
  for (let i = 0, v = BigInt(value); i < size; i++, v >>= 8n) bytes[i] = Number(v & 255n);
  return bytes;
};

// solana sends lamports.
export function solana(from, to, lamports) {
  const transfer = Buffer.concat([little(2, 4), little(lamports, 8)]);
  return Buffer.concat([
    Buffer.from([1]), Buffer.alloc(64),
    Buffer.from([1, 0, 1, 3]), fromBase58(from), fromBase58(to), Buffer.alloc(32),
    Buffer.alloc(32, 7),
    Buffer.from([1, 2, 2, 0, 1, transfer.length]), transfer,
  ]).toString('hex');
}

const varint = (value) => {
  const bytes = [];
  for (let v = BigInt(value); ; v >>= 7n) {
    if (v < 128n) return Buffer.from([...bytes, Number(v)]);
    bytes.push(Number(v & 127n) | 128);
  }
};
const text = (field, bytes) => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), Buffer.from(bytes)]);
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);

// tron sends sun.
export function tron(from, to, amount) {
  const [owner, receiver] = [from, to].map((address) => fromBase58(address).subarray(0, 21));
  const value = Buffer.concat([text(1, owner), text(2, receiver), number(3, amount)]);
  const parameter = Buffer.concat([text(1, 'type.googleapis.com/protocol.TransferContract'), text(2, value)]);
  const contract = Buffer.concat([number(1, 1), text(2, parameter)]);
  return Buffer.concat([text(1, Buffer.from('abcd', 'hex')), text(4, Buffer.alloc(8, 1)), number(8, Date.now() + 600_000), text(11, contract), number(14, Date.now())]).toString('hex');
}

// The witness program of a bech32 address of version 0.
function program(address) {
  const letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
  const values = [...address.slice(address.lastIndexOf('1') + 1, -6)].map((c) => letters.indexOf(c)).slice(1);
  let [held, bits] = [0n, 0n];
  for (const v of values) [held, bits] = [(held << 5n) | BigInt(v), bits + 5n];
  return Buffer.from((held >> (bits % 8n)).toString(16).padStart(40, '0'), 'hex');
}

const script = (address) => Buffer.concat([Buffer.from([0, 20]), program(address)]);
const sized = (bytes) => Buffer.concat([Buffer.from([bytes.length]), bytes]);
const output = (address, value) => Buffer.concat([little(value, 8), sized(script(address))]);

// bitcoin sends satoshis as a PSBT, and the rest but the fee back.
export function bitcoin(from, to, has, sends, fee) {
  const transaction = Buffer.concat([
    little(2, 4), Buffer.from([1]), Buffer.alloc(32, 3), little(0, 4), Buffer.from([0]), little(0xffffffff, 4),
    Buffer.from([2]), output(to, sends), output(from, has - sends - fee), little(0, 4),
  ]);
  return Buffer.concat([
    Buffer.from('70736274ff', 'hex'), Buffer.from([1, 0]), sized(transaction), Buffer.from([0]),
    Buffer.from([1, 1]), sized(output(from, has)), Buffer.from([0]), Buffer.from([0, 0]),
  ]).toString('hex');
}
