// Signing a message or a pasted transaction, to try a key and its policies.
import { useState } from 'preact/hooks';

import { decide } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Outcome, report } from '../../ui/outcome';
import { Button, Dialog, Field, Notice } from '../../ui/parts';

const ed25519 = ['SOLANA', 'SUI', 'APTOS', 'XLM', 'TON_V3R2', 'TON_V4R2'].map((f) => `ADDRESS_FORMAT_${f}`);

type Transaction = 'TRANSACTION_TYPE_ETHEREUM' | 'TRANSACTION_TYPE_SOLANA' | 'TRANSACTION_TYPE_TRON' | 'TRANSACTION_TYPE_BITCOIN';

function transactionType(format: string): Transaction | undefined {
  if (format === 'ADDRESS_FORMAT_ETHEREUM') return 'TRANSACTION_TYPE_ETHEREUM';
  if (format === 'ADDRESS_FORMAT_SOLANA') return 'TRANSACTION_TYPE_SOLANA';
  if (format === 'ADDRESS_FORMAT_TRON') return 'TRANSACTION_TYPE_TRON';
  return format.includes('BITCOIN') ? 'TRANSACTION_TYPE_BITCOIN' : undefined;
}

export function SignTest({ signWith, format, onClose }: { signWith: string; format: string; onClose: () => void }) {
  const transaction = transactionType(format);
  const [kind, setKind] = useState<'message' | 'transaction'>('message');
  const [text, setText] = useState('');
  const [signature, setSignature] = useState<string>();
  const sign = useAction(async () => {
    setSignature(undefined);
    if (kind === 'transaction' && transaction) {
      const done = await decide('sign_transaction', { signWith, unsignedTransaction: text.trim(), type: transaction });
      report(done);
      if (done.result) setSignature(done.result.signedTransaction);
      return;
    }
    const hashFunction = ed25519.includes(format) ? 'HASH_FUNCTION_NOT_APPLICABLE' : format === 'ADDRESS_FORMAT_ETHEREUM' ? 'HASH_FUNCTION_KECCAK256' : 'HASH_FUNCTION_SHA256';
    const done = await decide('sign_raw_payload', { signWith, payload: text, encoding: 'PAYLOAD_ENCODING_TEXT_UTF8', hashFunction });
    report(done);
    if (done.result) setSignature(`${done.result.r}${done.result.s}${done.result.v}`);
  });
  return (
    <Dialog title={t.sign.title} wide onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void sign.run(); }}>
        <p class="muted">{t.sign.about}</p>
        {transaction && <Field label={t.sign.what} value={kind} onInput={(v) => setKind(v as 'message')} options={[['message', t.sign.message], ['transaction', t.sign.transaction]]} />}
        <Field label={kind === 'message' ? t.sign.message : t.sign.unsigned} value={text} onInput={setText} area required problem={sign.problem('unsignedTransaction') ?? sign.problem('payload')} />
        <Failure action={sign} />
        <Outcome />
        {signature && <Notice tone="good">{t.sign.done}<br /><code>{signature}</code></Notice>}
        <div class="row">
          <Button look="primary" submit busy={sign.busy}>{t.sign.button}</Button>
          <Button onClick={onClose}>{t.close}</Button>
        </div>
      </form>
    </Dialog>
  );
}
