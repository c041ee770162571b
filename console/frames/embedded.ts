// The key of a frame, to which the page around it has things sealed. Its private
// half cannot be read, not by this page either.
import { type Export, readBundle, type Target } from '../src/client/bundle';
import { generatePair, receiver, type Receiver, type Sealed } from '../src/client/hpke';
import { importReceiver } from '../src/client/p256';
import { type Handlers, type Message, Refused, type Reply, text } from './channel';
import { signerPublicKey } from './settings';

// Keep is where a key outlives its document; without one it does not.
export interface Keep {
  load(): Promise<CryptoKeyPair | undefined>;
  claim(pair: CryptoKeyPair): Promise<CryptoKeyPair>; // keeps it, or gives the one that is there
  drop(): Promise<void>;
}

export class EmbeddedKey {
  private own?: Receiver;
  private override?: Receiver;

  constructor(private readonly keep?: Keep) {}

  publicKey = (): string => this.own?.publicKey ?? '';

  // init makes a key, or takes the one that is there.
  async init(): Promise<string> {
    this.own ??= await receiver(await this.pair());
    return this.publicKey();
  }

  private async pair(): Promise<CryptoKeyPair> {
    const fresh = generatePair();
    try {
      return (await this.keep?.load()) ?? (await this.keep?.claim(await fresh)) ?? (await fresh);
    } catch {
      return fresh; // a browser that keeps nothing for frames: the key lives as long as this one
    }
  }

  async reset(): Promise<void> {
    this.own = undefined;
    await this.keep?.drop().catch(() => {}); // as above: then there is nothing
  }

  async open(sealed: Sealed): Promise<Uint8Array<ArrayBuffer>> {
    const key = this.override ?? this.own;
    if (!key) throw new Refused('this frame has no key any more: call initEmbeddedKey, and have the bundle made for the new one');
    try {
      return await key.open(sealed);
    } catch {
      throw new Refused('this bundle was not made for the key of this frame');
    }
  }

  // openExport opens a bundle that the server made for the organization.
  async openExport(message: Message): Promise<Uint8Array<ArrayBuffer>> {
    return this.open(await verified<Export>(message));
  }

  // spend forgets the key once a bundle is open, so that nothing can be opened again;
  // but not for one that the application brought.
  async spend(): Promise<void> {
    if (!this.override) await this.reset();
  }

  // The events about the key itself.
  handlers = (): Handlers => ({
    GET_EMBEDDED_PUBLIC_KEY: () => this.told(),
    INIT_EMBEDDED_KEY: async () => {
      await this.init();
      return this.told();
    },
    RESET_EMBEDDED_KEY: async () => {
      await this.reset();
      return { type: 'EMBEDDED_KEY_RESET', value: null };
    },
  });

  // overrides are the events by which an application brings a key of its own, sealed
  // to that of the frame.
  overrides = (): Handlers => ({
    SET_EMBEDDED_KEY_OVERRIDE: async (message) => {
      const pair = await importReceiver(await this.openExport(message));
      if (!pair) throw new Refused('the bundle must hold a private key of P-256, 32 bytes');
      this.override = await receiver(pair);
      return { type: 'EMBEDDED_KEY_OVERRIDE_SET', value: true };
    },
    RESET_TO_DEFAULT_EMBEDDED_KEY: () => {
      this.override = undefined;
      return { type: 'RESET_TO_DEFAULT_EMBEDDED_KEY', value: true };
    },
  });

  private told = (): Reply => ({ type: 'EMBEDDED_PUBLIC_KEY', value: this.publicKey() });
}

// verified reads the bundle of a message, which the server must have signed for the
// organization that the message names.
export async function verified<T extends Export | Target>(message: Message): Promise<T> {
  const organizationId = text(message, 'organizationId');
  try {
    return await readBundle<T>(text(message, 'value'), organizationId, signerPublicKey);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused('this bundle is not one that this server signed for the organization');
  }
}
