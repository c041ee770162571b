// How an outcome looks.
export type Outcome = 'ALLOW' | 'DENY' | 'PENDING';

export const outcomeTone = (outcome: Outcome) => (outcome === 'ALLOW' ? 'good' : outcome === 'DENY' ? 'danger' : 'caution');
