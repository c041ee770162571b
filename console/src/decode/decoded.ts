// What the decoders of all chains give.
import { t } from '../text';

export interface Fact {
  label: string;
  value: string;
  kind?: 'address' | 'code';
}

export interface Warning {
  level: 'danger' | 'caution';
  text: string;
}

export interface Decoded {
  network: string;
  action: string; // in words, such as "Send"
  amount?: string; // with its unit
  to?: string; // who receives, or what is called
  token?: string; // the contract or mint of what is sent, if it is no coin of the chain
  recipients: string[]; // everyone who receives something
  facts: Fact[];
  warnings: Warning[];
  fee?: bigint; // in the smallest unit, to compare with others of the network
}

// Contract is a description that the organization has stored.
export interface Contract {
  address: string;
  label: string;
  interface: string;
  decimals?: number;
  symbol?: string;
}

// Known is what the organization has said of contracts and tokens. Decimals are those
// that its limits name, by asset: eip155:1/erc20:0x…, trc20:T… or token:….
export interface Known {
  contracts: Contract[]; // the newest first
  decimals: Map<string, number>;
}

// tokenAmount is in the token's own unit where the organization has said what that is,
// in its smallest units elsewhere, and never guessed.
export function tokenAmount(amount: bigint, contract: Contract | undefined, decimals: number | undefined): string {
  if (contract?.decimals !== undefined) return `${units(amount, contract.decimals)} ${contract.symbol ?? contract.label}`;
  if (decimals !== undefined) return t.decode.tokens(units(amount, decimals));
  return t.decode.rawUnits(group(amount.toString()));
}

// Unreadable says that bytes are not what they should be.
export class Unreadable extends Error {}

// units writes an amount with a point before its last digits.
export function units(amount: bigint, decimals: number): string {
  if (decimals === 0) return group(amount.toString());
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = group(digits.slice(0, -decimals));
  const rest = digits.slice(-decimals).replace(/0+$/, '');
  return rest ? `${whole}.${rest}` : whole;
}

export const group = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
