// The page behind an enrolment link: it holds an API key that expires, with which
// the user registers a passkey, and which is then deleted. An invitation is the same
// with a key that serves for nothing else.
import { useEffect, useState } from 'preact/hooks';

import { query, submit } from '../../client/client';
import { importKey, stampWith } from '../../client/p256';
import { createPasskey } from '../../session/passkey';
import { signInWithPasskey } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Brand } from '../../ui/brand';
import { Button, Field, Loading, Notice } from '../../ui/parts';

interface Invited {
  organizationId: string;
  organizationName: string;
  userId: string;
  username: string;
}

async function keyOf(secret: string) {
  const key = await importKey(secret);
  if (!key) throw new Error(t.enrol.expired);
  return key;
}

async function enrol(who: Invited, secret: string, name: string, invited: boolean): Promise<void> {
  const key = await keyOf(secret);
  const stamper = (body: string) => stampWith(key, body);
  const passkey = await createPasskey(who.userId, who.username, name);
  if (invited) { // its key can do this alone, and is gone then
    await submit('recover_user', who.organizationId, { userId: who.userId, authenticator: passkey }, stamper);
    await signInWithPasskey(who.organizationId);
    return;
  }
  await submit('create_authenticators', who.organizationId, { userId: who.userId, authenticators: [passkey] }, stamper);
  const { apiKeys } = await query('get_api_keys', { organizationId: who.organizationId, userId: who.userId }, stamper);
  const used = apiKeys.find((k) => k.credential.publicKey === key.publicKey);
  if (used) await submit('delete_api_keys', who.organizationId, { userId: who.userId, apiKeyIds: [used.apiKeyId] }, stamper);
  await signInWithPasskey(who.organizationId);
}

export function Enrol({ link, invited, onDone }: { link: string; invited: boolean; onDone: () => void }) {
  const [organization, secret] = link.split('.');
  const [who, setWho] = useState<Invited>();
  const [invalid, setInvalid] = useState(false);
  const [name, setName] = useState(t.enrol.defaultName);
  useEffect(() => {
    keyOf(secret ?? '')
      .then((key) => query('whoami', { organizationId: organization }, (body) => stampWith(key, body)))
      .then(setWho, () => setInvalid(true));
  }, [link]);
  const register = useAction(async () => {
    await enrol(who!, secret, name, invited);
    onDone();
  });
  return (
    <div class="way-in">
      <main id="content">
        <Brand />
        <div class="card stack appear">
          <h1>{t.enrol.title}</h1>
          {invalid && <Notice tone="danger" role="alert">{t.enrol.expired}</Notice>}
          {!who && !invalid && <Loading />}
          {who && (
            <form class="stack" onSubmit={(e) => { e.preventDefault(); void register.run(); }}>
              <p><strong>{t.enrol.welcome(who.username)}</strong> <bdi class="muted">{who.organizationName}</bdi></p>
              <p class="muted">{t.enrol.about}</p>
              <Field label={t.enrol.passkeyName} value={name} onInput={setName} problem={register.problem('authenticatorName')} required />
              <Button look="primary" submit busy={register.busy}>{t.enrol.register}</Button>
              <Failure action={register} />
            </form>
          )}
        </div>
      </main>
    </div>
  );
}
