// A question before what cannot be undone.
import { type ComponentChildren } from 'preact';

import { t } from '../text';
import { Failure, useAction } from './action';
import { Button, Dialog } from './parts';

interface ConfirmProps {
  title: string;
  yes: string;
  onClose: () => void;
  work: () => Promise<unknown>;
  children: ComponentChildren;
}

export function Confirm({ title, yes, onClose, work, children }: ConfirmProps) {
  const action = useAction(async () => {
    await work();
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="stack">{children}</div>
      <Failure action={action} />
      <div class="row">
        <Button look="danger" busy={action.busy} onClick={() => void action.run()}>{yes}</Button>
        <Button onClick={onClose}>{t.cancel}</Button>
      </div>
    </Dialog>
  );
}
