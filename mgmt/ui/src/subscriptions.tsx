// The subscriptions of a topic: what each selects, what it got, and who takes it.
import { at, get, type Schemas } from "./api";
import { quoted, Shell } from "./connect";
import { newEntity } from "./create";
import { number } from "./format";
import { JMSBadge } from "./jms";
import { Badge, Empty, Name, Panel, Problem, Text } from "./kit";
import { natural } from "./names";
import { usePoll } from "./poll";
import { link, route } from "./route";
import { fieldName } from "./ruletext";

type Subscribed = Schemas["PageRuledSubscription"]["items"][number];

// briefly is a rule in few words.
function briefly({ FilterType: type, SqlFilter: sql, CorrelationFilter: equal }: Subscribed["rules"][number]["properties"]): string {
  if (type === "Sql") return sql?.SqlExpression ?? "";
  if (type !== "Correlation") return type === "False" ? "no message" : "all messages";
  const { Properties: named, ...fields } = (equal ?? {}) as Record<string, unknown>;
  const value = (v: unknown) => (v !== null && typeof v === "object" && "Value" in v ? String(v.Value) : String(v));
  return [...Object.entries(fields).map(([k, v]) => [fieldName(k), v]), ...Object.entries((named ?? {}) as object)].map(([k, v]) => `${k} = ${value(v)}`).join(", ") || "all messages";
}

// RuleBrief is the first rule of a subscription, and how many there are besides.
function RuleBrief({ s }: { s: Subscribed }) {
  const [first, ...rest] = s.rules;
  if (!first) return <Badge tone="warn">no rule</Badge>;
  return <a class="rule-brief" href={link("entity", s.path, "rules")}><Text>{briefly(first.properties)}</Text>{rest.length > 0 && <span class="faint">+{rest.length}</span>}</a>;
}

// Subscriptions tells which subscriptions of a topic get what, and what became of it.
export function Subscriptions({ topic, sent: known }: { topic: string; sent: number }) {
  const namespace = route.value.namespace;
  const p = usePoll(JSON.stringify([namespace, topic]), 3000, (signal) => get<Schemas["PageRuledSubscription"]>(at`${namespace}/entities/${topic}/subscriptions`, {}, signal));
  const list = (p.value?.items ?? []).toSorted((x, y) => natural(x.name, y.name));
  const sent = Math.max(known, ...list.map((s) => s.traffic.stored)); // what is known of the topic may be a moment older
  return (
    <Panel title="Subscriptions" flush actions={<a class="button small" href={newEntity("subscription", topic)}>New subscription</a>}>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {p.value && list.length === 0 && <Empty title="A topic without subscriptions drops every message."><p><a href={newEntity("subscription", topic)}>Create the first one</a>, or in a shell:</p><Shell lines={[`minibus sub create ${quoted(topic + "/audit")}`]} /></Empty>}
      {list.length > 0 && (
        <table role="table" class="plain stacks subscriptions" aria-label="Subscriptions">
          <thead role="rowgroup"><tr role="row">{["Subscription", "Filter", "Matched", "Active", "Dead letters", "Forwards to", "Receivers"].map((h, i) => <th key={h} role="columnheader" class={[2, 3, 4, 6].includes(i) ? "right" : ""} title={i === 2 ? "Copies of the messages sent since Minibus started" : undefined}>{h}</th>)}</tr></thead>
          <tbody role="rowgroup">{list.map((s) => {
            const none = sent > 0 && s.traffic.stored === 0;
            return (
              <tr key={s.path} role="row">
                <td role="cell"><a class="entity-name" href={link("entity", s.path)}><span class="icon subscription" aria-hidden="true" /><Name>{s.name}</Name><JMSBadge e={s} /></a>{s.status !== "Active" && <Badge tone="warn">{s.status}</Badge>}</td>
                <td role="cell"><RuleBrief s={s} /></td>
                <td role="cell" class="right" data-label="matched">{none ? <a class="warn-text" href={link("entity", s.path, "why")} title="Why?">0 of {number(sent)}</a> : `${number(s.traffic.stored)} of ${number(sent)}`}</td>
                <td role="cell" class="right" data-label="active"><a class="ink" href={link("entity", s.path, "messages")}>{number(s.counts.active)}</a></td>
                <td role="cell" class={`right ${s.counts.deadLetter ? "" : "wide-only"}`} data-label="dead letters">{s.counts.deadLetter ? <a class="dead-text" href={link("entity", s.path, "dead")}>{number(s.counts.deadLetter)}</a> : <span class="faint">0</span>}</td>
                <td role="cell" class={s.forwardTo ? "" : "wide-only"} data-label="forwards to">{s.forwardTo ? <a href={link("entity", s.forwardTo)}><Text>{s.forwardTo}</Text></a> : <span class="faint">–</span>}</td>
                <td role="cell" class="right" data-label="receivers">{s.receivers || s.forwardTo ? <span class={s.receivers ? "" : "faint"}>{number(s.receivers)}</span> : <a class="faint" href={link("entity", s.path, "why")} title="Why?">0</a>}</td>
              </tr>
            );
          })}</tbody>
        </table>
      )}
    </Panel>
  );
}
