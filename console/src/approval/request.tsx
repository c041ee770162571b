// A request in words: who wants what, to whom, and what to look at first.
import { useEffect, useState } from 'preact/hooks';

import { type Book, book, bookRead } from '../book/book';
import { type View } from '../client/models';
import { read, type Reading } from '../decode/read';
import { t } from '../text';
import { Address, Notice } from '../ui/parts';
import { explainActivity, type Explanation } from './standing';
import { waitingStatuses } from './waits';

// useReading decodes an activity, and again when more is known of the organization.
export function useReading(a: View | undefined): Reading | undefined {
  const [reading, setReading] = useState<Reading>();
  const known: Book = book.value;
  useEffect(() => {
    let current = true;
    if (a) void read(a, known).then((r) => current && setReading(r));
    return () => {
      current = false;
    };
  }, [a?.id, a?.fingerprint, known]);
  return reading;
}

// What is still to be decided, or was refused, is explained by what holds now.
const open: Array<View['status']> = [...waitingStatuses, 'ACTIVITY_STATUS_FAILED'];

export function useExplanation(a: View | undefined, reading: Reading | undefined): Explanation | undefined {
  const [explanation, setExplanation] = useState<Explanation>();
  useEffect(() => {
    let current = true;
    if (a && !open.includes(a.status)) setExplanation(undefined);
    else if (a && reading?.body) explainActivity(a, reading).then((e) => current && setExplanation(e), () => undefined);
    return () => {
      current = false;
    };
  }, [a?.id, a?.votes.length, a?.status, reading]);
  return explanation;
}

export const title = (r: Reading): string => [r.action, r.amount].filter(Boolean).join(' ');

export function Recipient({ reading }: { reading: Reading }) {
  const nameOf = (address: string) => book.value.names.get(address.toLowerCase());
  if (!reading.to) return reading.from ? <div class="recipient"><From address={reading.from} name={nameOf(reading.from)} /></div> : null;
  const name = nameOf(reading.to);
  return (
    <div class="recipient">
      {reading.from && <From address={reading.from} name={nameOf(reading.from)} />}
      <div class="muted small">
        {t.inbox.to} {!name && bookRead.value && <span>· {t.inbox.unknownRecipient}</span>}
      </div>
      <Address address={reading.to} name={name} />
      {reading.decoded?.token && (
        <>
          <div class="muted small">{t.decode.tokenContract}</div>
          <Address address={reading.decoded.token} name={book.value.names.get(reading.decoded.token.toLowerCase())} />
        </>
      )}
    </div>
  );
}

const From = ({ address, name }: { address: string; name?: string }) => (
  <>
    <div class="muted small">{t.inbox.from}</div>
    <Address address={address} name={name} />
  </>
);

export function Warnings({ reading }: { reading: Reading }) {
  // Whether a recipient is new is known when the book is.
  if (!bookRead.value && reading.trusted) return null;
  return (
    <>
      {reading.distrust && <Notice tone="danger" role="alert">{reading.distrust}</Notice>}
      {reading.warnings.map((w) => <Notice key={w.text} tone={w.level}>{w.text}</Notice>)}
    </>
  );
}
