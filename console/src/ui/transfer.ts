// Keys into the server and out of it. They are encrypted and decrypted in this page:
// the server's border is passed by ciphertext only.
import { type Export, openBundle, type Target } from '../client/bundle';
import { fromHex, fromUtf8, hex, utf8 } from '../client/bytes';
import { Refusal } from '../client/client';
import { newReceiver, seal } from '../client/hpke';
import { type Activities } from '../client/activities';
import { type AccountParams } from '../client/models';
import { act, decide, organizationId, session } from '../session/session';
import { t } from '../text';
import { report } from './outcome';

const me = () => ({ organizationId: organizationId.value, userId: session.value!.userId });

const waits = () => new Refusal(409, t.transfer.waits, '', []);

// sealFor encrypts to the key that the server made for a user of an organization.
export async function sealFor(of: { organizationId: string; userId: string }, bundle: string, plain: Uint8Array<ArrayBuffer>): Promise<string> {
  const target = await openBundle<Target>(bundle, of.organizationId);
  if (target.userId !== of.userId) throw new Error(t.transfer.otherUser);
  return JSON.stringify(await seal(fromHex(target.targetPublic)!, plain));
}

export async function importWallet(walletName: string, words: string, accounts: AccountParams[]): Promise<void> {
  const userId = session.value!.userId;
  const { result } = await act('init_import_wallet', { userId });
  if (!result) throw waits();
  const encryptedBundle = await sealFor(me(), result.importBundle, utf8(words.trim().split(/\s+/).join(' ')));
  report(await decide('import_wallet', { userId, walletName, encryptedBundle, accounts }));
}

type ImportKey = Activities['import_private_key']['parameters'];

export async function importKey(privateKeyName: string, digits: string, curve: ImportKey['curve'], format: ImportKey['addressFormats'][0]): Promise<void> {
  const key = fromHex(digits.trim());
  if (key?.length !== 32) throw new Refusal(400, t.transfer.notAKey, '', [{ path: 'key', text: t.transfer.notAKey }]);
  const userId = session.value!.userId;
  const { result } = await act('init_import_private_key', { userId });
  if (!result) throw waits();
  report(await decide('import_private_key', { userId, privateKeyName, encryptedBundle: await sealFor(me(), result.importBundle, key), curve, addressFormats: [format] }));
}

export type Exported = { kind: 'wallet' | 'key'; id: string };

// exported asks for the export; the bundle is undefined while it waits for votes.
async function exported({ kind, id }: Exported, targetPublicKey: string): Promise<string | undefined> {
  const done = kind === 'wallet'
    ? await decide('export_wallet', { walletId: id, targetPublicKey })
    : await decide('export_private_key', { privateKeyId: id, targetPublicKey });
  report(done);
  return done.result?.exportBundle;
}

// exportHere gives the secret itself: the words of a wallet, the digits of a key.
export async function exportHere(what: Exported): Promise<string> {
  const receiver = await newReceiver();
  const bundle = await exported(what, receiver.publicKey);
  if (!bundle) throw waits();
  const plain = await receiver.open(await openBundle<Export>(bundle, organizationId.value));
  return what.kind === 'wallet' ? fromUtf8(plain) : hex(plain);
}

// exportTo gives what only the holder of the public key can open.
export async function exportTo(what: Exported, targetPublicKey: string): Promise<string> {
  const bundle = await exported(what, targetPublicKey.trim());
  if (!bundle) throw waits();
  return bundle;
}
