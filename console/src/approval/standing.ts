// How far an activity is that waits for votes: who has voted, who is still asked,
// and which rule asks.
import { type Book } from '../book/book';
import { type ControlEvaluation, type View } from '../client/models';
import { type Queries } from '../client/queries';
import { type Reading } from '../decode/read';
import { ask } from '../session/session';
import { t } from '../text';

export type Explanation = Queries['explain']['reply'];

export interface Standing {
  rules: string; // which ask
  votes: string; // such as "1 of 2: Ada; missing one of Bob, Cleo"
  limits: string[]; // what limits leave, and whether this fits
}

export const approvers = (a: View): string[] => a.votes.filter((v) => v.selection === 'VOTE_SELECTION_APPROVED').map((v) => v.userId);

export const explainActivity = (a: View, reading: Reading): Promise<Explanation> =>
  ask('explain', { type: reading.type, parameters: reading.parameters, approvers: [...new Set(approvers(a))] } as never);

const needed = (consensus: string): number | undefined => {
  const m = /count\(\)\s*>=\s*(\d+)/.exec(consensus);
  return m ? Number(m[1]) : undefined;
};

// limitWords says what a limit leaves before and, if it can be told, what with the request.
export function limitWords(c: ControlEvaluation): string {
  if (c.unreadable) return t.inbox.limitUnreadable(c.identifier);
  if (c.left === undefined) return t.inbox.limitUsed(c.identifier, c.used ?? '0', c.holds);
  return t.inbox.limitLeft(c.identifier, c.left, c.holds);
}

export function standing(a: View, e: Explanation | undefined, book: Book): Standing {
  const voters = [...new Set(approvers(a))];
  const names = voters.map((id) => book.users.get(id) ?? id.slice(0, 8)).join(', ');
  const asking = (e?.policies ?? []).filter((p) => p.outcome === 'OUTCOME_REQUIRES_CONSENSUS');
  const rules = asking.map((p) => t.quoted(p.policyName)).join(', ') || t.inbox.rootQuorum;
  const counts = asking.map((p) => needed(book.policies.get(p.policyId ?? '')?.consensus ?? ''));
  const of = asking.length === 0 ? book.quorum.threshold : counts.length === 1 ? counts[0] : undefined;
  const open = (e?.canApprove ?? []).map((u) => u.userName);
  const parts = [of !== undefined && of >= voters.length ? t.inbox.approved(voters.length, of, names) : t.inbox.approvedOnly(names)];
  if (open.length === 1) parts.push(t.inbox.missingOne(open[0]));
  if (open.length > 1) parts.push(t.inbox.missing(open.join(', ')));
  return { rules: t.inbox.rule(rules), votes: parts.join('; '), limits: (e?.controls ?? []).map(limitWords) };
}
