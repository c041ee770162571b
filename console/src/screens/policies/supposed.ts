// The rules as they would be, if a draft were saved.
import { type Policy, type SupposedPolicy } from '../../client/models';
import { ask } from '../../session/session';
import { type Draft } from './templates';

const supposed = (p: Draft | Policy): SupposedPolicy => ({
  policyName: p.policyName || 'x', effect: p.effect,
  ...(p.condition && { condition: p.condition }), ...(p.consensus && { consensus: p.consensus }), ...(p.time && { time: p.time }),
});

export const alone = (draft: Draft): SupposedPolicy[] => [supposed(draft)];

// withDraft are the organization's policies with the draft among them, in the place
// of the one that it changes.
export async function withDraft(draft: Draft, policyId: string | undefined): Promise<SupposedPolicy[]> {
  const { policies } = await ask('list_policies', {});
  return [...policies.filter((p) => p.policyId !== policyId), draft].map(supposed);
}
