// Users: the list, and one of them with credentials and tags.
import { useState } from 'preact/hooks';

import { generateSecret } from '../../client/p256';
import { type User } from '../../client/models';
import { address } from '../../router';
import { act, ask, organizationId, readOnly, session } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { useLive } from '../../ui/live';
import { Outcome, report } from '../../ui/outcome';
import { Badge, Button, Copy, Dialog, Field, Heading, Loading, Notice } from '../../ui/parts';
import { Tags } from './tags';
import { UserScreen } from './user';

export const Users = ({ id }: { id: string }) => (id ? <UserScreen key={id} id={id} /> : <List />);

export const readUsers = async () => {
  const [users, tags] = await Promise.all([ask('list_users', {}), ask('list_user_tags', {})]);
  return { users: users.users, tags: tags.userTags };
};

// Those who were invited have a key that can do nothing but register a passkey.
const invited = (u: User) => u.authenticators.length === 0 && u.apiKeys.some((k) => k.credential.type === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256');

function List() {
  const { data, error, again } = useLive(readUsers, []);
  const [open, setOpen] = useState<'create' | 'tags'>();
  const tagName = (id: string) => data?.tags.find((tag) => tag.tagId === id)?.tagName ?? id;
  return (
    <main id="content">
      <Heading title={t.nav.users}>
        {!readOnly.value && !open && <Button onClick={() => setOpen('tags')}>{t.users.tags}</Button>}
        {!readOnly.value && !open && <Button look="primary" onClick={() => setOpen('create')}>{t.users.create}</Button>}
      </Heading>
      <div class="stack">
        <Outcome />
        {error && <Notice tone="danger" role="alert">{error}</Notice>}
        {!data && !error && <Loading />}
        {data && (
          <div class="card table-card">
            <table class="table">
              <thead><tr><th scope="col">{t.users.name}</th><th scope="col">{t.users.contact}</th><th scope="col">{t.users.credentials}</th><th scope="col">{t.users.tags}</th></tr></thead>
              <tbody>
                {data.users.map((u) => (
                  <tr key={u.userId}>
                    <th scope="row"><a href={address(`users/${u.userId}`)}><bdi>{u.userName}</bdi></a> {invited(u) && <Badge tone="info">{t.users.invitation}</Badge>}</th>
                    <td class="muted">{[u.userEmail, u.userPhoneNumber].filter(Boolean).join(', ') || '–'}</td>
                    <td>{t.users.counts(u.authenticators.length, u.apiKeys.length)}</td>
                    <td><span class="row">{u.userTags.map((tag) => <Badge key={tag}><bdi>{tagName(tag)}</bdi></Badge>)}</span></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </div>
      {open === 'create' && <Create onClose={() => setOpen(undefined)} onDone={again} />}
      {open === 'tags' && data && <Tags tags={data.tags} users={data.users} onClose={() => setOpen(undefined)} onDone={again} />}
    </main>
  );
}

const enrolmentHours = 24;

// The name by which the enrolment's key is shown among the user's credentials.
export const enrolmentKeyName = 'Enrolment link';

// An enrolment link holds a key of the new user, which expires, and which the page
// that it opens deletes as soon as there is a passkey.
function Create({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [link, setLink] = useState<string>();
  const [invited, setInvited] = useState(false);
  const create = useAction(async () => {
    const key = await generateSecret();
    const done = await act('create_users', {
      users: [{
        userName: name, userEmail: email, authenticators: [], oauthProviders: [], userTags: [],
        apiKeys: [{ apiKeyName: enrolmentKeyName, publicKey: key.publicKey, curveType: 'API_KEY_CURVE_P256', expirationSeconds: String(enrolmentHours * 3600) }],
      }],
    });
    report(done);
    setLink(`${location.origin}${address('')}#enroll=${organizationId.value}.${key.secret}`);
    onDone();
  });
  const invite = useAction(async () => {
    report(await act('create_invitations', {
      invitations: [{ receiverUserName: name, receiverUserEmail: email, receiverUserTags: [], accessType: 'ACCESS_TYPE_WEB', senderUserId: session.value!.userId }],
    }));
    setInvited(true);
    onDone();
  });
  const problem = (path: string, invitation: string) => create.problem(path) ?? invite.problem(invitation);
  if (invited) {
    return (
      <Dialog title={t.users.create} onClose={onClose}>
        <Outcome />
        <Notice tone="good" role="status">{t.users.invited(name, email)}</Notice>
        <div><Button look="primary" onClick={onClose}>{t.close}</Button></div>
      </Dialog>
    );
  }
  return (
    <Dialog title={t.users.create} onClose={onClose}>
      {link ? (
        <div class="stack">
          <Outcome />
          <p>{t.users.linkAbout(name)}</p>
          <div class="expression" data-testid="enrolment-link">{link}</div>
          <div class="row"><Copy text={link} what={t.users.link} /> <span class="muted small">{t.users.linkLasts(enrolmentHours)}</span></div>
          <Button look="primary" onClick={onClose}>{t.close}</Button>
        </div>
      ) : (
        <form class="stack" onSubmit={(e) => { e.preventDefault(); void create.run(); }}>
          <Field label={t.users.userName} value={name} onInput={setName} problem={problem('userName', 'receiverUserName')} required />
          <Field label={t.users.email} value={email} onInput={setEmail} problem={problem('userEmail', 'receiverUserEmail')} type="email" hint={t.users.emailHint} required />
          <p class="hint">{t.users.createAbout}</p>
          <Failure action={create} />
          <Failure action={invite} />
          <div class="row">
            <Button look="primary" submit busy={create.busy} disabled={invite.busy}>{t.users.create}</Button>
            <Button onClick={() => void invite.run()} busy={invite.busy} disabled={create.busy}>{t.users.invite}</Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
