export interface Options {
  /** The installation's signerPublicKey: an uncompressed P-256 key, 130 hex digits. */
  publicKey: string;
}

// The plugins of the bundlers; their own types are not needed to use them.
export function vite(options: Options): any;
export function webpack(options: Options): any;
export function esbuild(options: Options): any;
