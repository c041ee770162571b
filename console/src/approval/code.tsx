// A code by mail or SMS as a further factor: it is sent, typed here, and exchanged for a token
// that vouches for a key which stamps once.
import { useState } from 'preact/hooks';

import { utf8 } from '../client/bytes';
import { Refusal, type Stamper, submit } from '../client/client';
import { type View } from '../client/models';
import { generateKey, stampAttested } from '../client/p256';
import { ask, asSelf, type Asker, confirm, session } from '../session/session';
import { t } from '../text';
import { Failure, useAction } from '../ui/action';
import { useLive } from '../ui/live';
import { Button, Field } from '../ui/parts';
import { sealFor } from '../ui/transfer';
import { type CodeKind, codeKinds, needsFactor } from './waits';

interface Sent {
  otpId: string;
  otpEncryptionTargetBundle: string;
}

// A code can be sent only if that neither waits for others nor for the factor itself.
function done<R>({ activity, result }: { activity: View; result: R | undefined }): R {
  if (!result) throw new Refusal(409, needsFactor(activity) ? t.codes.circular : t.codes.waits, '', []);
  return result;
}

const types = { AUTHENTICATION_TYPE_EMAIL_OTP: 'OTP_TYPE_EMAIL', AUTHENTICATION_TYPE_SMS_OTP: 'OTP_TYPE_SMS' } as const;

async function send({ organizationId, stamper }: Asker, kind: CodeKind, contact: string): Promise<Sent> {
  try {
    return done(await submit('init_otp', organizationId, { otpType: types[kind], contact: contact.trim(), appName: t.name, otpLength: 6, alphanumeric: false }, stamper));
  } catch (error) {
    if (error instanceof Refusal && error.status === 403) throw new Refusal(403, `${error.message.replace(/\.?$/, '.')} ${t.codes.notAllowed}`, error.reason, error.fields);
    throw error;
  }
}

async function exchange(asker: Asker, { otpId, otpEncryptionTargetBundle }: Sent, code: string): Promise<Stamper> {
  const key = await generateKey();
  const plain = utf8(JSON.stringify({ otp_code: code.trim(), public_key: key.publicKey }));
  const encryptedOtpBundle = await sealFor(asker, otpEncryptionTargetBundle, plain);
  const { verificationToken } = done(await submit('verify_otp', asker.organizationId, { otpId, encryptedOtpBundle }, asker.stamper));
  return (body) => stampAttested(key, verificationToken, body);
}

interface CodeProps {
  asker: () => Asker;
  kinds: CodeKind[];
  contacts?: Partial<Record<CodeKind, string>>; // those of the user; typed where they cannot be read
  hint?: string;
  onStamp: (factor: Stamper) => Promise<void>;
}

export function Code({ asker, kinds, contacts, hint, onStamp }: CodeProps) {
  const [kind, setKind] = useState(kinds[0]);
  const [typed, setTyped] = useState('');
  const [sent, setSent] = useState<Sent>();
  const [code, setCode] = useState('');
  const contact = contacts ? (contacts[kind] ?? '') : typed;
  const sending = useAction(async () => {
    setSent(await send(asker(), kind, contact));
    setCode('');
  });
  const confirming = useAction(async () => onStamp(await exchange(asker(), sent!, code)));
  if (sent) {
    return (
      <form class="stack tight" onSubmit={(e) => { e.preventDefault(); void confirming.run(); }}>
        <p role="status">{t.codes.sent(contact)}</p>
        <Field label={t.codes.code} value={code} onInput={setCode} problem={confirming.error} hint={hint} autocomplete="one-time-code" numeric required />
        <div class="decision">
          <Button look="quiet" busy={sending.busy} onClick={() => { confirming.clear(); void sending.run(); }}>{t.codes.another}</Button>
          <Button look="primary" submit busy={confirming.busy}>{t.codes.confirm}</Button>
        </div>
        <Failure action={sending} />
      </form>
    );
  }
  return (
    <form class="stack tight" onSubmit={(e) => { e.preventDefault(); void sending.run(); }}>
      {kinds.length > 1 && <Field label={t.codes.by} value={kind} onInput={(v) => setKind(v as CodeKind)} options={kinds.map((k) => [k, t.codes.kinds[k]])} />}
      {!contacts && <Field label={t.codes.contacts[kind]} value={typed} onInput={setTyped} problem={sending.problem('contact')} hint={hint} required />}
      {contacts && !contact && <p class="muted">{t.codes.noContact(t.codes.contacts[kind])}</p>}
      {(!contacts || contact) && <div class="decision"><Button submit busy={sending.busy}>{t.codes.send(t.codes.kinds[kind], contacts ? contact : '')}</Button></div>}
      {!sending.problem('contact') && <Failure action={sending} />}
    </form>
  );
}

// CodeFactor is there where a code would meet a step of the policy that an activity waits for.
export function CodeFactor({ activity, onStamped }: { activity: View; onStamped: (voted: View) => void }) {
  const userId = session.value!.userId;
  const { data } = useLive(async () => {
    const [{ mfaStatuses }, { user }] = await Promise.all([ask('get_mfa_status', { activityId: activity.id, userId }), ask('get_user', { userId })]);
    return { mfaStatuses, user };
  }, [activity.id]);
  const missing = (data?.mfaStatuses ?? []).filter((s) => !s.satisfied);
  const kinds = codeKinds.filter((kind) => missing.some((s) => s.requiredMethods.some((step) => step.any.some((m) => m.type === kind)) && !s.satisfiedMethods.some((m) => m.type === kind)));
  if (!data || kinds.length === 0) return null;
  const contacts = { AUTHENTICATION_TYPE_EMAIL_OTP: data.user.userEmail, AUTHENTICATION_TYPE_SMS_OTP: data.user.userPhoneNumber };
  return <Code asker={asSelf} kinds={kinds} contacts={contacts} onStamp={async (factor) => onStamped((await confirm(activity, factor)).activity)} />;
}
