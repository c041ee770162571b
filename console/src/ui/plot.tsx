// A quantity over time, as steps, with a bound. The drawing has a text for readers who
// do not see it, and the same numbers as a table.
import { t } from '../text';

export interface PlotPoint {
  at: number; // milliseconds
  value: string; // a decimal number, perhaps with more digits than a number holds
}

interface PlotProps {
  label: string;
  points: PlotPoint[]; // two at least, the oldest first
  bound: string;
}

const width = 600;
const height = 140;

const moment = (ms: number, long: boolean) =>
  new Date(ms).toLocaleString(undefined, long ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } : { hour: '2-digit', minute: '2-digit', second: '2-digit' });

// changed leaves out the points that say the same as the one before.
const changed = (points: PlotPoint[]) => points.filter((p, i) => i === 0 || i === points.length - 1 || p.value !== points[i - 1].value);

export function Plot({ label, points, bound }: PlotProps) {
  const [from, to] = [points[0].at, points[points.length - 1].at];
  const long = to - from > 6 * 3_600_000;
  // Only for drawing: the first digits are enough.
  const top = Math.max(Number(bound), ...points.map((p) => Number(p.value))) * 1.08 || 1;
  const x = (at: number) => (to === from ? 0 : ((at - from) / (to - from)) * width);
  const y = (value: number) => height - (value / top) * height;
  const steps = points.map((p, i) => `${i === 0 ? `M${x(p.at)}` : `H${x(p.at)}`}${i === 0 ? ` ${y(Number(p.value))}` : `V${y(Number(p.value))}`}`).join('');
  const wide = width / (points.length - 1);
  return (
    <figure class="plot">
      <div class="plot-area">
        <svg role="img" aria-label={t.plot.label(label, points[points.length - 1].value, bound)} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none">
          <path class="plot-fill" d={`${steps}V${height}H0Z`} />
          <path class="plot-line" d={steps} />
          <path class="plot-bound" d={`M0 ${y(Number(bound))}H${width}`} />
          {points.map((p) => (
            <rect key={p.at} class="plot-point" x={x(p.at) - wide / 2} y="0" width={wide} height={height}>
              <title>{t.plot.point(moment(p.at, long), p.value)}</title>
            </rect>
          ))}
        </svg>
        <span class="plot-bound-label small" style={{ top: `${(y(Number(bound)) / height) * 100}%` }}>{t.plot.bound(bound)}</span>
      </div>
      <div class="row between small muted"><span>{moment(from, long)}</span><span>{moment(to, long)}</span></div>
      <details class="small">
        <summary>{t.plot.table}</summary>
        <table class="table plain">
          <thead><tr><th scope="col">{t.plot.time}</th><th scope="col">{t.plot.used}</th></tr></thead>
          <tbody>{changed(points).map((p) => <tr key={p.at}><th scope="row">{moment(p.at, true)}</th><td>{p.value}</td></tr>)}</tbody>
        </table>
      </details>
    </figure>
  );
}
