// What is filtered, as a file for a spreadsheet.
import { type View } from '../../client/interface';

// A cell that a spreadsheet would take for a formula gets an apostrophe before it.
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

export function csv(rows: View[]): string {
  const lines = rows.map((a) => [
    a.id, a.type, a.status, new Date(Number(a.createdAt.seconds) * 1000).toISOString(),
    a.votes[0]?.user?.userName ?? '', a.fingerprint, JSON.stringify(Object.values(a.intent)[0] ?? {}),
  ]);
  return [['id', 'type', 'status', 'created', 'submitter', 'fingerprint', 'parameters'], ...lines].map((l) => l.map(cell).join(',')).join('\r\n') + '\r\n';
}

export function exportCSV(rows: View[]): void {
  const url = URL.createObjectURL(new Blob([csv(rows)], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'latchkey-activities.csv';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
