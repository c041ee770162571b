// Solana transactions, made and read by @solana/web3.js and @solana/spl-token.
import {
  createApproveCheckedInstruction, createApproveInstruction, createAssociatedTokenAccountInstruction, createBurnCheckedInstruction, createBurnInstruction,
  createCloseAccountInstruction, createRevokeInstruction, createSetAuthorityInstruction, createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction, createTransferInstruction, AuthorityType, decodeInstruction, getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount, ComputeBudgetProgram, Keypair, PublicKey, SystemInstruction, SystemProgram, Transaction, TransactionInstruction, TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

import { amount, bytes, hex, total, untold } from './vectors.mjs';

const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const native = `${network}/slip44:501`;
const token = (mint) => `${network}/token:${mint}`;
const key = () => new PublicKey(bytes(32));
const units = () => amount(63);

// read is what the libraries find in the instructions. mints says which mint an
// account holds whose instruction does not name it.
function read(instructions, mints) {
  const moved = [];
  for (const one of instructions) {
    if (one.programId.equals(SystemProgram.programId)) {
      const type = SystemInstruction.decodeInstructionType(one);
      const decode = { Transfer: 'decodeTransfer', TransferWithSeed: 'decodeTransferWithSeed', Create: 'decodeCreateAccount', CreateWithSeed: 'decodeCreateWithSeed', WithdrawNonceAccount: 'decodeNonceWithdraw' };
      moved.push([native, SystemInstruction[decode[type]](one).lamports]);
      continue;
    }
    const { keys, data } = decodeInstruction(one, one.programId);
    const mint = keys.mint ?? { pubkey: new PublicKey(mints[(keys.source ?? keys.account).pubkey.toBase58()]) };
    moved.push([token(mint.pubkey.toBase58()), data.amount]);
  }
  return total(moved);
}

export function solana() {
  const all = [];
  const payer = Keypair.fromSeed(bytes(32)).publicKey; // on the curve, as owners are
  const legacy = (instructions) => {
    const tx = new Transaction({ feePayer: payer, blockhash: key().toBase58(), lastValidBlockHeight: 1 }).add(...instructions);
    return tx.serialize({ requireAllSignatures: false, verifySignatures: false });
  };
  const versioned = (instructions, tables = []) =>
    new VersionedTransaction(new TransactionMessage({ payerKey: payer, recentBlockhash: key().toBase58(), instructions }).compileToV0Message(tables)).serialize();
  const add = (name, instructions, moves, make = legacy) => all.push({ name, chain: 'solana', payload: hex(make(instructions)), moves });
  // The libraries read what is in the bytes, not what went in.
  const reread = (raw) => Transaction.from(Buffer.from(raw)).instructions;
  const readable = (name, instructions, mints = {}, more = {}) => {
    add(name, instructions, { ...read(reread(legacy(instructions)), mints), ...more });
    add(`${name}, version 0`, instructions, { ...read(instructions, mints), ...more }, versioned);
  };

  readable('Transfer', [SystemProgram.transfer({ fromPubkey: payer, toPubkey: key(), lamports: units() })], {}, { [token(key().toBase58())]: '0' });
  readable('two Transfers', [1, 2].map(() => SystemProgram.transfer({ fromPubkey: payer, toPubkey: key(), lamports: units() })));
  const number = () => Number(amount(50));
  readable('CreateAccount', [SystemProgram.createAccount({ fromPubkey: payer, newAccountPubkey: key(), lamports: number(), space: 0, programId: key() })]);
  readable('CreateAccountWithSeed', [SystemProgram.createAccountWithSeed({ fromPubkey: payer, newAccountPubkey: key(), basePubkey: payer, seed: 's', lamports: number(), space: 0, programId: key() })]);
  readable('TransferWithSeed', [SystemProgram.transfer({ fromPubkey: key(), basePubkey: payer, toPubkey: key(), lamports: units(), seed: 's', programId: key() })]);
  readable('WithdrawNonceAccount', [SystemProgram.nonceWithdraw({ noncePubkey: key(), authorizedPubkey: payer, toPubkey: key(), lamports: number() })]);

  for (const [name, program] of [['Token', TOKEN_PROGRAM_ID], ['Token-2022', TOKEN_2022_PROGRAM_ID]]) {
    const mint = key();
    const own = getAssociatedTokenAddressSync(mint, payer, false, program);
    const mints = { [own.toBase58()]: mint.toBase58() };
    const none = { [native]: '0', [token(key().toBase58())]: '0' };
    readable(`${name} TransferChecked`, [createTransferCheckedInstruction(key(), mint, key(), payer, units(), 6, [], program)], {}, none);
    readable(`${name} ApproveChecked`, [createApproveCheckedInstruction(key(), mint, key(), payer, units(), 6, [], program)], {}, none);
    readable(`${name} BurnChecked`, [createBurnCheckedInstruction(key(), mint, payer, units(), 6, [], program)], {}, none);
    readable(`${name} Burn`, [createBurnInstruction(key(), mint, payer, units(), [], program)], {}, none);
    const onlyOwn = { [native]: '0' };
    readable(`${name} Transfer from the associated account`, [createTransferInstruction(own, key(), payer, units(), [], program)], mints, onlyOwn);
    readable(`${name} Approve of the associated account`, [createApproveInstruction(own, key(), payer, units(), [], program)], mints, onlyOwn);
    readable(`${name} both forms together`, [
      createTransferInstruction(own, key(), payer, units(), [], program),
      createTransferCheckedInstruction(own, mint, key(), payer, units(), 6, [], program),
    ], mints, onlyOwn);

    const open = { [token(mint.toBase58())]: untold, [native]: '0' };
    add(`${name} Transfer from another account`, [createTransferInstruction(key(), key(), payer, units(), [], program)], open);
    add(`${name} Approve of another account`, [createApproveInstruction(key(), key(), payer, units(), [], program)], open);
    const all2 = { [token(mint.toBase58())]: untold, [native]: untold };
    add(`${name} CloseAccount`, [createCloseAccountInstruction(own, key(), payer, [], program)], all2);
    add(`${name} SetAuthority`, [createSetAuthorityInstruction(own, payer, AuthorityType.AccountOwner, key(), [], program)], all2);
    add(`${name} Revoke`, [createRevokeInstruction(own, payer, [], program)], { [token(mint.toBase58())]: '0', [native]: '0' });
    add(`${name} new associated account`, [createAssociatedTokenAccountInstruction(payer, own, payer, mint, program)], { [token(mint.toBase58())]: '0', [native]: untold });
    const table = new AddressLookupTableAccount({ key: key(), state: { deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0, addresses: [mint] } });
    add(`${name} TransferChecked with the mint in a table`, [createTransferCheckedInstruction(key(), mint, key(), payer, units(), 6, [], program)],
      { [token(mint.toBase58())]: untold, [native]: '0' }, (list) => versioned(list, [table]));
  }
  const mint = key();
  const taxed = createTransferCheckedWithFeeInstruction(key(), mint, key(), payer, 1_000n, 6, 10n, [], TOKEN_2022_PROGRAM_ID);
  add('TransferCheckedWithFee', [taxed], { [token(mint.toBase58())]: '1000', [native]: '0' });
  add('Assign', [SystemProgram.assign({ accountPubkey: payer, programId: key() })], { [native]: untold, [token(key().toBase58())]: '0' });
  add('an unknown program', [new TransactionInstruction({ programId: key(), keys: [{ pubkey: payer, isSigner: true, isWritable: true }], data: Buffer.from([1]) })], {
    [native]: untold, [token(key().toBase58())]: untold, 'eip155:1/slip44:60': '0',
  });
  add('an unknown token instruction', [new TransactionInstruction({ programId: TOKEN_2022_PROGRAM_ID, keys: [{ pubkey: payer, isSigner: true, isWritable: true }], data: Buffer.from([199]) })], {
    [native]: untold, [token(key().toBase58())]: untold,
  });
  add('fees alone', [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 5 }), createRevokeInstruction(key(), payer)], { [native]: '0', [token(key().toBase58())]: '0' });
  return all;
}
