// In the place of a wallet that people have in their browser: it announces itself
// (EIP-6963), and signs what it is asked to with a key of its own (EIP-1193).
import { getBytes, isHexString, Wallet } from 'ethers';

export function installWallet() {
  const wallet = Wallet.createRandom();
  const answers = {
    eth_accounts: () => [wallet.address],
    eth_requestAccounts: () => [wallet.address],
    eth_chainId: () => '0x1',
    personal_sign: ([message]) => wallet.signMessage(isHexString(message) ? getBytes(message) : message),
  };
  const provider = {
    async request({ method, params }) {
      if (!answers[method]) throw new Error(`${method} is not served`);
      return answers[method](params);
    },
    on() {},
    removeListener() {},
  };
  const info = { uuid: crypto.randomUUID(), name: 'Test wallet', icon: 'data:image/svg+xml,', rdns: 'example.wallet' };
  const announce = () => window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  window.addEventListener('eip6963:requestProvider', announce);
  announce();
}
