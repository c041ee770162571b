// Files in and out of the page.
import { useState } from 'preact/hooks';

import { t } from '../text';

export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// The choice is forgotten, so that the same file can be chosen again.
export function DropFile({ label, onFile }: { label: string; onFile: (file: File | undefined) => void }) {
  const [over, setOver] = useState(false);
  return (
    <div
      class={`drop ${over ? 'over' : ''}`}
      onDragOver={(e) => { e.preventDefault(); setOver(true); }}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => { e.preventDefault(); setOver(false); onFile(e.dataTransfer?.files[0]); }}
    >
      <label class="button small">
        {label}
        <input class="hidden-visually" type="file" onChange={(e) => { onFile(e.currentTarget.files?.[0]); e.currentTarget.value = ''; }} />
      </label>
      <span>{t.drop}</span>
    </div>
  );
}
