// The way in: a passkey, or an API key.
import { lazy, Suspense } from 'preact/compat';
import { useState } from 'preact/hooks';

import { codeKinds } from '../../approval/waits';
import { Refusal, type Stamper } from '../../client/client';
import { passkeysWork, stampWithPasskey } from '../../session/passkey';
import { parseKey } from '../../session/keyfile';
import { adding, confirmLogin, locked, type PendingLogin, rememberedOrganization, signInWithKey, signInWithPasskey, stamperOfKey } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { Brand } from '../../ui/brand';
import { DropFile } from '../../ui/file';
import { Button, Field, Loading, Notice } from '../../ui/parts';

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function checked(organization: string): string {
  const id = organization.trim();
  if (!uuid.test(id)) throw new Refusal(400, t.signIn.organizationMissing, '', [{ path: 'organization', text: t.signIn.organizationMissing }]);
  return id;
}

export function SignIn({ notice }: { notice?: string }) {
  const [organization, setOrganization] = useState(adding.value ? '' : rememberedOrganization());
  const [key, setKey] = useState('');
  const [file, setFile] = useState<string>();
  const [pending, setPending] = useState<PendingLogin>();
  const passkey = useAction(async () => setPending(await signInWithPasskey(checked(organization))));
  const withKey = useAction(async () => {
    const { digits, organizationId } = parseKey(key);
    await signInWithKey(checked(organizationId ?? organization), digits);
  });
  const take = async (chosen: File | undefined) => {
    if (!chosen || chosen.size > 10_000) return;
    const text = await chosen.text();
    setKey(text.trim());
    setFile(chosen.name);
    const id = /"organizationId"\s*:\s*"([^"]+)"/.exec(text)?.[1];
    if (id) setOrganization(id);
  };
  const problem = (path: string) => passkey.problem(path) ?? withKey.problem(path);
  if (pending) return <Factor pending={pending} onCancel={() => setPending(undefined)} />;
  return (
    <div class="way-in">
      <main id="content">
        <Brand />
        <div class="card stack appear">
          <h1>{t.signIn.title}</h1>
          {locked.value && <Notice>{t.signIn.locked}</Notice>}
          {notice && <Notice tone="caution" role="alert">{notice}</Notice>}
          <form class="stack" onSubmit={(e) => { e.preventDefault(); void passkey.run(); }}>
            <Field label={t.signIn.organization} value={organization} onInput={setOrganization} hint={t.signIn.organizationHint} problem={problem('organization')} autocomplete="username webauthn" />
            {!passkeysWork() && <p class="hint">{t.passkey.impossible}</p>}
            <Button look="primary" submit busy={passkey.busy} disabled={!passkeysWork()}>{t.signIn.passkey}</Button>
            {!passkey.problem('organization') && <Failure action={passkey} />}
          </form>
          <div class="or">{t.signIn.or}</div>
          <form class="stack" onSubmit={(e) => { e.preventDefault(); void withKey.run(); }}>
            <Field label={t.signIn.key} type="password" value={key} onInput={(v) => { setKey(v); setFile(undefined); }} hint={file ? t.signIn.fileRead(file) : t.signIn.keyHint} problem={withKey.problem('key')} />
            <DropFile label={t.signIn.file} onFile={(f) => void take(f)} />
            <Button submit busy={withKey.busy}>{t.signIn.withKey}</Button>
            {!withKey.problem('key') && !withKey.problem('organization') && <Failure action={withKey} />}
          </form>
          {adding.value && <Button look="quiet" onClick={() => { adding.value = false; }}>{t.cancel}</Button>}
        </div>
      </main>
    </div>
  );
}

const Code = lazy(() => import('../../approval/code').then((m) => ({ default: m.Code })));

// Factor asks for what a multi-factor policy wants beside the passkey.
function Factor({ pending, onCancel }: { pending: PendingLogin; onCancel: () => void }) {
  const [key, setKey] = useState('');
  const [coding, setCoding] = useState(false);
  const give = async (factor: Stamper) => {
    if (await confirmLogin(pending, factor)) throw new Error(t.signIn.moreFactors);
  };
  const passkey = useAction(() => give(stampWithPasskey));
  const withKey = useAction(async () => give(await stamperOfKey(parseKey(key).digits)));
  const busy = passkey.busy || withKey.busy;
  const { organizationId, votes } = pending.activity;
  return (
    <div class="way-in">
      <main id="content">
        <Brand />
        <div class="card stack appear">
          <h1>{t.signIn.factorTitle}</h1>
          <p class="muted">{t.signIn.factorAbout}</p>
          <form class="stack" onSubmit={(e) => { e.preventDefault(); void withKey.run(); }}>
            <Field label={t.signIn.key} type="password" value={key} onInput={setKey} hint={t.signIn.factorHint} problem={withKey.problem('key')} required />
            <Button look="primary" submit busy={withKey.busy} disabled={busy}>{t.signIn.withOtherKey}</Button>
            {!withKey.problem('key') && <Failure action={withKey} />}
          </form>
          <div class="or">{t.signIn.or}</div>
          <Button busy={passkey.busy} disabled={busy} onClick={() => void passkey.run()}>{t.signIn.otherPasskey}</Button>
          <Failure action={passkey} />
          <div class="or">{t.signIn.or}</div>
          {coding ? (
            <Suspense fallback={<Loading />}>
              <Code asker={() => ({ organizationId, userId: votes[0].userId, stamper: stampWithPasskey })} kinds={codeKinds} hint={t.codes.prompts} onStamp={give} />
            </Suspense>
          ) : <Button onClick={() => setCoding(true)}>{t.codes.withCode}</Button>}
          <Button look="quiet" onClick={onCancel}>{t.cancel}</Button>
        </div>
      </main>
    </div>
  );
}
