// The frame: who is signed in decides whether a way in or a screen is shown.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

import { Refusal, fetchDevKey } from './client/client';
import { Enrol } from './screens/signin/enrol';
import { SignIn } from './screens/signin/signin';
import { adding, session, signInWithKey, started } from './session/session';
import { Shell } from './shell';
import { t } from './text';
import { explain } from './ui/action';
import { Loading } from './ui/parts';

export function App({ code, enrolment, invitation }: { code?: string; enrolment?: string; invitation?: string }) {
  const [link, setLink] = useState(enrolment ?? invitation);
  const [entering, setEntering] = useState(code !== undefined);
  const [notice, setNotice] = useState<string>();
  useLayoutEffect(() => {
    if (!session.value) document.title = t.name;
  }, [session.value]);
  useEffect(() => {
    if (!code || !started.value) return;
    fetchDevKey(code)
      .then((dev) => signInWithKey(dev.organizationId, dev.apiPrivateKey))
      .catch((error) => setNotice(error instanceof Refusal && error.status === 403 ? t.signIn.codeUsed : explain(error)))
      .finally(() => setEntering(false));
  }, [started.value]);
  if (link) return <Enrol link={link} invited={link === invitation} onDone={() => setLink(undefined)} />;
  if (!started.value || entering) return <div class="way-in"><main id="content"><Loading /></main></div>;
  if (!session.value || adding.value) return <SignIn key={String(adding.value)} notice={notice} />;
  return <Shell />;
}
