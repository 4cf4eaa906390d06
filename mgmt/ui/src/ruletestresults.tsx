// What each subscription would do with a message: which rule selects it, with which changes, and what the other rules saw.
import { useState } from "preact/hooks";
import type { Schemas } from "./api";
import { number, plural } from "./format";
import { Badge, Button, Empty, Panel, Problem, Text, Time } from "./kit";
import { textOfValue, typed } from "./message";
import { shown } from "./names";
import { link, withQuery } from "./route";

type Matching = Schemas["Matching"];
type Subscription = Schemas["SubscriptionMatching"];
type Copy = Schemas["MatchedCopy"];
type Rule = Schemas["RuleMatching"];

const most = 100; // subscriptions that are shown at first

function ValueText({ value }: { value: unknown }) {
  if (value === undefined) return <span class="faint">none</span>;
  const t = typed(value);
  return <><code class="wrap"><Text>{textOfValue(value)}</Text></code> <span class="faint">{t.type}</span></>;
}

function CopyView({ c, rules }: { c: Copy; rules: Rule[] }) {
  const dead = c.subQueue !== undefined, rule = rules.find((r) => r.name === c.rule);
  return (
    <div class="copy">
      <p>{dead ? <Badge tone="bad">a dead letter</Badge> : <Badge tone="good">a copy</Badge>} {c.rule !== undefined ? <>by the rule <b><Text>{c.rule}</Text></b> {rule && <code class="wrap"><Text>{rule.filter}</Text></code>}</> : "because a rule failed"}</p>
      {dead && <p class="wrap"><Text>{c.deadLetterReason ?? ""}</Text>{c.deadLetterErrorDescription && <>: <Text>{c.deadLetterErrorDescription}</Text></>}</p>}
      {c.changes.length > 0 && (
        <ul class="changes">{c.changes.map((x) => (
          <li key={x.property}><b><Text>{x.property}</Text></b> <ValueText value={x.before} /> → {x.removed ? <span class="faint">removed</span> : <ValueText value={x.after} />}</li>
        ))}</ul>
      )}
      {c.forwards.length > 0 && <p>forwarded to {c.forwards.map((f, i) => <span key={i}>{i > 0 && " → "}<a href={link("entity", f)}><Text>{shown(f)}</Text></a></span>)}</p>}
      {c.stopped && <p class="wrong wrap"><Text>{c.stopped}</Text></p>}
    </div>
  );
}

const tones = { true: "good", false: "", unknown: "warn", error: "bad" } as const;

function RuleView({ r }: { r: Rule }) {
  return (
    <li class="verdict">
      <p><Badge tone={tones[r.outcome]}>{r.outcome}</Badge> <b><Text>{r.name}</Text></b> <code class="wrap"><Text>{r.filter}</Text></code></p>
      {r.action && <p class="faint">then <code class="wrap"><Text>{r.action}</Text></code></p>}
      {r.error && <p class="wrong wrap">{r.actionFails ? "The action fails: " : ""}<Text>{r.error}</Text></p>}
      {r.outcome !== "true" && r.reasons.length > 0 && <ul class="reasons">{r.reasons.map((x, i) => <li key={i}><Text class="wrap">{r.filter.startsWith("correlation") ? x.text.replaceAll("sys.Label", "subject") : x.text}</Text></li>)}</ul>}
    </li>
  );
}

const lit = (s: Subscription) => s.copies.some((c) => !c.subQueue);

function SubscriptionView({ s, m, rule, only }: { s: Subscription; m?: string; rule?: string; only: boolean }) {
  const on = lit(s), dead = s.copies.some((c) => c.subQueue), missed = s.rules.filter((r) => r.outcome !== "true" || r.error);
  return (
    <section class={`panel lamp ${on ? "on" : dead ? "dead" : ""}`} aria-label={s.name || "A new subscription"}>
      <header class="panel-head">
        <h2>{s.path ? <a href={link("entity", s.path)}><Text>{s.name}</Text></a> : "A new subscription"}</h2>
        <div class="actions">
          {s.status !== "Active" && <Badge tone="warn">{s.status}</Badge>}
          <Badge tone={on ? "good" : dead ? "bad" : ""}>{on ? "gets it" : dead ? "dead-letters it" : "doesn’t get it"}</Badge>
        </div>
      </header>
      <div class="panel-body">
        {s.copies.map((c, i) => <CopyView key={i} c={c} rules={s.rules} />)}
        {s.rules.length === 0 && <p class="hint">It has no rules, so it gets nothing.</p>}
        {missed.length > 0 && (on
          ? <details><summary>{plural(missed.length, "other rule")} {missed.length === 1 ? "doesn’t" : "don’t"} select it</summary><ul class="verdicts">{missed.map((r) => <RuleView key={r.name} r={r} />)}</ul></details>
          : <ul class="verdicts">{missed.map((r) => <RuleView key={r.name} r={r} />)}</ul>)}
        {s.path && <p class="small">{!only && <><a href={withQuery(link("entity", s.path, "test"), { m, rule })}>Only this subscription</a> · </>}<a href={link("entity", s.path, "rules")}>Rules</a></p>}
      </div>
    </section>
  );
}

export function Results({ matching: x, m, stale, rule, only }: { matching: Matching; m?: string; stale: boolean; rule?: string; only: boolean }) {
  const [all, setAll] = useState(false);
  const rank = (s: Subscription) => (lit(s) ? 0 : s.copies.length > 0 ? 1 : 2);
  const list = [...x.subscriptions].sort((a, b) => rank(a) - rank(b)), reached = list.filter(lit).length;
  return (
    <div class={stale ? "results stale" : "results"}>
      {x.refused && <Problem text={`The topic would refuse the message: ${x.refused}`} />}
      {x.duplicate && <p class="note">The topic would drop this as a duplicate: it had a message with this id.</p>}
      {x.scheduledFor && <p class="note">The rules would be evaluated at <Time at={x.scheduledFor} />.</p>}
      {list.length === 0
        ? <Panel><Empty title="No subscriptions"><p>Messages sent to this topic are lost.</p></Empty></Panel>
        : <p class="lights" role="status">{rule ? "With the rule you try: " : ""}{number(reached)} of {plural(list.length, "subscription")} {reached === 1 || list.length === 1 ? "gets" : "get"} it</p>}
      {(all ? list : list.slice(0, most)).map((s) => <SubscriptionView key={s.path ?? s.name} s={s} m={m} rule={rule} only={only} />)}
      {!all && list.length > most && <div><Button act={() => setAll(true)}>Show {number(list.length - most)} more</Button></div>}
      {x.unexplained !== undefined && x.unexplained > 0 && <p class="hint">{plural(x.unexplained, "rule")} that {x.unexplained === 1 ? "does" : "do"} not select the message {x.unexplained === 1 ? "is" : "are"} left out, since there are too many.</p>}
    </div>
  );
}
