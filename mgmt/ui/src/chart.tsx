// A chart of counts over the last minutes.
import { number, perSecond, short, span } from "./format";
import { Tile } from "./kit";
import { rates, sampled, samples, type Sample } from "./state";

const width = 600, height = 120;

interface Line {
  name: string;
  class: string;
  of: (s: Sample) => number;
}

const lines: Line[] = [
  { name: "active", class: "active", of: (s) => s.active },
  { name: "dead-letter", class: "dead", of: (s) => s.deadLetter },
  { name: "scheduled", class: "scheduled", of: (s) => s.scheduled },
];

function path(list: Sample[], of: (s: Sample) => number, top: number): string {
  const first = list[0]!.at, wide = Math.max(list[list.length - 1]!.at - first, 1);
  return list.map((s, i) => `${i ? "L" : "M"}${(((s.at - first) / wide) * width).toFixed(1)} ${(height - (of(s) / top) * (height - 8)).toFixed(1)}`).join("");
}

// RateTiles show how many messages come and go, of an entity, or of the namespace without a path.
export function RateTiles({ of = "", out = true }: { of?: string; out?: boolean }) {
  sampled.value; // draw again with each sample
  const r = rates(of), shown = (n?: number) => (n === undefined ? "–" : perSecond(n));
  return <><Tile name="In" value={shown(r?.stored)} title="Messages that come, per second" />{out && <Tile name="Out" value={shown(r?.completed)} title="Messages that receivers remove, per second" />}</>;
}

// Chart shows the counts of an entity, or of the namespace without a path.
export function Chart({ of = "" }: { of?: string }) {
  sampled.value; // draw again with each sample
  const list = samples(of);
  if (list.length < 2) return <p class="hint chart-wait">The chart begins in a moment. It shows the minutes since this page was opened.</p>;
  const last = list[list.length - 1]!;
  const shown = lines.filter((l) => l.name === "active" || list.some((s) => l.of(s) > 0));
  const top = Math.max(1, ...list.flatMap((s) => shown.map((l) => l.of(s))));
  const long = span(last.at - list[0]!.at);
  const text = shown.map((l) => `${l.name} ${number(l.of(last))}`).join(", ");
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`Counts over the last ${long}: now ${text}`}>
        <line class="grid" x1="0" x2={width} y1="8" y2="8" />
        <line class="grid" x1="0" x2={width} y1={(height + 8) / 2} y2={(height + 8) / 2} />
        <line class="grid" x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
        {shown.map((l) => <path key={l.name} class={`line ${l.class}`} d={path(list, l.of, top)} />)}
      </svg>
      <figcaption>
        {shown.map((l) => <span key={l.name} class={`key ${l.class}`}>{l.name} <b>{number(l.of(last))}</b></span>)}
        <span class="faint push">top {short(top)} · last {long}</span>
      </figcaption>
    </figure>
  );
}
