// The rules of a subscription: the list, and a form for one of them.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { at, call, Failure, open, type Schemas } from "./api";
import { ask } from "./asking";
import { placeOf, sorted, sqlReason } from "./findings";
import { plural } from "./format";
import { Button, Empty, Field, Loading, Panel, Problem, Text, type Children } from "./kit";
import { shown } from "./names";
import { Properties } from "./properties";
import { go, link, route, withQuery } from "./route";
import { correlationFields, draftOf, draftOfText, emptyDraft, fieldName, filterTypes, parse, propertiesOf, valueTypes, type Draft, type FilterType } from "./ruletext";
import { refresh } from "./state";
import { TextEdit, type Place } from "./textedit";
import { tell, tellUndo } from "./toasts";

export type Rule = Schemas["EntityRule"];

const everything = (r: Rule) => r.properties.FilterType === "True" && !r.properties.Action;

// Sentence says what a rule does.
export function Sentence({ properties: p }: { properties: Schemas["RuleProperties"] }) {
  const { Properties: named, ...fields } = (p.CorrelationFilter ?? {}) as Record<string, unknown>;
  const equal = [...Object.entries(fields).map(([k, v]): [string, unknown] => [fieldName(k), v]), ...Object.entries((named ?? {}) as object)];
  const value = (v: unknown) => (v !== null && typeof v === "object" ? `${(v as { Value: unknown }).Value} (${(v as { Type: string }).Type})` : typeof v === "string" ? `“${v}”` : String(v));
  return (
    <div class="sentence">
      {p.FilterType === "True" && <p>selects every message</p>}
      {p.FilterType === "False" && <p>selects no message</p>}
      {p.FilterType === "Sql" && <p>selects messages where <code class="wrap"><Text>{p.SqlFilter?.SqlExpression ?? ""}</Text></code></p>}
      {p.FilterType === "Correlation" && (
        <p>{equal.length === 0 ? "selects every message" : <>selects messages with {equal.map(([k, v], i) => <span key={k}>{i > 0 && ", "}<code class="wrap"><Text>{`${k} = ${value(v)}`}</Text></code></span>)}</>}</p>
      )}
      {[p.SqlFilter?.Parameters, p.Action?.Parameters].map((list, i) => list && Object.keys(list).length > 0 && (
        <p key={i} class="faint">with {Object.entries(list).map(([k, v]) => `${k} = ${value(v)}`).map((t, n) => <span key={t}>{n > 0 && ", "}<Text>{t}</Text></span>)}</p>
      ))}
      {p.Action?.SqlExpression && <p>then changes the copy: <code class="wrap"><Text>{p.Action.SqlExpression}</Text></code></p>}
    </div>
  );
}

// draftAt reads a rule as text, for its numbers as they are written.
async function draftAt(namespace: string, path: string, name: string): Promise<{ name: string; draft: Draft }> {
  const r = parse(await (await open("GET", at`${namespace}/entities/${path}/rules/${name}`)).text()) as { name: string; properties: Record<string, unknown> };
  return { name: r.name, draft: draftOf(r.properties) };
}

function remove(path: string, rule: Rule, left: number, done: () => void): void {
  const namespace = route.value.namespace, address = at`${namespace}/entities/${path}/rules/${rule.name}`;
  ask({
    title: "Delete the rule?", yes: "Delete the rule",
    text: <>
      <p>The rule <b><Text>{rule.name}</Text></b> of <Text>{shown(path)}</Text> is deleted. Messages it selected before stay.</p>
      <p>{left > 0 ? `${plural(left, "rule")} ${left === 1 ? "remains" : "remain"}.` : "It is the last one: without a rule the subscription gets no messages."}</p>
    </>,
    act: async () => {
      const { draft } = await draftAt(namespace, path, rule.name);
      await call("DELETE", address);
      done();
      tellUndo(`Deleted the rule ${rule.name}.`, async () => {
        await call("PUT", address, { query: { onlyNew: true }, body: { Properties: propertiesOf(draft) } });
        done();
        return `The rule ${rule.name} is back. Messages sent in between were not matched by it.`;
      });
    },
  });
}

export function RuleList({ path, rules, done }: { path: string; rules: Rule[]; done: () => void }) {
  const all = rules.find(everything);
  return (
    <Panel title="Rules" flush actions={<><a class="button small" href={link("entity", path, "test")}>Test a message</a><a class="button small" href={withQuery(link("entity", path, "rules"), { new: 1 })}>New rule</a></>}>
      {rules.length === 0 && <Empty title="No rules"><p>Without a rule the subscription gets no messages. Create one with a condition, or one that selects every message.</p></Empty>}
      {all && rules.length > 1 && (
        <p class="note">The rule <b><Text>{all.name}</Text></b> selects every message, so the other rules have no effect. <Button small act={() => remove(path, all, rules.length - 1, done)}>Delete it</Button></p>
      )}
      <ul class="rule-list">
        {rules.map((r) => (
          <li key={r.name} class="rule-row">
            <div class="rule-what"><b><Text>{r.name}</Text></b><Sentence properties={r.properties} /></div>
            <div class="actions"><a class="button small" href={link("entity", path, "rules", r.name)} aria-label={`Edit ${r.name}`}>Edit</a>
              <Button small kind="danger" act={() => remove(path, r, rules.length - 1, done)}>Delete</Button></div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

// SqlField is a field for an expression. The cursor goes where the parser stopped; what it said goes when the text is corrected.
export function SqlField({ id, label, hint, text, set, wrong, placeholder }: { id: string; label: string; hint: Children; text: string; set: (text: string) => void; wrong?: string; placeholder: string }) {
  const [place, lead] = useState<Place>(), refused = useRef<{ wrong?: string; text: string }>({ text });
  if (wrong !== refused.current.wrong) refused.current = { wrong, text };
  const shown = wrong && text === refused.current.text ? wrong : undefined, found = shown ? placeOf(shown) : undefined;
  useLayoutEffect(() => {
    if (found) lead(found);
  }, [shown]);
  return (
    <div class="setting">
      <TextEdit label={label} text={text} set={set} language="sql" rows={3} hint={placeholder} place={place} wrong={shown !== undefined} />
      <div id={id + "-help"} class={shown ? "wrong wrap" : "hint"} role={shown ? "alert" : undefined}>{shown
        ? <>{found && <b>Line {found.line}, column {found.column + 1}. </b>}<Text>{sqlReason(shown)}</Text> {found && <Button small act={() => lead({ ...found })}>Show it</Button>}</> : hint}</div>
    </div>
  );
}

function Parameters({ title, list, set }: { title: string; list: Draft["parameters"]; set: (list: Draft["parameters"]) => void }) {
  return (
    <details class="group" open={list.length > 0}>
      <summary><b>Parameters</b> <span class="faint">for names such as @amount</span></summary>
      <Properties list={list} set={set} types={valueTypes} title={title} add="Add a parameter" />
    </details>
  );
}

const fieldOf = (path: string) => {
  if (path.startsWith("$.Properties.SqlFilter")) return "sql";
  if (path.startsWith("$.Properties.Action")) return "action";
  return path === "$.Name" || path === "$" ? "name" : undefined;
};

// withField sets a field; one that is cleared is not compared.
function withField(fields: Draft["fields"], name: string, text: string): Draft["fields"] {
  const { [name]: _, ...rest } = fields;
  return text === "" ? rest : { ...rest, [name]: text };
}

// RuleFields are the fields of a filter and an action.
export function RuleFields({ d, set, wrong }: { d: Draft; set: (d: Draft) => void; wrong: Record<string, string> }) {
  return (
    <>
      <div class="setting">
        <span class="field-label">Filter</span>
        <div class="chips" role="group" aria-label="Kind of filter">{filterTypes.map(([type, title]) => (
          <button key={type} type="button" class="chip" aria-pressed={d.type === type} onClick={() => set({ ...d, type: type as FilterType })}>{title}</button>
        ))}</div>
      </div>
      {d.type === "Sql" && <>
        <SqlField id="rule-sql" label="Condition" text={d.sql} set={(sql) => set({ ...d, sql })} wrong={wrong.sql} placeholder="amount > 1000 AND region = 'eu'"
          hint={<>Names are application properties. System properties have the prefix <code>sys.</code>, such as <code>sys.Label</code> (the subject), <code>sys.MessageId</code> and <code>sys.To</code>.</>} />
        <Parameters title="Parameters of the condition" list={d.parameters} set={(parameters) => set({ ...d, parameters })} />
      </>}
      {d.type === "Correlation" && <>
        <div class="settings">{correlationFields.map(([name, title]) => (
          <Field key={name} label={title}><input value={d.fields[name] ?? ""} placeholder={name in d.fields ? "the empty text" : "any"} spellcheck={false} onInput={(e) => set({ ...d, fields: withField(d.fields, name, e.currentTarget.value) })} /></Field>
        ))}</div>
        <Properties list={d.properties} set={(properties) => set({ ...d, properties })} types={valueTypes} title="Application properties, equal in value and type" />
      </>}
      <SqlField id="rule-action" label="Action (optional)" text={d.action} set={(action) => set({ ...d, action })} wrong={wrong.action} placeholder="SET priority = 'high'; REMOVE draft"
        hint="Changes the copy: SET and REMOVE, separated by semicolons. A rule with an action makes a copy of its own." />
      {d.action.trim() && <Parameters title="Parameters of the action" list={d.actionParameters} set={(actionParameters) => set({ ...d, actionParameters })} />}
    </>
  );
}

interface FormProps {
  path: string;
  rule?: { name: string; draft: Draft };
  all?: Rule; // the rule that takes every message
  done: () => void;
}

function RuleForm({ path, rule, all, done }: FormProps) {
  const [name, setName] = useState(rule?.name ?? ""), [d, set] = useState<Draft>(rule?.draft ?? draftOfText(route.value.query.rule ?? "") ?? emptyDraft), [alone, setAlone] = useState(true);
  const [wrong, setWrong] = useState<Record<string, string>>({}), [problem, setProblem] = useState("");
  const here = link("entity", path, "rules"), namespace = route.value.namespace, replaces = !rule && all && d.type !== "True";
  const body = () => ({ Properties: propertiesOf(d) });
  const submit = async () => {
    setProblem("");
    try {
      if (!name.trim()) return setWrong({ name: "Enter a name." });
      await call("PUT", at`${namespace}/entities/${path}/rules/${name.trim()}`, { query: rule ? {} : { onlyNew: true }, body: body() });
      if (replaces && alone) await call("DELETE", at`${namespace}/entities/${path}/rules/${all.name}`);
    } catch (e) {
      const found = e instanceof Failure && e.status === 409 && !rule ? { wrong: { name: "There is already a rule with this name." }, rest: "" } : sorted(e, fieldOf);
      setWrong(found.wrong);
      return setProblem(found.rest);
    }
    done();
    go(here);
    tell(rule ? "Saved the rule. It applies to messages sent from now on." : `Created the rule ${name.trim()}.`);
  };
  const test = () => {
    try {
      go(withQuery(link("entity", path, "test"), { rule: JSON.stringify(body().Properties), m: route.value.query.m }));
    } catch (e) {
      setProblem((e as Error).message);
    }
  };
  return (
    <form class="entity-form" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
      <Panel title={rule ? <>Rule <Text>{rule.name}</Text></> : "New rule"}>
        {!rule && <div class="setting name">
          <label class="field-label" for="rule-name">Name</label>
          <input id="rule-name" value={name} spellcheck={false} autocomplete="off" aria-invalid={wrong.name ? true : undefined} aria-describedby="rule-name-help" onInput={(e) => { setName(e.currentTarget.value); setWrong(({ name: _, ...rest }) => rest); setProblem(""); }} />
          <span id="rule-name-help" class={wrong.name ? "wrong" : "hint"}>{wrong.name ?? "Up to 50 characters."}</span>
        </div>}
        <RuleFields d={d} set={set} wrong={wrong} />
        {replaces && <label class="check"><input type="checkbox" checked={alone} onChange={(e) => setAlone(e.currentTarget.checked)} /> <span>Delete the rule <b><Text>{all.name}</Text></b>, which selects every message</span></label>}
        {problem && <Problem text={problem} />}
        <div class="bar"><Button kind="primary" type="submit">{rule ? "Save the rule" : "Create the rule"}</Button><Button act={test}>Test before saving</Button><a class="button" href={here}>Cancel</a></div>
      </Panel>
    </form>
  );
}

function ExistingRule({ path, name, done }: { path: string; name: string; done: () => void }) {
  const [read, setRead] = useState<{ name: string; draft: Draft }>(), [problem, setProblem] = useState("");
  useEffect(() => {
    draftAt(route.value.namespace, path, name).then(setRead, (e: Error) => setProblem(e.message));
  }, [path, name]);
  if (problem) return <Problem text={problem}><a href={link("entity", path, "rules")}>All rules</a></Problem>;
  return read ? <RuleForm path={path} rule={read} done={done} /> : <Loading />;
}

export function RulesTab({ path, rules, item, done }: { path: string; rules: Rule[]; item?: string; done: () => void }) {
  const changed = () => { done(); refresh(); };
  if (item) return <ExistingRule key={item} path={path} name={item} done={changed} />;
  if (route.value.query.new) return <RuleForm path={path} all={rules.find(everything)} done={changed} />;
  return <RuleList path={path} rules={rules} done={changed} />;
}
