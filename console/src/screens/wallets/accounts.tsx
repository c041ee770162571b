// The accounts of a wallet, of which there may be ten thousand.
import { useEffect, useRef, useState } from 'preact/hooks';

import { type WalletAccount } from '../../client/models';
import { changes } from '../../feed/feed';
import { ask, readOnly } from '../../session/session';
import { t } from '../../text';
import { explain } from '../../ui/action';
import { Address, Button, Field } from '../../ui/parts';
import { Rows } from '../../ui/rows';
import { chainOf } from './formats';

const page = 100;

export interface Accounts {
  all: WalletAccount[] | undefined;
  complete: boolean;
  error: string | undefined;
}

// useAccounts reads all accounts, page by page, and shows those that are there. When
// something happens, it reads what comes after them; turn begins anew.
export function useAccounts(id: string, turn: number): Accounts {
  const [state, setState] = useState<Accounts>({ all: undefined, complete: false, error: undefined });
  const known = useRef<WalletAccount[]>([]);
  const latest = useRef({});
  useEffect(() => {
    known.current = [];
    setState({ all: undefined, complete: false, error: undefined });
  }, [id]);
  useEffect(() => {
    known.current = []; // what is shown stays until the first page is there
  }, [turn]);
  useEffect(() => {
    const mine = {};
    latest.current = mine;
    const current = () => latest.current === mine;
    const run = async () => {
      // A single page is read anew: accounts can also have been deleted.
      let all = known.current.length < page ? [] : known.current;
      for (;;) {
        const after = all.at(-1)?.walletAccountId;
        const { accounts } = await ask('list_wallet_accounts', { walletId: id, paginationOptions: { limit: String(page), ...(after && { after }) } });
        if (!current()) return;
        all = [...all, ...accounts];
        known.current = all;
        const complete = accounts.length < page;
        setState({ all, complete, error: undefined });
        if (complete) return;
      }
    };
    run().catch((problem) => current() && setState((s) => ({ ...s, error: explain(problem) })));
    return () => {
      latest.current = {};
    };
  }, [id, turn, changes.value]);
  return state;
}

export type Chosen = { kind: 'qr' | 'sign'; account: WalletAccount };

export function AccountList({ all, complete, onChoose }: { all: WalletAccount[]; complete: boolean; onChoose: (chosen: Chosen) => void }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = wanted ? all.filter((a) => [a.address, a.path, chainOf(a.addressFormat)].some((of) => of.toLowerCase().includes(wanted))) : all;
  return (
    <>
      {all.length > 20 && (
        <div class="row between ends">
          <Field label={t.wallets.find} type="search" value={text} onInput={setText} />
          <span class="muted" role="status">{wanted ? t.wallets.found(found.length, all.length) : t.wallets.accounts(all.length, complete)}</span>
        </div>
      )}
      {found.length > 0 && (
        <div class="card">
          <Rows items={found} complete={complete} label={t.wallets.accountList} keyOf={(a) => a.walletAccountId}>
            {(a) => (
              <>
                <div class="account">
                  <div class="row"><strong>{chainOf(a.addressFormat)}</strong> <code class="muted small">{a.path}</code></div>
                  <Address address={a.address} />
                </div>
                <div class="row">
                  <Button look="small" onClick={() => onChoose({ kind: 'qr', account: a })} label={t.wallets.qrOf(a.address)}>{t.wallets.qr}</Button>
                  {!readOnly.value && <Button look="small" onClick={() => onChoose({ kind: 'sign', account: a })} label={t.wallets.signOf(a.address)}>{t.wallets.sign}</Button>}
                </div>
              </>
            )}
          </Rows>
        </div>
      )}
    </>
  );
}
