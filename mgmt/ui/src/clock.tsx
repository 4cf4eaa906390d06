// The clock of the namespace: what it shows, what is due next, and how to let time pass.
import { useState } from "preact/hooks";
import { at, call, get, textOf } from "./api";
import { ask } from "./asking";
import { age, both, duration, time, zone } from "./format";
import { Button, Empty, Facts, Field, Loading, Panel, Problem, Text, Time } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { link, route } from "./route";
import { isoSpan, SpanField } from "./spanfield";
import { now, refreshClock, type Clock } from "./state";
import { tell } from "./toasts";

const kinds: Record<Clock["due"][number]["kind"], string> = {
  lockEnds: "a lock ends", scheduled: "scheduled messages become active", expires: "messages expire", sessionLockEnds: "the lock of a session ends",
  forwardRetried: "a forward is tried again", idle: "the entity is deleted unless it is used",
};

const steps: [string, string][] = [["PT1S", "1 s"], ["PT30S", "30 s"], ["PT1M", "1 min"], ["PT5M", "5 min"], ["PT1H", "1 h"], ["PT12H", "12 h"], ["P1D", "1 day"]];

export function ClockScreen() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 2000, (signal) => get<Clock>(at`${namespace}/clock`, { due: 50 }, signal));
  const [by, setBy] = useState("10m"), [wrong, setWrong] = useState(""), [until, setUntil] = useState("");
  const c = p.value;
  if (!c) return p.error ? <Problem text={p.error} retry={p.refresh} /> : <Loading />;
  const done = (next: Clock, text: string) => {
    refreshClock(next);
    p.refresh();
    tell(text);
  };
  const advance = async (span: string) => done(await call<Clock>("POST", at`${namespace}/clock/advance`, { body: { by: span } }), `Time has passed: ${duration(span)}.`);
  const set = async (instant: string) => done(await call<Clock>("PUT", at`${namespace}/clock`, { body: { now: instant } }), "The clock was advanced.");
  const freeze = async () => done(await call<Clock>("POST", at`${namespace}/clock/freeze`), "Time stands still.");
  const resume = async () => done(await call<Clock>("POST", at`${namespace}/clock/resume`), "Time goes on.");
  const toInstant = (s: string) => new Date(zone.value === "utc" ? s + "Z" : s).toISOString();
  return (
    <>
      <h1>Clock</h1>
      {p.error && <Problem text={p.error} />}
      <Panel title="What the namespace takes for now" actions={c.frozen ? <Button kind="primary" act={resume}>Resume</Button> : <Button act={freeze}>Freeze</Button>}>
        <p class="big-clock"><span title={both(now.value)}>{time(now.value, Date.now())}</span>{c.frozen && <span class="badge warn">frozen</span>}</p>
        <Facts facts={[["Ahead of the machine’s clock", duration(c.offset) === "0 s" ? "no" : duration(c.offset)], ["UTC", new Date(now.value).toISOString().replace(/\.\d+/, "")]]} />
        <p class="hint">Locks, schedules, times to live and idle entities follow this clock. Connections, tokens and receivers that wait follow real time, so clients stay connected while an hour passes here.</p>
      </Panel>
      <Panel title="Let time pass">
        <div class="bar">{steps.map(([span, title]) => <Button key={span} act={() => advance(span)}>+ {title}</Button>)}</div>
        <form class="bar span-bar" onSubmit={(e) => { e.preventDefault(); setWrong(""); void advance(isoSpan(by)!).catch((x) => setWrong(textOf(x))); }}>
          <SpanField label="By a duration" value={by} set={(text) => { setBy(text); setWrong(""); }} wrong={wrong} />
          <Button type="submit" disabled={!by.trim()}>Advance</Button>
        </form>
        <form class="bar" onSubmit={(e) => { e.preventDefault(); void set(toInstant(until)).catch((x: Error) => tell(x.message, true)); }}>
          <Field label={`To an instant (${zone.value === "utc" ? "UTC" : "local time"})`}><input type="datetime-local" step="1" value={until} onInput={(e) => setUntil(e.currentTarget.value)} /></Field>
          <Button type="submit" disabled={!until}>Advance</Button>
        </form>
      </Panel>
      <Panel title="What happens next by itself" flush>
        {c.due.length === 0 && <Empty title="Nothing is due: no lock is held, nothing is scheduled, nothing expires." />}
        {c.due.length > 0 && (
          <div class="scroll"><table class="plain">
            <thead><tr><th>When</th><th>What</th><th>Entity</th><th><span class="hidden">Actions</span></th></tr></thead>
            <tbody>{c.due.map((d, i) => (
              <tr key={i}><td><Time at={d.at} /></td><td>{kinds[d.kind]}</td><td><a href={link("entity", d.entity)}><Text>{shown(d.entity)}</Text></a></td>
                <td class="right"><Button small act={() => ask({
                  title: "Advance the clock?", yes: "Advance",
                  text: <p>All that is due until then happens, in every entity of the namespace: {age(Date.parse(d.at), now.value)}. A clock never goes back.</p>, act: () => set(d.at),
                })}>Advance to it</Button></td></tr>
            ))}</tbody>
          </table></div>
        )}
      </Panel>
    </>
  );
}
