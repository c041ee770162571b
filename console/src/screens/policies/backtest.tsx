// What would have become of the requests of the last thirty days.
import { useRef, useState } from 'preact/hooks';

import { title, useReading } from '../../approval/request';
import { type Difference } from '../../client/models';
import { address } from '../../router';
import { ask } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { useLive } from '../../ui/live';
import { Badge, Button, Notice, Time } from '../../ui/parts';
import { Tree } from '../activity/decision';
import { outcomeTone } from './outcome';
import { withDraft } from './supposed';
import { type Draft } from './templates';

const days = 30;
const mostShown = 100;

interface Tested {
  draft: Draft;
  examined: number;
  skipped: number;
  different: Difference[];
  complete: boolean;
}

export function Backtest({ draft, policyId }: { draft: Draft; policyId?: string }) {
  const [tested, setTested] = useState<Tested>();
  const stopped = useRef(false);
  const run = useAction(async () => {
    stopped.current = false;
    const policies = await withDraft(draft, policyId);
    const so: Tested = { draft, examined: 0, skipped: 0, different: [], complete: false };
    setTested(so);
    for (let after: string | undefined; !so.complete && !stopped.current && so.different.length < mostShown; ) {
      const page = await ask('backtest', {
        policies, sinceMs: String(Date.now() - days * 86_400_000), paginationOptions: { limit: String(mostShown), ...(after && { after }) },
      });
      so.examined += page.examined;
      so.skipped += page.skipped;
      so.different = [...so.different, ...page.different];
      so.complete = !page.pageInfo.hasNextPage;
      after = page.pageInfo.endCursor;
      setTested({ ...so });
    }
  });
  return (
    <section class="card stack">
      <div>
        <h2>{t.policies.backtest}</h2>
        <p class="muted">{t.policies.backtestAbout}</p>
      </div>
      <div class="row">
        <Button busy={run.busy} onClick={() => void run.run()}>{t.policies.backtestButton}</Button>
        {run.busy && <Button onClick={() => { stopped.current = true; }}>{t.policies.stop}</Button>}
      </div>
      <Failure action={run} />
      {tested && <Result tested={tested} current={tested.draft === draft} busy={run.busy} />}
    </section>
  );
}

function Result({ tested: { examined, skipped, different, complete }, current, busy }: { tested: Tested; current: boolean; busy: boolean }) {
  const tone = different.length > 0 ? 'caution' : 'good';
  return (
    <div class="stack">
      <div role="status" class="stack tight">
        {busy ? <p class="muted">{t.policies.decidedSoFar(examined)}</p> : <Notice tone={tone}>{t.policies.differences(different.length, examined, complete)}</Notice>}
        {skipped > 0 && <p class="small muted">{t.policies.skipped(skipped)}</p>}
        {!current && <p class="small muted">{t.policies.outdated}</p>}
      </div>
      <ul class="tree">
        {different.map((d) => <li key={d.activityId}><Changed difference={d} /></li>)}
      </ul>
    </div>
  );
}

function Changed({ difference }: { difference: Difference }) {
  const { data } = useLive(() => ask('get_activity', { activityId: difference.activityId }).then((r) => r.activity), [difference.activityId], 'once');
  const reading = useReading(data);
  return (
    <details class="stack tight">
      <summary>
        <strong><bdi>{reading ? title(reading) : difference.type}</bdi></strong>
        <span class="row">
          <Badge tone={outcomeTone(difference.before)}>{t.policies.outcomes[difference.before]}</Badge>
          <span aria-hidden="true">→</span><span class="hidden-visually">{t.policies.then}</span>
          <Badge tone={outcomeTone(difference.after)}>{t.policies.outcomes[difference.after]}</Badge>
        </span>
      </summary>
      <div class="row between">
        <p class="small muted">{data && <><Time at={data.createdAt} /> · {t.activity.by} <bdi>{data.votes[0]?.user?.userName}</bdi></>}</p>
        <a class="button small" href={address(`activities/${difference.activityId}`)}>{t.inbox.details}</a>
      </div>
      <p>{t.policies.because(difference.explanation.after.reason)}</p>
      <Tree explanation={difference.explanation.after} />
    </details>
  );
}
