// The form that injects a fault.
import { useState } from "preact/hooks";
import { at, call, Failure, textOf } from "./api";
import { kindOf, kinds, operations, type Fault, type Operation, type Order } from "./faultkinds";
import { number } from "./format";
import { Button, Field, Panel, Problem } from "./kit";
import { deadLetters } from "./names";
import { isoSpan, SpanField, spanHint } from "./spanfield";
import { entities } from "./state";
import { tell } from "./toasts";

interface Draft {
  kind: Order["kind"];
  operations: Operation[];
  entity: string;
  client: string;
  condition: string;
  delay: string;
  after: boolean;
  skip: string;
  count: string;
  probability: string;
  seed: string;
  for: string;
}

const fresh: Omit<Draft, "entity"> = { kind: "throttle", operations: [], client: "", condition: "", delay: "500", after: false, skip: "", count: "", probability: "", seed: "", for: "" };

// Numeric are the fields that hold a number, each with its name in the order.
const numeric = { delay: "delayMilliseconds", skip: "skip", count: "count", probability: "probability", seed: "seed" } as const;

type Numeric = keyof typeof numeric;
type Wrong = Partial<Record<Numeric | "entity", string>>;

const numberOf = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text));

// wrongOf says what is wrong in the fields, before the server is asked.
function wrongOf(d: Draft): Wrong {
  const wrong: Wrong = {};
  for (const name of Object.keys(numeric) as Numeric[]) {
    const n = numberOf(d[name]), whole = name !== "probability";
    if (n !== undefined && (!Number.isFinite(n) || n < 0 || (whole && !Number.isInteger(n)))) wrong[name] = `${d[name]} isn’t a ${whole ? "whole " : ""}number of zero or more.`;
  }
  return wrong;
}

// refusal sorts what the server refuses by field. The rest is a text for the whole form.
function refusal(e: unknown, d: Draft): { wrong: Wrong; rest: string } {
  if (!(e instanceof Failure)) return { wrong: {}, rest: textOf(e) };
  if (e.status === 404) return { wrong: { entity: `There is no entity ${d.entity.trim()}.` }, rest: "" };
  const wrong: Wrong = {};
  for (const text of e.errors) {
    const [, field, order, limit] = /^body\.(\w+): expected number (<=|>=) ([\d.]+)$/.exec(text) ?? [], name = (Object.keys(numeric) as Numeric[]).find((n) => numeric[n] === field);
    if (name) wrong[name] = `Use ${number(Number(limit))} or ${order === "<=" ? "less" : "more"}.`;
  }
  return { wrong, rest: Object.keys(wrong).length > 0 ? "" : e.message };
}

function orderOf(d: Draft): Order {
  const k = kindOf(d.kind);
  const o: Order = {
    kind: d.kind, operations: d.operations.length > 0 ? d.operations : undefined, entity: d.entity.trim() || undefined, client: d.client.trim() || undefined,
    condition: (k.conditions && d.condition) || undefined, for: isoSpan(d.for), after: (k.after && d.after) || undefined,
  };
  if (d.kind === "delay") o.delayMilliseconds = numberOf(d.delay);
  if (k.endless) return o;
  return { ...o, skip: numberOf(d.skip), count: numberOf(d.count), probability: numberOf(d.probability), seed: numberOf(d.seed) };
}

// Paths are the entities and their dead-letter queues, to choose from. A browser shows few of very many.
function Paths() {
  const list = (entities.value ?? []).slice(0, 500);
  return <datalist id="fault-paths">{list.flatMap((e) => (e.kind === "topic" ? [e.path] : [e.path, e.path + "/" + deadLetters])).map((p) => <option key={p} value={p} />)}</datalist>;
}

function Operations({ d, set }: { d: Draft; set: (d: Draft) => void }) {
  const k = kindOf(d.kind), chosen = d.operations.length > 0 ? d.operations : k.usual;
  const possible = d.after ? k.possible.filter((o) => o === "send" || o === "settle") : k.possible;
  const toggle = (o: Operation) => {
    const next = chosen.includes(o) ? chosen.filter((x) => x !== o) : [...chosen, o];
    set({ ...d, operations: next.length > 0 ? next : chosen });
  };
  return (
    <fieldset class="properties"><legend>Operations it hits</legend>
      <div class="chips">{possible.map((o) => <button key={o} type="button" class="chip" aria-pressed={chosen.includes(o)} onClick={() => toggle(o)}>{operations[o]}</button>)}</div>
    </fieldset>
  );
}

export function FaultForm({ namespace, entity, done }: { namespace: string; entity: string; done: () => void }) {
  const [d, put] = useState<Draft>({ ...fresh, entity }), [wrong, setWrong] = useState<Wrong>({}), [problem, setProblem] = useState("");
  const set = (next: Draft) => { // what was wrong is being corrected
    put(next);
    setWrong({});
    setProblem("");
  };
  const k = kindOf(d.kind);
  const field = (label: string, name: "client" | Numeric, hint: string, digits = true) => (
    <Field label={label} hint={hint} wrong={name === "client" ? undefined : wrong[name]}><input value={d[name]} aria-invalid={name !== "client" && wrong[name] ? true : undefined} spellcheck={false} inputMode={digits ? "decimal" : undefined} onInput={(e) => set({ ...d, [name]: e.currentTarget.value })} /></Field>
  );
  const submit = async (e: Event) => {
    e.preventDefault();
    const local = wrongOf(d);
    setWrong(local);
    setProblem("");
    if (Object.keys(local).length > 0) return;
    try {
      const f = await call<Fault>("POST", at`${namespace}/faults`, { body: orderOf(d) });
      tell(`Injected fault ${f.id}.`);
      done();
    } catch (x) {
      const found = refusal(x, d);
      setWrong(found.wrong);
      setProblem(found.rest);
    }
  };
  return (
    <form onSubmit={submit} class="compose">
      <Panel title="Inject a fault">
        <Field label="Kind" hint={k.what}>
          <select class="fitting" value={d.kind} onChange={(e) => set({ ...d, kind: e.currentTarget.value as Draft["kind"], operations: [], condition: "", after: false })}>{kinds.map((x) => <option key={x.name}>{x.name}</option>)}</select>
        </Field>
        <Operations d={d} set={set} />
        {k.after && <label class="check"><input type="checkbox" checked={d.after} onChange={(e) => set({ ...d, after: e.currentTarget.checked, operations: e.currentTarget.checked ? ["send", "settle"] : [] })} /> Let the operation succeed and lose only its answer</label>}
        <div class="grid">
          <Field label="Entity" hint="Empty: all entities" wrong={wrong.entity}><input aria-invalid={wrong.entity ? true : undefined} list="fault-paths" value={d.entity} spellcheck={false} onInput={(e) => set({ ...d, entity: e.currentTarget.value })} /></Field>
          {field("Client", "client", "Connection or container id, library, or address. Empty: any", false)}
          {k.conditions && <Field label="Condition" hint="The error’s AMQP condition"><select value={d.condition} onChange={(e) => set({ ...d, condition: e.currentTarget.value })}>{k.conditions.map((c, i) => <option key={c} value={i === 0 ? "" : c}>{c}</option>)}</select></Field>}
          {d.kind === "delay" && field("Delay in ms", "delay", "In real time, up to 600000")}
          {!k.endless && field("Count", "count", "How many operations are hit. Empty: all")}
          {!k.endless && field("Skip first", "skip", "Operations that succeed before the first hit")}
          {!k.endless && field("Probability", "probability", "From 0 to 1, such as 0.1. Empty: always")}
          {!k.endless && field("Seed", "seed", "The same seed makes the same choices")}
          <SpanField label="Duration" value={d.for} set={(text) => set({ ...d, for: text })} hint={`${spanHint}, by the namespace’s clock. Empty: until removed`} />
        </div>
        <Paths />
        {problem && <Problem text={problem} />}
        <div class="bar"><Button kind="primary" type="submit">Inject the fault</Button></div>
      </Panel>
    </form>
  );
}
