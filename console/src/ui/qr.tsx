// A QR code, drawn as a picture of paths.
import { encode } from 'uqr';

import { t } from '../text';

export function Qr({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 1 });
  const path = data.flatMap((row, y) => row.map((on, x) => (on ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t.qr(text)} shape-rendering="crispEdges">
      <path d={path} fill="#000000" />
    </svg>
  );
}
