// The last hour of an entity or of the namespace: what came and went, and what was left.
import { useState } from "preact/hooks";
import { at, get, type Schemas } from "./api";
import { number, short, time } from "./format";
import { Panel, Tile } from "./kit";
import { usePoll } from "./poll";
import { route } from "./route";

type Activity = Schemas["Activity"];

const pause = 10_000; // ms between two requests
const leastSpan = 5 * 60_000; // ms that the axis shows at least
const leastElapsed = 10_000; // ms of the step that is running before its rate says something

// Series is a line: a value for each step; undefined: not known yet.
type Series = (number | undefined)[];

interface Hour {
  in: Series; // messages per minute
  out: Series;
  active: Series;
  deadLetter: Series;
  scheduled: Series;
  ends: number[]; // ms, when each step ends
  from: number; // ms, where the axis begins
  to: number;
}

function hourOf(a: Activity): Hour {
  const step = a.stepSeconds * 1000, first = Date.parse(a.from), to = Date.parse(a.to), n = a.stored.length;
  const elapsed = to - first - (n - 1) * step; // of the step that is running
  const rate = (list: number[]): Series => list.map((v, i) => (i < n - 1 ? (v * 60_000) / step : elapsed >= leastElapsed ? (v * 60_000) / elapsed : undefined));
  const ends = a.stored.map((_, i) => Math.min(first + (i + 1) * step, to));
  return { in: rate(a.stored), out: rate(a.completed), active: a.active, deadLetter: a.deadLetter, scheduled: a.scheduled, ends, from: Math.min(first, to - leastSpan), to };
}

// roundUp returns the top of a scale that people can halve: 1, 2, 4, 5, 10, 20, ...
function roundUp(n: number): number {
  if (n <= 2) return 2;
  const size = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 10].map((f) => f * size).find((v) => v >= n)!;
}

const topOf = (...lines: Series[]) => Math.max(0, ...lines.flatMap((l) => l.map((v) => v ?? 0)));

const width = 1000, height = 100;

const x = (h: Hour, i: number) => ((h.ends[i]! - h.from) / Math.max(h.to - h.from, 1)) * width;

function lineOf(h: Hour, line: Series, top: number): string {
  let d = "";
  line.forEach((v, i) => {
    if (v !== undefined) d += `${d ? "L" : "M"}${x(h, i).toFixed(1)} ${(height - (v / top) * height).toFixed(1)}`;
  });
  return d && !d.includes("L") ? d + "h-20" : d; // the first seconds are one point, which alone would not be seen
}

function areaOf(h: Hour, line: Series, top: number): string {
  const d = lineOf(h, line, top), last = line.findLastIndex((v) => v !== undefined);
  return d.includes("L") ? `${d}L${x(h, last).toFixed(1)} ${height}L${x(h, 0).toFixed(1)} ${height}Z` : "";
}

// Small is one count with a scale of its own. now is what the tiles show.
function Small({ h, line, now, name, tone, read }: { h: Hour; line: Series; now: number; name: string; tone: string; read?: number }) {
  const most = Math.max(topOf(line), now), top = Math.max(most, 1), value = read === undefined ? now : line[read] ?? 0;
  return (
    <div class={`small-chart ${most > 0 ? tone : ""}`}>
      <p><span class="faint">{name}</span> <b class={value > 0 ? "" : "zero"}>{number(value)}</b><span class="faint push">{most > 0 && `max. ${short(most)}`}</span></p>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="area" d={areaOf(h, line, top)} /><path class="line" d={lineOf(h, line, top)} />
        {read !== undefined && <line class="cursor" x1={x(h, read)} x2={x(h, read)} y1="0" y2={height} />}
      </svg>
    </div>
  );
}

// ticksOf returns the whole minutes that the axis names, at most six.
function ticksOf(h: Hour): number[] {
  const minutes = [1, 2, 5, 10].find((m) => (h.to - h.from) / 60_000 / m <= 6) ?? 15, step = minutes * 60_000, list = [];
  for (let t = Math.ceil(h.from / step) * step; t <= h.to; t += step) list.push(t);
  return list;
}

const clockOf = (at: number, now: number) => time(at, now).slice(-8, -3);

function Plot({ h, out, minute, read, setRead }: { h: Hour; out: boolean; minute: Schemas["LastMinute"]; read?: number; setRead: (i?: number) => void }) {
  const top = roundUp(out ? topOf(h.in, h.out) : topOf(h.in)), n = h.ends.length, shown = read ?? n - 1;
  const reading = (i: number) => `${time(h.ends[i]!, h.to)}: in ${short(Math.round(h.in[i] ?? 0))}${out ? `, out ${short(Math.round(h.out[i] ?? 0))}` : ""} a minute, ${number(h.active[i] ?? 0)} active`;
  const rates = read === undefined ? [minute.stored, minute.completed] : [h.in, h.out].map((line) => Math.round(line[read] ?? line[read - 1] ?? 0));
  const find = (e: PointerEvent) => {
    const box = (e.currentTarget as HTMLElement).getBoundingClientRect(), at = h.from + ((e.clientX - box.left) / box.width) * (h.to - h.from);
    const i = h.ends.findIndex((end) => end >= at);
    setRead(i < 0 ? n - 1 : i);
  };
  const onKey = (e: KeyboardEvent) => {
    const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: n - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    setRead(Math.max(0, Math.min(to, n - 1)));
  };
  return (
    <div class="plot">
      <div class="plot-scale" aria-hidden="true"><span>{short(top)}</span><span>{short(top / 2)}</span><span>0</span></div>
      <div class="plot-box" role="slider" tabIndex={0} aria-label="A moment of the last hour" aria-valuemin={0} aria-valuemax={n - 1} aria-valuenow={shown} aria-valuetext={reading(shown)}
        onPointerMove={find} onPointerDown={find} onPointerLeave={() => setRead(undefined)} onBlur={() => setRead(undefined)} onKeyDown={onKey}>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {[0, 0.5, 1].map((y) => <line key={y} class="grid" x1="0" x2={width} y1={y * height} y2={y * height} />)}
          <path class="area" d={areaOf(h, h.in, top)} /><path class="line" d={lineOf(h, h.in, top)} />{out && <path class="line out" d={lineOf(h, h.out, top)} />}
          {read !== undefined && <line class="cursor" x1={x(h, read)} x2={x(h, read)} y1="0" y2={height} />}
        </svg>
      </div>
      <div class="plot-times" aria-hidden="true">{ticksOf(h).map((t) => <span key={t} style={{ left: ((t - h.from) / (h.to - h.from)) * 100 + "%" }}>{clockOf(t, h.to)}</span>)}</div>
      <p class="plot-read"><span class="key">in <b>{number(rates[0]!)}</b></span>{out && <span class="key out">out <b>{number(rates[1]!)}</b></span>}
        <span class="faint">{read === undefined ? "in the last minute" : `a minute, ${time(h.ends[read]!, h.to)}`}</span></p>
    </div>
  );
}

// Now is what the tiles above the chart show. Its legend says the same until the reader points at another moment.
interface Now {
  minute: Schemas["LastMinute"];
  active: number;
  deadLetter: number;
  scheduled: number;
}

// LastHour shows the last hour of an entity, or of the namespace without a path. had says that there was a message: without one there is nothing to show.
// A topic holds none.
export function LastHour({ of = "", had, now, holds = true }: { of?: string; had: boolean; now: Now; holds?: boolean }) {
  const namespace = route.value.namespace;
  const p = usePoll(JSON.stringify([namespace, of]), pause, (signal) => get<Activity>(of ? at`${namespace}/entities/${of}/activity` : at`${namespace}/activity`, {}, signal));
  const [read, setRead] = useState<number>();
  if (!had) return null;
  const h = p.value && hourOf(p.value), place = h && read !== undefined && read < h.ends.length ? read : undefined;
  const scheduled = now.scheduled > 0 || (h !== undefined && topOf(h.scheduled) > 0), alone = !holds && !scheduled;
  return (
    <Panel title="Last hour">
      <div class={`hour ${alone ? "alone" : ""}`}>
        {h && <Plot h={h} out={holds} minute={now.minute} read={place} setRead={setRead} />}
        {h && !alone && (
          <div class="hour-side">
            {holds && <Small h={h} line={h.active} now={now.active} name="Active" tone="" read={place} />}
            {holds && <Small h={h} line={h.deadLetter} now={now.deadLetter} name="Dead letters" tone="dead" read={place} />}
            {scheduled && <Small h={h} line={h.scheduled} now={now.scheduled} name="Scheduled" tone="scheduled" read={place} />}
          </div>
        )}
        {!h && p.error && <p class="hint">{p.error}</p>}
      </div>
    </Panel>
  );
}

// RateTiles show how many messages came and went in the last minute.
export function RateTiles({ minute, out = true }: { minute: Schemas["LastMinute"]; out?: boolean }) {
  return (
    <>
      <Tile name="In / min" value={number(minute.stored)} title="Messages sent in the last minute" />
      {out && <Tile name="Out / min" value={number(minute.completed)} title="Messages that receivers completed in the last minute" />}
    </>
  );
}
