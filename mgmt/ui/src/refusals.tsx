// What clients were refused lately: links and tokens. A program that "just does not connect" is here, with the reason that it got and the way out.
import { all, at, type Schemas } from "./api";
import { newEntity } from "./create";
import { number } from "./format";
import { Panel, Problem, Text, Time } from "./kit";
import { clientOf, shown, topicOf } from "./names";
import { usePoll } from "./poll";
import { link } from "./route";
import { entities, entityAt } from "./state";

type Refusal = Schemas["Refusal"];

const most = 20;

// Group is the same refusal again and again, as clients that retry get it.
interface Group {
  newest: Refusal;
  times: number;
}

function grouped(list: Refusal[]): Group[] {
  const groups = new Map<string, Group>();
  for (const r of list) { // the newest first
    const key = JSON.stringify([clientOf(r.client), r.operation, r.entity, r.subQueue, r.text]), g = groups.get(key);
    if (g) g.times++;
    else groups.set(key, { newest: r, times: 1 });
  }
  return [...groups.values()];
}

// distance is how many letters differ: put in, left out, replaced, or swapped with the next one.
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const before = rows[i - 1]!;
      let n = Math.min(before[j]! + 1, row[j - 1]! + 1, before[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) n = Math.min(n, rows[i - 2]![j - 2]! + 1);
      row.push(n);
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}

const longest = 60; // of names that are compared

// nearest returns the entity whose path is most like one that does not exist.
function nearest(path: string): string | undefined {
  if (path.length > longest) return undefined;
  const of = path.toLowerCase(), near = (entities.value ?? []).filter((e) => Math.abs(e.path.length - of.length) <= 2).slice(0, 2000)
    .map((e) => ({ path: e.path, n: distance(of, e.path.toLowerCase()) })).sort((a, b) => a.n - b.n)[0];
  return near && near.n <= Math.min(2, Math.floor(of.length / 3)) ? near.path : undefined;
}

function Asked({ r }: { r: Refusal }) {
  if (!r.entity) return <span class="faint">the namespace</span>;
  const path = r.subQueue ? `${r.entity}/${r.subQueue}` : r.entity;
  return entityAt.value.has(r.entity.toLowerCase()) ? <a href={link("entity", r.entity)}><Text>{shown(path)}</Text></a> : <Text>{shown(path)}</Text>;
}

// WayOut says what to do about an entity that does not exist.
function WayOut({ r }: { r: Refusal }) {
  if (!r.entity || r.condition !== "amqp:not-found" || entityAt.value.has(r.entity.toLowerCase())) return null;
  const near = nearest(r.entity), topic = topicOf(r.entity), name = topic ? r.entity.slice(topic.length + "/Subscriptions/".length) : r.entity;
  return (
    <p class="way-out">{near && <>Did you mean <a href={link("entity", near)}><Text>{shown(near)}</Text></a>? </>}
      {topic ? <a href={newEntity("subscription", topic, name)}>Create the subscription</a> : <>Create <a href={newEntity("queue", undefined, name)}>a queue</a> or <a href={newEntity("topic", undefined, name)}>a topic</a> of this name.</>}</p>
  );
}

export function Refusals({ namespace }: { namespace: string }) {
  const p = usePoll(namespace, 5000, (signal) => all<Refusal>(at`${namespace}/refusals`, { limit: undefined }, 256, signal));
  if (p.error) return <Problem text={p.error} retry={p.refresh} />;
  if (!p.value?.length) return null;
  const groups = grouped(p.value);
  return (
    <Panel title="Refused lately" flush actions={groups.length > most && <span class="faint">the latest {most}</span>}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Refused lately">
        <table class="plain lines refusals">
          <thead><tr><th>Last</th><th class="right">Times</th><th>Client</th><th>Asked for</th><th>Reason</th></tr></thead>
          <tbody>{groups.slice(0, most).map(({ newest: r, times }) => (
            <tr key={r.time + r.text}>
              <td><Time at={r.time} real brief /></td>
              <td class="right" data-label="times">{number(times)}</td>
              <td><Text>{clientOf(r.client)}</Text></td>
              <td>{r.operation === "attach" ? "a link to" : "a token for"} <Asked r={r} /></td>
              <td class="wrap"><Text>{r.text}</Text><WayOut r={r} /></td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </Panel>
  );
}
