// What a policy would say to a recorded or a pasted request.
import { useState } from 'preact/hooks';

import { title } from '../../approval/request';
import { type Explanation } from '../../approval/standing';
import { book } from '../../book/book';
import { Refusal } from '../../client/client';
import { read, signedBody } from '../../decode/read';
import { ask } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { useLive } from '../../ui/live';
import { Badge, Button, Field } from '../../ui/parts';
import { Tree } from '../activity/decision';
import { outcomeTone } from './outcome';
import { alone } from './supposed';
import { type Draft } from './templates';

interface Envelope {
  type: string;
  parameters: Record<string, unknown>;
}

function envelope(text: string): Envelope {
  try {
    const { type, parameters } = JSON.parse(text) as Partial<Envelope>;
    if (typeof type === 'string' && parameters && typeof parameters === 'object') return { type, parameters };
  } catch {
    // told below
  }
  throw new Refusal(400, t.policies.notARequest, '', [{ path: 'request', text: t.policies.notARequest }]);
}

// recorded lists what was asked lately, in words.
const recorded = async () => {
  const { activities } = await ask('list_activities', { paginationOptions: { limit: '30' } });
  const readable = activities.filter((a) => signedBody(a) !== '' && !a.type.includes('APPROVE') && !a.type.includes('REJECT'));
  return Promise.all(readable.map(async (a) => ({ body: signedBody(a), title: title(await read(a, book.value)) })));
};

export function Try({ draft }: { draft: Draft }) {
  const [request, setRequest] = useState('');
  const [said, setSaid] = useState<Explanation>();
  const { data } = useLive(recorded, [book.value.users.size], 'once');
  const run = useAction(async () => {
    setSaid(undefined);
    const { type, parameters } = envelope(request);
    setSaid(await ask('explain', { type, parameters, policies: alone(draft) } as never));
  });
  const options: Array<[string, string]> = [['', t.policies.pick], ...(data ?? []).map((d): [string, string] => [d.body, d.title])];
  return (
    <section class="card stack">
      <div>
        <h2>{t.policies.tryTitle}</h2>
        <p class="muted">{t.policies.tryAbout}</p>
      </div>
      <form class="stack" onSubmit={(e) => { e.preventDefault(); void run.run(); }}>
        <Field label={t.policies.recorded} value={options.some(([v]) => v === request) ? request : ''} onInput={setRequest} options={options} />
        <Field label={t.policies.request} value={request} onInput={setRequest} area problem={run.problem('request')} />
        {!run.problem('request') && <Failure action={run} />}
        <div><Button submit busy={run.busy}>{t.policies.tryButton}</Button></div>
      </form>
      {said && (
        <div class="stack" role="status">
          <p class="row"><Badge tone={outcomeTone(said.outcome)}>{t.policies.outcomes[said.outcome]}</Badge> {said.reason}</p>
          <Tree explanation={said} />
        </div>
      )}
    </section>
  );
}
