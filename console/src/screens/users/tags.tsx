// Tags of users, which policies name groups by.
import { useState } from 'preact/hooks';

import { type Tag, type User } from '../../client/models';
import { act } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Dialog, Field, Id } from '../../ui/parts';

export function Tags({ tags, users, onClose, onDone }: { tags: Tag[]; users: User[]; onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<string[]>([]);
  const create = useAction(async () => {
    report(await act('create_user_tag', { userTagName: name, userIds: chosen }));
    setName('');
    setChosen([]);
    onDone();
  });
  const toggle = (id: string) => setChosen(chosen.includes(id) ? chosen.filter((c) => c !== id) : [...chosen, id]);
  return (
    <Dialog title={t.users.tags} onClose={onClose}>
      <ul class="stack tight">
        {tags.map((tag) => (
          <li key={tag.tagId} class="row between"><Badge><bdi>{tag.tagName}</bdi></Badge> <Id id={tag.tagId} what={t.users.tagId} /></li>
        ))}
        {tags.length === 0 && <li class="muted">{t.users.noTags}</li>}
      </ul>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
        <Field label={t.users.tagName} value={name} onInput={setName} problem={create.problem('userTagName')} required />
        <fieldset class="plain">
          <legend class="legend">{t.users.tagUsers}</legend>
          <div class="checks">
            {users.map((u) => (
              <label key={u.userId}><input type="checkbox" checked={chosen.includes(u.userId)} onChange={() => toggle(u.userId)} /> <bdi>{u.userName}</bdi></label>
            ))}
          </div>
        </fieldset>
        <Failure action={create} />
        <Outcome />
        <div class="row">
          <Button look="primary" submit busy={create.busy}>{t.users.createTag}</Button>
          <Button onClick={onClose}>{t.close}</Button>
        </div>
      </form>
    </Dialog>
  );
}
