// When scheduled messages become active: a strip of minutes, hours or days. A click shows the messages of that time.
import { useState } from "preact/hooks";
import { at, get, type Schemas } from "./api";
import { age, instantOf, number, plural, time, zone } from "./format";
import { keptHere } from "./kept";
import { Panel, Problem } from "./kit";
import { usePoll } from "./poll";
import { refine, route } from "./route";
import { entityAt, now } from "./state";

type Upcoming = Schemas["Upcoming"];

interface View {
  name: string;
  title: string;
  bars: number;
  step: string; // what the server counts by
  perBar: number; // steps of a bar, if bars are all as long
  begin: (d: Date, utc: boolean) => void; // rounds down to the beginning of a bar
  next: (d: Date, utc: boolean) => void; // goes on to the next bar
  tick: (d: Date, i: number, utc: boolean) => string; // what stands below a bar; empty: nothing
}

const two = (n: number) => String(n).padStart(2, "0");
const hours = (d: Date, utc: boolean) => (utc ? d.getUTCHours() : d.getHours());
const minutes = (d: Date, utc: boolean) => (utc ? d.getUTCMinutes() : d.getMinutes());
const dayOf = (d: Date, utc: boolean) => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: utc ? "UTC" : undefined }).format(d);
const midnight = (d: Date, utc: boolean) => (utc ? d.setUTCHours(0, 0, 0, 0) : d.setHours(0, 0, 0, 0));

const views: View[] = [
  { name: "hour", title: "Hour", bars: 60, step: "PT1M", perBar: 1, begin: (d) => void d.setSeconds(0, 0), next: (d) => void d.setTime(d.getTime() + 60_000),
    tick: (d, _, utc) => (minutes(d, utc) % 10 === 0 ? `${two(hours(d, utc))}:${two(minutes(d, utc))}` : "") },
  { name: "day", title: "Day", bars: 24, step: "PT1H", perBar: 1, begin: (d, utc) => void (utc ? d.setUTCMinutes(0, 0, 0) : d.setMinutes(0, 0, 0)), next: (d) => void d.setTime(d.getTime() + 3_600_000),
    tick: (d, _, utc) => (hours(d, utc) % 3 !== 0 ? "" : hours(d, utc) === 0 ? dayOf(d, utc) : `${two(hours(d, utc))}:00`) },
  // Days are counted by hours, since some have 23 or 25.
  { name: "month", title: "Month", bars: 35, step: "PT1H", perBar: 0, begin: (d, utc) => void midnight(d, utc), next: (d, utc) => { if (utc) d.setUTCDate(d.getUTCDate() + 1); else d.setDate(d.getDate() + 1); },
    tick: (d, i, utc) => (i % 7 === 0 ? dayOf(d, utc) : "") },
];

interface Bar {
  from: number;
  to: number;
  count: number;
  tick: string;
}

function barsOf(v: View, u: Upcoming, utc: boolean): Bar[] {
  const d = new Date(u.from);
  const bars: Bar[] = [];
  for (let i = 0; i < v.bars; i++) {
    const from = d.getTime(), tick = v.tick(d, i, utc);
    v.next(d, utc);
    bars.push({ from, to: d.getTime(), count: 0, tick });
  }
  for (const s of u.steps) {
    const t = Date.parse(s.from), bar = bars.find((b) => t >= b.from && t < b.to);
    if (bar) bar.count += s.messages;
  }
  return bars;
}

// suits returns the view in which an instant that is so far away is seen best.
const suits = (ms: number) => (ms < 3_600_000 ? "hour" : ms < 86_400_000 ? "day" : "month");

const latest = Date.UTC(9999, 10, 1); // a strip that begins then ends before the last time of the server

const iso = (ms: number) => new Date(ms).toISOString();

function Strip({ bars, path }: { bars: Bar[]; path: string }) {
  const q = route.value.query, most = Math.max(1, ...bars.map((b) => b.count));
  const words = (b: Bar) => `${time(b.from, now.value)} to ${time(b.to, b.from)}: ${plural(b.count, "message")}`;
  return (
    <div class="strip" role="group" aria-label={`Scheduled messages of ${path} by time`}>
      {bars.map((b) => {
        const tall = { height: b.count ? `${12 + Math.round((88 * b.count) / most)}%` : "2px" };
        const on = q.dueAfter === iso(b.from) && q.dueBefore === iso(b.to);
        return (
          <div key={b.from} class="strip-bar">
            {b.count > 0
              ? <button type="button" class="strip-hit" aria-pressed={on} aria-label={words(b)} title={words(b)} onClick={() => refine(on ? { dueAfter: undefined, dueBefore: undefined, state: undefined } : { state: "scheduled", dueAfter: iso(b.from), dueBefore: iso(b.to) })}><span class="strip-fill" style={tall} /></button>
              : <span class="strip-hit" title={words(b)}><span class="strip-fill" style={tall} /></span>}
            <span class="strip-tick" aria-hidden="true">{b.tick}</span>
          </div>
        );
      })}
    </div>
  );
}

const unfolded = keptHere("calendar", false);

// Calendar is one line, which unfolds to a strip that shows when the scheduled messages of a queue or topic become active; nothing if there are none.
export function Calendar({ path }: { path: string }) {
  const { namespace, query } = route.value, utc = zone.value === "utc";
  const [auto, setAuto] = useState<string>();
  const name = query.view ?? auto ?? "day", v = views.find((x) => x.name === name) ?? views[1]!;
  const begin = () => {
    const d = new Date(Math.min(instantOf(query.at ?? "") ?? now.value, latest));
    v.begin(d, utc);
    return d;
  };
  const p = usePoll(JSON.stringify([namespace, path, v.name, query.at, utc]), 4000, async (signal) => {
    const u = await get<Upcoming>(at`${namespace}/entities/${path}/schedule`, { from: begin().toISOString(), step: v.step, steps: v.perBar ? v.bars : v.bars * 24 + 1 }, signal);
    if (!query.view && !auto && u.next) setAuto(suits(Date.parse(u.next) - now.value));
    return u;
  });
  const u = p.value, count = entityAt.value.get(path.toLowerCase())?.counts.scheduled ?? 0;
  if (count === 0) return null;
  const bars = u ? barsOf(v, u, utc) : [], shown = bars.reduce((n, b) => n + b.count, 0);
  const turn = (by: number) => {
    const d = begin();
    const length = (bars.at(-1)?.to ?? d.getTime()) - d.getTime();
    refine({ view: v.name, at: iso(d.getTime() + by * length) });
  };
  const to = (ms: number) => {
    unfolded.value = true;
    refine({ view: suits(0), at: iso(ms - 300_000) });
  };
  const when = (ms: number) => {
    const d = new Date(ms);
    return `${dayOf(d, utc)} ${two(hours(d, utc))}:${two(minutes(d, utc))}`;
  };
  return (
    <>
      <div class="one-line">
        <button type="button" class="unfold" aria-expanded={unfolded.value} onClick={() => (unfolded.value = !unfolded.value)}>{number(count)} scheduled</button>
        {u?.next && <span class="faint">next due <button type="button" class="link" title={time(Date.parse(u.next), now.value)} onClick={() => to(Date.parse(u.next!))}>{age(Date.parse(u.next), now.value)}</button></span>}
      </div>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {unfolded.value && (
        <Panel title="Due times" actions={(
          <>
            <div class="chips" role="group" aria-label="Span of the calendar">{views.map((x) => <button key={x.name} type="button" class="chip" aria-pressed={x === v} onClick={() => refine({ view: x.name })}>{x.title}</button>)}</div>
            <button type="button" class="button small" aria-label="Earlier" onClick={() => turn(-1)}>‹</button>
            <button type="button" class="button small" disabled={!query.at} onClick={() => refine({ at: undefined })}>Now</button>
            <button type="button" class="button small" aria-label="Later" onClick={() => turn(1)}>›</button>
          </>
        )}>
          {u ? <Strip bars={bars} path={path} /> : <div class="strip" />}
          {u && bars.length > 0 && (
            <p class="hint strip-foot">
              <span>{when(bars[0]!.from)} to {when(bars.at(-1)!.to)}: {plural(shown, "message")}</span>
              {u.total > shown && <span>{plural(u.total - shown, "message")} outside this span</span>}
            </p>
          )}
        </Panel>
      )}
    </>
  );
}
