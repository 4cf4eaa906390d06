// The clock of the namespace: what it shows, what is due next, and how to advance it. A step that something falls due in asks first.
import { useState } from "preact/hooks";
import { at, call, get, textOf } from "./api";
import { ask } from "./asking";
import { msOf } from "./durations";
import { both, number, plural, span, time, zone } from "./format";
import { InstantField, instantTyped } from "./instantfield";
import { Button, Empty, Facts, Loading, Panel, Problem, Text, Time } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { link, route } from "./route";
import { isoSpan, SpanField } from "./spanfield";
import { clock, now, refreshClock, type Clock } from "./state";
import { tell } from "./toasts";

const kinds: Record<Clock["due"][number]["kind"], string> = {
  lockEnds: "A message lock expires", scheduled: "Scheduled messages become active", expires: "Messages expire", sessionLockEnds: "A session lock expires",
  forwardRetried: "Forwarding is tried again", idle: "The entity is deleted unless it is used",
};

const steps: [string, string][] = [["PT1S", "1 s"], ["PT30S", "30 s"], ["PT1M", "1 min"], ["PT5M", "5 min"], ["PT1H", "1 h"], ["PT12H", "12 h"], ["P1D", "1 day"]];

type Forecast = NonNullable<Clock["forecast"]>;

const inEntities = (n: number) => ` in ${plural(n, "entity", "entities")}`;

// linesOf says what falls due, the losses first.
function linesOf({ expire, deadLettered, activate, unlock, delete: gone }: Forecast): string[] {
  const removed = expire.messages - deadLettered, lines: string[] = [];
  if (expire.messages > 0) {
    const become = deadLettered === 0 ? "" : removed === 0 ? ", as dead letters" : `: ${number(removed)} removed, ${number(deadLettered)} dead-lettered`;
    lines.push(`${plural(expire.messages, "message")} ${expire.messages === 1 ? "expires" : "expire"}${inEntities(expire.entities)}${become}.`);
  }
  if (gone.entities > 0) lines.push(`${plural(gone.entities, "idle entity is", "idle entities are")} deleted, with ${plural(gone.messages, "message")}.`);
  if (activate.messages > 0) lines.push(`${plural(activate.messages, "scheduled message becomes", "scheduled messages become")} active${inEntities(activate.entities)}.`);
  if (unlock.messages > 0) lines.push(`${plural(unlock.messages, "lock expires", "locks expire")}${inEntities(unlock.entities)}.`);
  return lines;
}

function Due({ due, advanceTo }: { due: Clock["due"]; advanceTo: (at: number) => Promise<void> }) {
  if (due.length === 0) return <Empty title="Nothing is due"><p>No message is locked or scheduled, and none expires.</p></Empty>;
  return (
    <table role="table" class="plain stacks due" aria-label="Due next">
      <thead role="rowgroup"><tr role="row">{["When", "What", "Entity", "Actions"].map((h, i) => <th key={h} role="columnheader">{i < 3 ? h : <span class="hidden">{h}</span>}</th>)}</tr></thead>
      <tbody role="rowgroup">{due.map((d, i) => (
        <tr key={i} role="row"><td role="cell"><Time at={d.at} /></td><td role="cell">{kinds[d.kind]}</td><td role="cell"><a href={link("entity", d.entity)}><Text>{shown(d.entity)}</Text></a></td>
          <td role="cell" class="right"><Button small act={() => advanceTo(Date.parse(d.at))}>Advance to this</Button></td></tr>
      ))}</tbody>
    </table>
  );
}

export function ClockScreen() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 2000, (signal) => get<Clock>(at`${namespace}/clock`, { due: 50 }, signal));
  const [by, setBy] = useState("10m"), [wrongBy, setWrongBy] = useState(""), [until, setUntil] = useState(""), [wrongUntil, setWrongUntil] = useState("");
  const c = p.value;
  if (!c) return <><h1>Clock</h1>{p.error ? <Problem text={p.error} retry={p.refresh} /> : <Loading />}</>;
  const done = (next: Clock, text: string) => {
    refreshClock(next);
    p.refresh();
    tell(text);
  };
  // step lets act advance the clock to an instant, after a question if something falls due until then.
  const step = async (to: number, act: () => Promise<void>) => {
    const { forecast } = await get<Clock>(at`${namespace}/clock`, { due: 0, until: new Date(to).toISOString() }), lines = forecast ? linesOf(forecast) : [];
    if (lines.length === 0) return act();
    ask({
      title: `Advance the clock by ${span(to - now.value)}?`, yes: "Advance", losing: "advance", act,
      text: <><ul class="due-lines">{lines.map((text) => <li key={text}>{text}</li>)}</ul><p class="hint">More may fall due as a result. A clock never goes back.</p></>,
    });
  };
  const advance = (iso: string) =>
    step(now.value + msOf(iso), async () => done(await call<Clock>("POST", at`${namespace}/clock/advance`, { body: { by: iso } }), `Advanced by ${span(msOf(iso))}.`));
  const advanceTo = (to: number) =>
    step(to, async () => done(await call<Clock>("PUT", at`${namespace}/clock`, { body: { now: new Date(to).toISOString() } }), `Advanced to ${time(to, now.value)}.`));
  const freeze = async () => done(await call<Clock>("POST", at`${namespace}/clock/freeze`), "The clock is frozen.");
  const resume = async () => done(await call<Clock>("POST", at`${namespace}/clock/resume`), "The clock runs again.");
  const submitBy = (e: Event) => {
    e.preventDefault();
    setWrongBy("");
    void advance(isoSpan(by)!).catch((x) => setWrongBy(textOf(x)));
  };
  const submitUntil = (e: Event) => {
    e.preventDefault();
    const to = instantTyped(until, now.value);
    if (to <= now.value) return setWrongUntil("This clock is past that time, and never goes back.");
    void advanceTo(to).catch((x) => setWrongUntil(textOf(x)));
  };
  const offset = clock.value?.offset ?? 0;
  return (
    <>
      <h1>Clock</h1>
      {p.error && <Problem text={p.error} />}
      <Panel title="Now" actions={c.frozen ? <Button kind="primary" act={resume}>Resume</Button> : <Button act={freeze}>Freeze</Button>}>
        <p class={`big-clock ${p.error ? "stale" : ""}`}><span title={both(now.value)}>{time(now.value, Date.now())}</span>{c.frozen && <span class="badge warn">frozen</span>}</p>
        <Facts facts={[["Offset", offset === 0 ? "none" : `${span(offset)} ${offset > 0 ? "ahead of" : "behind"} this computer`], [zone.value === "utc" ? "Zone" : "UTC", zone.value === "utc" ? "UTC" : new Date(now.value).toISOString().replace(/\.\d+/, "").replace("T", " ")]]} />
        <p class="hint">Locks, schedules, times to live and idle entities follow this clock. Connections, tokens and waiting receivers follow real time, so clients stay connected.</p>
        {offset !== 0 && <p>A clock never goes back by itself. To put it back, <a href={link("snapshots")}>restore a snapshot</a> or <a href={link("snapshots")}>reset the namespace</a>.</p>}
      </Panel>
      <Panel title="Advance">
        <div class="bar">{steps.map(([iso, title]) => <Button key={iso} act={() => advance(iso)}>+ {title}</Button>)}</div>
        <div class="clock-forms">
          <form class="bar span-bar" onSubmit={submitBy}>
            <SpanField label="By a duration" value={by} set={(text) => { setBy(text); setWrongBy(""); }} wrong={wrongBy} />
            <Button type="submit" disabled={!by.trim()}>Advance by this</Button>
          </form>
          <form class="bar span-bar" onSubmit={submitUntil}>
            <InstantField label="To a time" value={until} set={(text) => { setUntil(text); setWrongUntil(""); }} now={now.value} wrong={wrongUntil} />
            <Button type="submit" disabled={!until.trim()}>Advance to this</Button>
          </form>
        </div>
        <p class="hint">If a step removes messages or makes something fall due, you are told first and can save a snapshot.</p>
      </Panel>
      <Panel title="Due next" flush><Due due={c.due} advanceTo={advanceTo} /></Panel>
    </>
  );
}
