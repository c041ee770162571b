// Cases from a file, decided as they would be if the draft were saved.
import { useState } from 'preact/hooks';

import { type Explanation } from '../../approval/standing';
import { book } from '../../book/book';
import { Refusal } from '../../client/client';
import { ask } from '../../session/session';
import { t } from '../../text';
import { Failure, useAction } from '../../ui/action';
import { DropFile } from '../../ui/file';
import { Badge, Button, Notice } from '../../ui/parts';
import { Tree } from '../activity/decision';
import { type Case } from './casefile';
import { outcomeTone } from './outcome';
import { withDraft } from './supposed';
import { type Draft } from './templates';

interface Judged {
  case: Case;
  problems: string[]; // empty: as expected
  explanation?: Explanation;
}

const sorted = (names: string[]): string => [...names].sort().join(', ');

function judge(c: Case, e: Explanation): Judged {
  const problems: string[] = [];
  if (e.outcome !== c.expect) problems.push(t.policies.expected(t.policies.outcomes[c.expect]));
  const denying = sorted(e.policies.filter((p) => p.denies).map((p) => p.policyName));
  if (c.deniedBy && sorted(c.deniedBy) !== denying) problems.push(t.policies.deniedBy(denying));
  const open = sorted(e.canApprove.map((u) => u.userName));
  if (c.canApprove && sorted(c.canApprove) !== open) problems.push(t.policies.open(open));
  return { case: c, problems, explanation: e };
}

export function Cases({ draft, policyId }: { draft: Draft; policyId?: string }) {
  const [judged, setJudged] = useState<Judged[]>();
  const [file, setFile] = useState<{ name: string; content: string }>();
  const run = useAction(async () => {
    setJudged(undefined);
    if (!file) return;
    const { readCases, BadCases } = await import('./casefile');
    try {
      const cases = await readCases(file.content, book.value);
      const policies = await withDraft(draft, policyId);
      const all: Judged[] = [];
      for (const c of cases) {
        const asked = { type: c.type, parameters: c.parameters, approvers: c.voters, policies, ...(c.time && { time: c.time }) };
        try {
          all.push(judge(c, await ask('explain', asked as never)));
        } catch (error) {
          if (!(error instanceof Refusal) || error.status !== 400) throw error;
          all.push({ case: c, problems: [error.message] });
        }
      }
      setJudged(all);
    } catch (error) {
      throw error instanceof BadCases ? new Refusal(400, error.message, '', []) : error;
    }
  });
  const take = async (chosen: File | undefined) => {
    if (!chosen) return;
    setFile({ name: chosen.name, content: await chosen.text() });
    setJudged(undefined);
  };
  const failed = judged?.filter((j) => j.problems.length > 0).length ?? 0;
  return (
    <section class="card stack">
      <div>
        <h2>{t.policies.cases}</h2>
        <p class="muted">{t.policies.casesAbout}</p>
      </div>
      <DropFile label={t.policies.casesFile} onFile={(f) => void take(f)} />
      {file && (
        <div class="row">
          <Button busy={run.busy} onClick={() => void run.run()}>{t.policies.casesRun}</Button>
          <span class="small muted">{t.signIn.fileRead(file.name)}</span>
        </div>
      )}
      <Failure action={run} />
      {judged && (
        <div class="stack tight">
          <div role="status"><Notice tone={failed > 0 ? 'danger' : 'good'}>{t.policies.casesResult(judged.length - failed, judged.length)}</Notice></div>
          <ul class="tree">
            {judged.map((j, i) => (
              <li key={i}>
                <details open={j.problems.length > 0}>
                  <summary>
                    <strong><bdi>{j.case.name}</bdi></strong>
                    {j.explanation && <Badge tone={outcomeTone(j.explanation.outcome)}>{t.policies.outcomes[j.explanation.outcome]}</Badge>}
                    <Badge tone={j.problems.length > 0 ? 'danger' : 'good'}>{j.problems.length > 0 ? t.policies.otherwise : t.policies.asExpected}</Badge>
                  </summary>
                  {j.problems.map((p) => <p key={p} class="problem">{p}</p>)}
                  {j.explanation && <Tree explanation={j.explanation} />}
                </details>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
