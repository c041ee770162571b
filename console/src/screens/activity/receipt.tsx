// The receipt of an activity: fetched, verified in this page, and kept as a file.
import { useState } from 'preact/hooks';

import { Refusal } from '../../client/client';
import { type ReceiptView } from '../../client/models';
import { ProvenReceipt } from '../../log/proven';
import { publishedKeys } from '../../log/published';
import { type Proven, verifyReceipt } from '../../log/receipt';
import { ask } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { saveFile } from '../../ui/file';
import { Button } from '../../ui/parts';

// An entry is under a signed checkpoint a moment after its activity is shown.
async function newest(activityId: string, tries: number): Promise<ReceiptView> {
  try {
    return (await ask('receipt', { activityId })).receipt;
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 409 || tries <= 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return newest(activityId, tries - 1);
  }
}

export function Receipt({ activityId }: { activityId: string }) {
  const [held, setHeld] = useState<{ receipt: ReceiptView; proven: Proven }>();
  const fetched = useAction(async () => {
    const [receipt, keys] = await Promise.all([newest(activityId, 10), publishedKeys()]);
    setHeld({ receipt, proven: await verifyReceipt(receipt, keys) });
  });
  const save = () => saveFile(`receipt-${activityId}.json`, 'application/json', JSON.stringify({ receipt: held!.receipt }, null, 2) + '\n');
  return (
    <section class="card stack">
      <h2>{t.receipt.title}</h2>
      <p class="muted">{t.receipt.about}</p>
      <Failure action={fetched} />
      {held && <ProvenReceipt proven={held.proven} />}
      <div class="row">
        <Button busy={fetched.busy} onClick={() => void fetched.run()}>{t.receipt.get}</Button>
        {held && <Button onClick={save}>{t.receipt.download}</Button>}
      </div>
    </section>
  );
}
