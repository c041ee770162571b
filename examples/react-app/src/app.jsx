import { useTurnkey } from '@turnkey/react-wallet-kit';
import { useState } from 'react';

const ethereum = 'ADDRESS_FORMAT_ETHEREUM';

export function App() {
  const kit = useTurnkey();
  if (kit.clientState === 'error') return <main>The server does not answer. Is it running, and does it allow this page?</main>;
  if (kit.clientState !== 'ready') return <main>Loading…</main>;
  return <main>{kit.authState === 'authenticated' ? <Wallets kit={kit} /> : <Welcome kit={kit} />}</main>;
}

function Welcome({ kit }) {
  return (
    <>
      <h1>A wallet in your browser</h1>
      <p>Sign up with a passkey, a wallet that you have, or your e-mail address.</p>
      <button id="enter" onClick={() => kit.handleLogin()}>
        Log in or sign up
      </button>
    </>
  );
}

function Wallets({ kit }) {
  const create = () =>
    kit.createWallet({ walletName: `Wallet ${kit.wallets.length + 1}`, accounts: [ethereum] }).then(() => kit.refreshWallets());
  const bring = () => kit.handleImportWallet({ defaultWalletAccounts: [ethereum] }).then(() => kit.refreshWallets());
  return (
    <>
      <h1>Your wallets</h1>
      {kit.wallets.map((wallet) => (
        <Wallet key={wallet.walletId} kit={kit} wallet={wallet} />
      ))}
      <p className="row">
        <button id="create" onClick={create}>
          New wallet
        </button>
        <button id="import" onClick={bring}>
          Import one
        </button>
        <button id="leave" onClick={() => kit.logout()}>
          Log out
        </button>
      </p>
    </>
  );
}

function Wallet({ kit, wallet }) {
  const [signature, setSignature] = useState('');
  const [account] = wallet.accounts;
  const sign = async () => {
    const { r, s, v } = await kit.signMessage({ message: 'Hello', walletAccount: account, addEthereumPrefix: true });
    setSignature(`0x${r}${s}${(27 + Number(v)).toString(16)}`);
  };
  return (
    <section>
      <h2>{wallet.walletName}</h2>
      <p className="address">{account?.address}</p>
      <p className="row">
        <button className="sign" onClick={sign}>
          Sign “Hello”
        </button>
        <button className="export" onClick={() => kit.handleExportWallet({ walletId: wallet.walletId })}>
          Show the words
        </button>
      </p>
      {signature && <p className="signature">{signature}</p>}
    </section>
  );
}
