// What a configuration would change, entity by entity and setting by setting.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Schemas } from "./api";
import { duration, number, plural } from "./format";
import { Badge, Button, Empty, Panel, Problem, Text, type Children } from "./kit";
import { shown, words } from "./names";
import { link } from "./route";
import { titleOf } from "./settings";
import { entityAt } from "./state";

type Diff = Schemas["ConfigDiff"];
type EntityDiff = Schemas["EntityDiff"];

const actions: Record<EntityDiff["action"], { title: string; tone: string; sign: string }> = {
  refuse: { title: "can’t be applied", tone: "bad", sign: "!" }, delete: { title: "deleted", tone: "bad", sign: "−" }, change: { title: "changed", tone: "warn", sign: "~" },
  create: { title: "created", tone: "good", sign: "+" }, leave: { title: "not in the file, stays", tone: "", sign: "·" }, keep: { title: "unchanged", tone: "", sign: "=" },
};

const order = Object.keys(actions);
const quiet = ["leave", "keep"];
const most = 200; // entities that are shown at first

// held counts the messages of an entity, by the counts of the page.
function held(e: EntityDiff): number {
  const c = entityAt.value.get(e.path.toLowerCase())?.counts;
  return c ? c.scheduled + (e.kind === "topic" ? 0 : c.active + c.deadLetter + c.transfer + c.transferDeadLetter) : 0;
}

// lossesOf counts the messages that go with the entities that a configuration deletes.
export const lossesOf = (d: Diff): number => d.entities.filter((e) => e.action === "delete").reduce((n, e) => n + held(e), 0);

function ValueText({ value }: { value: unknown }) {
  if (value === undefined || value === "") return <span class="faint">none</span>;
  if (typeof value === "boolean") return <code>{value ? "on" : "off"}</code>;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return <code class="wrap" title={text}>{/^-?P\d*[DT]/.test(text) ? duration(text) : <Text>{text}</Text>}</code>;
}

function Row({ e, applied }: { e: EntityDiff; applied: boolean }) {
  const a = actions[e.action], lost = e.action === "delete" && !applied ? held(e) : 0, gone = e.action === "delete" && applied;
  const there = e.action !== "create" || applied;
  return (
    <li class={`diff ${e.action}`}>
      <p><span class="sign" aria-hidden="true">{a.sign}</span> <span class={`icon ${e.kind}`} aria-hidden="true" /> {there && !gone ? <a href={link("entity", e.path)}><Text>{shown(e.path)}</Text></a> : <b><Text>{shown(e.path)}</Text></b>}{" "}
        <Badge tone={a.tone}>{e.kind} {a.title}</Badge> {lost > 0 && <b class="dead-text">{plural(lost, "message")} lost</b>}</p>
      {e.why && <p class="wrong wrap"><Text>{e.why}</Text></p>}
      {(e.settings ?? []).length > 0 && (
        <ul class="changes">{e.settings!.map((s) => (
          <li key={s.name}><span class="faint"><Text>{s.name.startsWith("Rules[") ? `rule ${s.name.slice(6, -1)}` : titleOf(s.name) ?? words(s.name)}</Text></span> <ValueText value={s.from} /> → <ValueText value={s.to} /> {s.fixed && <Badge tone="bad">set at creation</Badge>}</li>
        ))}</ul>
      )}
    </li>
  );
}

export function DiffView({ diff, children }: { diff: Diff; children: Children }) {
  const [all, setAll] = useState(false), top = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => top.current?.scrollIntoView({ block: "nearest" }), []); // whoever has asked looks for the answer
  const list = [...diff.entities].filter((e) => all || !quiet.includes(e.action)).sort((a, b) => order.indexOf(a.action) - order.indexOf(b.action));
  const s = diff.summary, hidden = diff.entities.length - list.length, lost = lossesOf(diff);
  const parts = ([["create", s.create], ["change", s.change], ["delete", s.delete], ["refuse", s.refuse]] as const).filter(([, n]) => n > 0);
  return (
    <div ref={top}><Panel title={diff.applied ? "Applied" : "Changes"} actions={children}>
      <p role="status" class="summary">{diff.same ? <b>No changes.</b> : parts.map(([a, n]) => <Badge key={a} tone={actions[a].tone}>{number(n)} {actions[a].title}</Badge>)}
        {!diff.applied && s.delete > 0 && (lost > 0 ? <b class="dead-text">{plural(lost, "message")} lost</b> : <span class="faint">no message lost</span>)}</p>
      {diff.refused && <Problem text={diff.entities.some((e) => e.why) ? "Nothing can be applied while one entity can’t." : `Nothing can be applied. ${diff.refused}`} />}
      {diff.notes.map((n) => <p key={n} class="note"><Text>{n}</Text></p>)}
      {list.length > 0 && <ul class="diffs">{list.slice(0, most).map((e) => <Row key={e.path} e={e} applied={diff.applied} />)}</ul>}
      {list.length > most && <p class="hint">{number(list.length - most)} more not shown.</p>}
      {diff.same && list.length === 0 && hidden === 0 && <Empty title="No entities" />}
      {(hidden > 0 || all) && <div><Button small act={() => setAll(!all)}>{all ? "Show changes only" : `Show ${number(hidden)} unchanged`}</Button></div>}
    </Panel></div>
  );
}
