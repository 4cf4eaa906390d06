// Faults: errors that a tester injects into a namespace, with how often each has hit.
import { all, at, call } from "./api";
import { ask } from "./asking";
import { duration, number, plural } from "./format";
import { FaultForm } from "./faultform";
import { kindOf, hitsPath, operations, type Fault } from "./faultkinds";
import { Badge, Button, Empty, Facts, Loading, Panel, Problem, Text, Time, type Children } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { link, refine, route, withQuery } from "./route";
import { tell } from "./toasts";

const tones: Record<Fault["state"], string> = { active: "bad", spent: "", over: "", removed: "" };
const states: Record<Fault["state"], string> = { active: "active", spent: "spent", over: "ended", removed: "removed" };

const useFaults = (namespace: string, pause: number) =>
  usePoll(namespace, pause, (signal) => all<Fault>(at`${namespace}/faults`, { limit: undefined }, 1000, signal));

// left says how often a fault still hits.
function left(f: Fault): Children {
  if (f.state === "spent") return "none";
  if (f.count) return `${number(f.count - f.hits)} of ${number(f.count)}`;
  return "no limit";
}

function facts(f: Fault): [string, Children][] {
  const list: [string, Children][] = [
    ["Operations", (f.operations ?? []).map((o) => operations[o]).join(", ")],
    ["Hits so far", <b>{number(f.hits)}</b>], ["Hits left", left(f)],
    ["Client", f.client ? <Text>{f.client}</Text> : "any"],
  ];
  if (f.condition) list.push(["Condition", f.condition]);
  if (f.delayMilliseconds) list.push(["Delay", `${number(f.delayMilliseconds)} ms`]);
  if (f.after) list.push(["Effect", "the operation succeeds, its answer is lost"]);
  if (f.skip) list.push(["Skips first", number(f.skip)]);
  if (f.probability) list.push(["Probability", `${f.probability}, seed ${f.seed}`]);
  if (f.until) list.push(["Ends", <><Time at={f.until} />{f.for && <span class="faint">, lasts {duration(f.for)}</span>}</>]);
  return list;
}

function Card({ namespace, f, done }: { namespace: string; f: Fault; done: () => void }) {
  const remove = async () => {
    await call("DELETE", at`${namespace}/faults/${f.id}`);
    tell(`Removed fault ${f.id}.`);
    done();
  };
  const where = f.entity ? <>on <a href={link("entity", f.entity.replace(/\/\$[^/]*$/, ""))}><Text>{shown(f.entity)}</Text></a></> : "on all entities";
  return (
    <Panel flush title={<>{f.id}. {f.kind} {where} <Badge tone={tones[f.state]}>{states[f.state]}</Badge></>}
      actions={<Button small kind={f.state === "active" ? "danger" : "plain"} act={remove}>{f.state === "active" ? "Remove" : "Clear from the list"}</Button>}>
      <p class="hint fault-what">{kindOf(f.kind).what}</p>
      <Facts dense facts={facts(f)} />
    </Panel>
  );
}

export function Faults() {
  const { namespace, query } = route.value;
  const p = useFaults(namespace, 2000);
  const every = p.value ?? [], of = query.entity;
  const list = of ? every.filter((f) => hitsPath(f, of)) : every, active = every.filter((f) => f.state === "active").length;
  const removeAll = () => ask({
    title: "Remove all faults?", yes: `Remove ${plural(every.length, "fault")}`,
    text: <p>Removes {plural(active, "active fault")}{every.length > active && <> and {plural(every.length - active, "ended one")}</>} from <b><Text>{namespace}</Text></b>. Operations that they hold back continue.</p>,
    act: async () => {
      await call("DELETE", at`${namespace}/faults`);
      tell("Removed all faults.");
      p.refresh();
    },
  });
  return (
    <>
      <div class="title"><h1>Faults</h1><span class="title-acts"><a class="button" href={withQuery(link("events"), { kind: "fault" })}>See hits live</a>{every.length > 0 && <Button kind="danger" act={removeAll}>Remove all</Button>}</span></div>
      <p class="hint">Faults make client operations fail, so you can test how your program copes with a bad day in Azure. The explorer itself is never hit.</p>
      {of && <div class="chips"><button type="button" class="chip" onClick={() => refine({ entity: undefined })} title="Show the faults of all entities">on <Text>{shown(of)}</Text> ×</button></div>}
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!p.value && !p.error && <Loading />}
      {p.value && list.length === 0 && <Empty title={of ? "No faults on this entity" : "No faults"}><p>Inject one below. For example, throttle with a count of 2 refuses the next two sends, and the SDK retries. A restart clears all faults.</p></Empty>}
      {list.map((f) => <Card key={f.id} namespace={namespace} f={f} done={p.refresh} />)}
      {p.value && <FaultForm key={namespace + of} namespace={namespace} entity={of ?? ""} done={p.refresh} />}
    </>
  );
}

// FaultBadge says that faults hit an entity.
export function FaultBadge({ path }: { path: string }) {
  const p = useFaults(route.value.namespace, 5000);
  const n = (p.value ?? []).filter((f) => hitsPath(f, path)).length;
  return n > 0 ? <a class="badge bad" href={withQuery(link("faults"), { entity: path })}>{plural(n, "fault")}</a> : null;
}
