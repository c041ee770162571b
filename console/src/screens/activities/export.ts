// What is filtered, as a file for a spreadsheet.
import { type View } from '../../client/models';
import { saveFile } from '../../ui/file';

// A cell that a spreadsheet would take for a formula gets an apostrophe before it.
const cell = (text: string): string => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

export function csv(rows: View[]): string {
  const lines = rows.map((a) => [
    a.id, a.type, a.status, new Date(Number(a.createdAt.seconds) * 1000).toISOString(),
    a.votes[0]?.user?.userName ?? '', a.fingerprint, JSON.stringify(Object.values(a.intent)[0] ?? {}),
  ]);
  return [['id', 'type', 'status', 'created', 'submitter', 'fingerprint', 'parameters'], ...lines].map((l) => l.map(cell).join(',')).join('\r\n') + '\r\n';
}

export const exportCSV = (rows: View[]): void => saveFile('latchkey-activities.csv', 'text/csv', csv(rows));
