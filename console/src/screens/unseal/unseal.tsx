// The page of a server that is sealed: each of a group of people hands in a share, until enough
// have come. A share is in its field and nowhere else in the page, and leaves it when it is taken.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

import { type Gathered, gathered, handIn } from '../../client/client';
import { settings } from '../../settings';
import { t } from '../../text';
import { useAction } from '../../ui/action';
import { Brand } from '../../ui/brand';
import { DropFile } from '../../ui/file';
import { Button, Field, Loading, Notice } from '../../ui/parts';

const every = 2000; // milliseconds

// useGathered asks until the server is open, and then begins anew.
function useGathered(): { progress: Gathered | undefined; away: boolean; show: (next: Gathered) => void } {
  const [progress, setProgress] = useState<Gathered>();
  const [away, setAway] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async () => {
      try {
        const now = await gathered();
        if (!now) {
          location.reload();
          return;
        }
        setProgress(now);
        setAway(false);
      } catch {
        setAway(true);
      }
      timer = setTimeout(() => void ask(), every);
    };
    void ask();
    return () => clearTimeout(timer);
  }, []);
  return { progress, away, show: setProgress };
}

export function Unseal() {
  const { progress, away, show } = useGathered();
  const open = progress !== undefined && progress.have >= progress.need;
  useLayoutEffect(() => {
    document.title = `${t.name} · ${t.unseal.title}`;
  }, []);
  return (
    <div class="way-in">
      <main id="content">
        <Brand />
        <div class="card stack appear">
          <h1>{t.unseal.title}</h1>
          <p class="muted">{t.unseal.about}</p>
          <div role="status" class="stack tight">
            {progress && <p><strong>{t.unseal.have(progress.have, progress.need)}</strong> <span class="muted">{t.unseal.of(progress.recipient)}</span></p>}
            {progress && <meter min={0} max={progress.need} value={progress.have} aria-label={t.unseal.have(progress.have, progress.need)} />}
            {!progress && !away && <Loading />}
            {open && <Notice tone="good">{t.unseal.opening}</Notice>}
            {away && !open && <Notice tone="caution">{t.notReachable}</Notice>}
          </div>
          {settings.sealed === 'taken' ? !open && <Share onTaken={show} /> : <Elsewhere insecure={settings.sealed === 'insecure'} />}
        </div>
      </main>
    </div>
  );
}

const maxFile = 10_000;

function Share({ onTaken }: { onTaken: (now: Gathered) => void }) {
  const [share, setShare] = useState('');
  const [readable, setReadable] = useState(false);
  const [taken, setTaken] = useState<string>();
  const hand = useAction(async () => {
    setTaken(undefined);
    const now = await handIn(share);
    setShare('');
    setTaken(now.repeated ? t.unseal.repeated : t.unseal.taken);
    onTaken(now);
  });
  // A browser keeps pages that were left, to go back to.
  useEffect(() => {
    const leave = () => setShare('');
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, []);
  const type = (text: string) => {
    hand.clear();
    setTaken(undefined);
    setShare(text);
  };
  // A file of a share has it twice, a line each.
  const take = async (file: File | undefined) => {
    if (file && file.size <= maxFile) type((await file.text()).trim().split('\n')[0].trim());
  };
  return (
    <form class="stack" autocomplete="off" onSubmit={(e) => { e.preventDefault(); void hand.run(); }}>
      <Field label={t.unseal.share} value={share} onInput={type} hint={t.unseal.shareHint} problem={hand.error} area covered={!readable} required />
      <div class="checks"><label><input type="checkbox" checked={readable} onChange={() => setReadable(!readable)} /> {t.unseal.show}</label></div>
      <DropFile label={t.unseal.file} onFile={(f) => void take(f)} />
      <Button look="primary" submit busy={hand.busy}>{t.unseal.handIn}</Button>
      <div role="status">{taken && <Notice tone={taken === t.unseal.repeated ? 'caution' : 'good'}>{taken}</Notice>}</div>
    </form>
  );
}

const Elsewhere = ({ insecure }: { insecure: boolean }) => (
  <div class="stack tight">
    <Notice>{insecure ? t.unseal.insecure : t.unseal.off}</Notice>
    <p>{t.unseal.command}</p>
    <pre tabIndex={0}>latchkey unseal --config FILE</pre>
    <p class="muted small">{insecure ? t.unseal.needsTLS : t.unseal.needsSetting}</p>
  </div>
);
