// One user: credentials, tags, and the policies that name the user.
import { useEffect, useState } from 'preact/hooks';

import { book } from '../../book/book';
import { type APIKey, type Tag, type User } from '../../client/models';
import { address, go } from '../../router';
import { act, decide, readOnly, session } from '../../session/session';
import { createPasskey } from '../../session/passkey';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Confirm } from '../../ui/confirm';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Copy, Dialog, Field, Id, Loading, Notice, Time } from '../../ui/parts';
import { Factors } from './factors';
import { readUsers } from './users';

type Open = { kind: 'passkey' | 'key' | 'delete' } | { kind: 'remove'; what: 'passkey' | 'key'; id: string; name: string } | undefined;

const expired = (k: APIKey): boolean =>
  k.expirationSeconds !== undefined && (Number(k.createdAt.seconds) + Number(k.expirationSeconds)) * 1000 < Date.now();

export function UserScreen({ id }: { id: string }) {
  const { data, error, again } = useLive(readUsers, [id]);
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const user = data?.users.find((u) => u.userId === id);
  const own = session.value?.userId === id && !readOnly.value;
  if (!user) {
    return <main id="content"><h1 tabIndex={-1}>{t.nav.users}</h1>{error || data ? <Notice tone="danger" role="alert">{error ?? t.users.notFound}</Notice> : <Loading />}</main>;
  }
  const tags = data!.tags.filter((tag) => user.userTags.includes(tag.tagId));
  return (
    <main id="content">
      <div class="screen-head">
        <h1 tabIndex={-1}><bdi>{user.userName}</bdi></h1>
        {!readOnly.value && <div class="row">{!own && <Button look="danger" onClick={() => setOpen({ kind: 'delete' })}>{t.users.remove}</Button>}</div>}
      </div>
      <div class="stack">
        <Outcome />
        <p class="row muted"><Id id={id} what={t.users.id} /> {user.userEmail} {user.userPhoneNumber} {own && <Badge tone="info">{t.users.you}</Badge>} {tags.map((tag) => <Badge key={tag.tagId}><bdi>{tag.tagName}</bdi></Badge>)}</p>
        <section class="card stack">
          <div class="row between">
            <h2>{t.users.credentials}</h2>
            {own && (
              <div class="row">
                <Button onClick={() => setOpen({ kind: 'passkey' })}>{t.users.addPasskey}</Button>
                <Button onClick={() => setOpen({ kind: 'key' })}>{t.users.addKey}</Button>
              </div>
            )}
          </div>
          <Credentials user={user} onRemove={(what, of, name) => setOpen({ kind: 'remove', what, id: of, name })} />
        </section>
        {!readOnly.value && data!.tags.length > 0 && <UserTags user={user} tags={data!.tags} onDone={again} />}
        <Factors userId={id} />
        <Named user={user} />
      </div>
      {open?.kind === 'passkey' && <AddPasskey user={user} onClose={close} onDone={again} />}
      {open?.kind === 'key' && <AddKey user={user} onClose={close} onDone={again} />}
      {open?.kind === 'remove' && (
        <Confirm title={t.users.removeCredential(open.name)} yes={t.remove} onClose={close} work={async () => {
          report(open.what === 'passkey'
            ? await decide('delete_authenticators', { userId: id, authenticatorIds: [open.id] })
            : await decide('delete_api_keys', { userId: id, apiKeyIds: [open.id] }));
          again();
        }}>
          <p>{t.users.removeCredentialAbout}</p>
        </Confirm>
      )}
      {open?.kind === 'delete' && (
        <Confirm title={t.users.removeTitle(user.userName)} yes={t.users.remove} onClose={close} work={async () => {
          report(await decide('delete_users', { userIds: [id] }));
          go('users');
        }}>
          <Notice tone="danger">{t.users.removeWarning}</Notice>
        </Confirm>
      )}
    </main>
  );
}

function Credentials({ user, onRemove }: { user: User; onRemove: (what: 'passkey' | 'key', id: string, name: string) => void }) {
  const remove = (what: 'passkey' | 'key', id: string, name: string) =>
    !readOnly.value && <Button look="small danger" onClick={() => onRemove(what, id, name)} label={t.users.removeNamed(name)}>{t.remove}</Button>;
  return (
    <ul class="accounts">
      {user.authenticators.map((a) => (
        <li key={a.authenticatorId}>
          <div><strong><bdi>{a.authenticatorName}</bdi></strong> <Badge tone="good">{t.users.passkey}</Badge><div class="muted small"><Time at={a.createdAt} /></div></div>
          {remove('passkey', a.authenticatorId, a.authenticatorName)}
        </li>
      ))}
      {user.apiKeys.map((k) => (
        <li key={k.apiKeyId}>
          <div>
            <strong><bdi>{k.apiKeyName}</bdi></strong> <Badge>{k.expirationSeconds ? t.users.session : t.users.key}</Badge> {expired(k) && <Badge tone="caution">{t.users.expired}</Badge>}
            <div class="muted small"><Time at={k.createdAt} /> · <code>{k.credential.publicKey.slice(0, 16)}…</code><Copy text={k.credential.publicKey} what={t.users.publicKey} /></div>
          </div>
          {remove('key', k.apiKeyId, k.apiKeyName)}
        </li>
      ))}
      {user.authenticators.length + user.apiKeys.length === 0 && <li class="muted">{t.users.noCredentials}</li>}
    </ul>
  );
}

function UserTags({ user, tags, onDone }: { user: User; tags: Tag[]; onDone: () => void }) {
  const [wanted, setWanted] = useState<Tag>();
  const change = useAction(async () => {
    const has = user.userTags.includes(wanted!.tagId);
    const ids = [user.userId];
    report(await decide('update_user_tag', { userTagId: wanted!.tagId, addUserIds: has ? [] : ids, removeUserIds: has ? ids : [] }));
    onDone();
  });
  useEffect(() => {
    if (wanted) void change.run().then(() => setWanted(undefined));
  }, [wanted]);
  return (
    <section class="card stack">
      <h2>{t.users.tagsOf}</h2>
      <div class="checks">
        {tags.map((tag) => (
          <label key={tag.tagId}><input type="checkbox" disabled={change.busy} checked={user.userTags.includes(tag.tagId)} onChange={() => setWanted(tag)} /> <bdi>{tag.tagName}</bdi></label>
        ))}
      </div>
      <Failure action={change} />
    </section>
  );
}

// Named lists the policies whose text has the user's id or one of the user's tags.
function Named({ user }: { user: User }) {
  const ids = [user.userId, ...user.userTags];
  const naming = [...book.value.policies.values()].filter((p) => ids.some((id) => `${p.consensus} ${p.condition}`.includes(id)));
  const root = book.value.quorum.userIds.includes(user.userId);
  return (
    <section class="card stack">
      <h2>{t.users.may}</h2>
      {root && <p>{t.users.root(book.value.quorum.threshold)}</p>}
      <ul class="stack tight">
        {naming.map((p) => <li key={p.policyId}><a href={address(`policies/${p.policyId}`)}><bdi>{p.policyName}</bdi></a></li>)}
      </ul>
      {!root && naming.length === 0 && <p class="muted">{t.users.mayNothing}</p>}
    </section>
  );
}

function AddPasskey({ user, onClose, onDone }: { user: User; onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState(t.enrol.defaultName);
  const add = useAction(async () => {
    const passkey = await createPasskey(user.userId, user.userName, name);
    report(await act('create_authenticators', { userId: user.userId, authenticators: [passkey] }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.users.addPasskey} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void add.run(); }}>
        <Field label={t.enrol.passkeyName} value={name} onInput={setName} problem={add.problem('authenticatorName')} required />
        <Failure action={add} />
        <div class="row"><Button look="primary" submit busy={add.busy}>{t.users.addPasskey}</Button><Button onClick={onClose}>{t.cancel}</Button></div>
      </form>
    </Dialog>
  );
}

function AddKey({ user, onClose, onDone }: { user: User; onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [key, setKey] = useState('');
  const add = useAction(async () => {
    report(await decide('create_api_keys', { userId: user.userId, apiKeys: [{ apiKeyName: name, publicKey: key.trim(), curveType: 'API_KEY_CURVE_P256' }] }));
    onDone();
    onClose();
  });
  return (
    <Dialog title={t.users.addKey} onClose={onClose}>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void add.run(); }}>
        <Field label={t.users.keyName} value={name} onInput={setName} problem={add.problem('apiKeyName')} required />
        <Field label={t.users.publicKey} value={key} onInput={setKey} hint={t.users.publicKeyHint} problem={add.problem('publicKey')} required />
        <Failure action={add} />
        <div class="row"><Button look="primary" submit busy={add.busy}>{t.users.addKey}</Button><Button onClick={onClose}>{t.cancel}</Button></div>
      </form>
    </Dialog>
  );
}
