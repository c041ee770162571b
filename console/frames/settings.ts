// What the server says to its frames, in their head.
const content = document.querySelector('meta[name=latchkey-settings]')?.getAttribute('content') ?? '{}';

// signerPublicKey is the key that signs bundles: a frame believes no other.
export const { signerPublicKey } = JSON.parse(content) as { signerPublicKey: string };
