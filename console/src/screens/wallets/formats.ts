// The formats of addresses by chain, with the paths that wallets usually have.
import { type AccountParams } from '../../client/models';

type Format = AccountParams['addressFormat'];
type Curve = AccountParams['curve'];

export interface Choice {
  name: string;
  format: Format;
  curve: Curve;
  path: (index: number) => string;
}

const k256: Curve = 'CURVE_SECP256K1';
const ed: Curve = 'CURVE_ED25519';

const bitcoin = (network: 'MAINNET' | 'TESTNET', coin: number): Choice[] => {
  const of = network === 'MAINNET' ? 'Bitcoin' : 'Bitcoin testnet';
  return [
    { name: `${of} (native SegWit)`, format: `ADDRESS_FORMAT_BITCOIN_${network}_P2WPKH`, curve: k256, path: (i) => `m/84'/${coin}'/${i}'/0/0` },
    { name: `${of} (Taproot)`, format: `ADDRESS_FORMAT_BITCOIN_${network}_P2TR`, curve: k256, path: (i) => `m/86'/${coin}'/${i}'/0/0` },
    { name: `${of} (legacy)`, format: `ADDRESS_FORMAT_BITCOIN_${network}_P2PKH`, curve: k256, path: (i) => `m/44'/${coin}'/${i}'/0/0` },
  ];
};

export const choices: Choice[] = [
  { name: 'Ethereum and EVM chains', format: 'ADDRESS_FORMAT_ETHEREUM', curve: k256, path: (i) => `m/44'/60'/${i}'/0/0` },
  { name: 'Solana', format: 'ADDRESS_FORMAT_SOLANA', curve: ed, path: (i) => `m/44'/501'/${i}'/0'` },
  ...bitcoin('MAINNET', 0),
  { name: 'Tron', format: 'ADDRESS_FORMAT_TRON', curve: k256, path: (i) => `m/44'/195'/${i}'` },
  { name: 'Cosmos', format: 'ADDRESS_FORMAT_COSMOS', curve: k256, path: (i) => `m/44'/118'/${i}'/0/0` },
  { name: 'Sui', format: 'ADDRESS_FORMAT_SUI', curve: ed, path: (i) => `m/44'/784'/${i}'/0'/0'` },
  { name: 'Aptos', format: 'ADDRESS_FORMAT_APTOS', curve: ed, path: (i) => `m/44'/637'/${i}'/0'/0'` },
  { name: 'Stellar', format: 'ADDRESS_FORMAT_XLM', curve: ed, path: (i) => `m/44'/148'/${i}'` },
  { name: 'TON', format: 'ADDRESS_FORMAT_TON_V4R2', curve: ed, path: (i) => `m/44'/607'/${i}'/0'/0'` },
  { name: 'XRP', format: 'ADDRESS_FORMAT_XRP', curve: k256, path: (i) => `m/44'/144'/${i}'/0'/0'` },
  { name: 'Dogecoin', format: 'ADDRESS_FORMAT_DOGE_MAINNET', curve: k256, path: (i) => `m/44'/3'/${i}'/0/0` },
  { name: 'Sei', format: 'ADDRESS_FORMAT_SEI', curve: k256, path: (i) => `m/44'/118'/${i}'/0/1` },
  ...bitcoin('TESTNET', 1),
];

export const chainOf = (format: string): string =>
  choices.find((c) => c.format === format)?.name ?? format.replace('ADDRESS_FORMAT_', '').replaceAll('_', ' ').toLowerCase();

export const account = (choice: Choice, index: number): AccountParams => ({
  curve: choice.curve, pathFormat: 'PATH_FORMAT_BIP32', path: choice.path(index), addressFormat: choice.format,
});
