// Snapshots: what is in a namespace, saved under a name, and restored. What takes long goes on while the reader looks elsewhere, and can be cancelled.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { all, at, call, textOf, type Schemas } from "./api";
import { ask } from "./asking";
import { bytes, number, plural, span } from "./format";
import { Button, Empty, Facts, Field, Loading, Panel, Problem, Text, Time, type Children } from "./kit";
import { usePoll } from "./poll";
import { route } from "./route";
import { entities, refresh, tick } from "./state";
import { tell } from "./toasts";

type Snapshot = Schemas["Snapshot"];

// Work is a request that may take long.
interface Work {
  namespace: string;
  what: string; // what is being done
  since: number; // ms
  end: AbortController;
}

const works = signal<Work[]>([]);

addEventListener("beforeunload", (e) => {
  if (works.value.length > 0) e.preventDefault(); // leaving would cancel it
});

// begin lets work go on in the background, and tells how it ended.
function begin(namespace: string, what: string, cancelled: string, work: (signal: AbortSignal) => Promise<string>, done: () => void): void {
  const w: Work = { namespace, what, since: Date.now(), end: new AbortController() };
  works.value = [...works.value, w];
  void work(w.end.signal).then((text) => tell(text), (e) => (w.end.signal.aborted ? tell(cancelled) : tell(textOf(e), true))).finally(() => {
    works.value = works.value.filter((x) => x !== w);
    refresh();
    done();
  });
}

function Running({ namespace }: { namespace: string }) {
  return (
    <>
      {works.value.filter((w) => w.namespace === namespace).map((w) => (
        <Panel key={w.since} title={<Text>{w.what}</Text>} flush actions={<Button small kind="danger" act={() => w.end.abort()}>Cancel</Button>}>
          <progress class="job-progress" aria-label={w.what} />
          <p class="pad hint running">Running for {span(Math.max(0, tick.value - w.since))}. It continues while you use other screens, and stops if you close the page.</p>
        </Panel>
      ))}
    </>
  );
}

// inside says what is in the namespace now.
function inside(): { messages: number; entities: number } {
  const list = entities.value ?? [];
  return { entities: list.length, messages: list.reduce((n, e) => n + e.counts.scheduled + e.counts.deadLetter + e.counts.transferDeadLetter + (e.kind === "topic" ? 0 : e.counts.active + e.counts.transfer), 0) };
}

function Lost({ namespace, keeps }: { namespace: string; keeps: Children }) {
  const now = inside();
  return (
    <>
      <p>You lose what is in <b><Text>{namespace}</Text></b> now: <b>{plural(now.messages, "message")}</b> in {plural(now.entities, "entity", "entities")}.</p>
      <p>{keeps}</p>
      <p>Clients stay connected, and SDKs attach again by themselves. Locks are lost, open transactions roll back, and jobs stop.</p>
    </>
  );
}

function Save({ namespace, list, done }: { namespace: string; list: Snapshot[]; done: () => void }) {
  const [name, setName] = useState(""), [wrong, setWrong] = useState("");
  const set = (text: string) => {
    setName(text);
    setWrong("");
  };
  const save = (replace: boolean) => begin(namespace, `Saving ${name}`, "Cancelled. Nothing was saved.", async (signal) => {
    const s = await call<Snapshot>("POST", at`${namespace}/snapshots`, { body: { name: name.trim(), replace }, signal });
    set("");
    return `Saved ${s.name} with ${plural(s.messages, "message")}.`;
  }, done);
  const submit = (e: Event) => {
    e.preventDefault();
    if (!/^[a-z\d][\w.-]*$/i.test(name.trim())) return setWrong("Use letters, digits, hyphens, dots and underscores, and begin with a letter or digit.");
    const old = list.find((s) => s.name.toLowerCase() === name.trim().toLowerCase());
    if (!old) return save(false);
    ask({
      title: "Replace the snapshot?", yes: "Replace 1 snapshot",
      text: <p><b><Text>{old.name}</Text></b> with {plural(old.messages, "message")}, saved <Time at={old.saved} real />, is replaced once the new one is complete.</p>, act: () => save(true),
    });
  };
  return (
    <form class="bar span-bar" onSubmit={submit}>
      <Field label="Name" hint="For example: seeded" wrong={wrong}><input value={name} aria-invalid={wrong ? true : undefined} maxLength={50} spellcheck={false} onInput={(e) => set(e.currentTarget.value)} /></Field>
      <Button kind="primary" type="submit" disabled={!name.trim()}>Save</Button>
    </form>
  );
}

function Card({ namespace, s, done }: { namespace: string; s: Snapshot; done: () => void }) {
  const restore = () => ask({
    title: "Restore the snapshot?", yes: "Restore", losing: "restoring",
    text: <Lost namespace={namespace} keeps={<><b><Text>{s.name}</Text></b> brings back {plural(s.messages, "message")} in {plural(s.entities, "entity", "entities")}, and the clock goes back to <Time at={s.now} />{s.frozen ? ", frozen" : ""}. The snapshot stays.</>} />,
    act: () => begin(namespace, `Restoring ${s.name}`, "Cancelled. Either nothing changed, or the restore had just completed.", async (signal) => {
      await call("POST", at`${namespace}/snapshots/${s.name}/restore`, { signal });
      return `Restored ${s.name} with ${plural(s.messages, "message")}.`;
    }, done),
  });
  const remove = () => ask({
    title: "Delete the snapshot?", yes: "Delete 1 snapshot", text: <p><b><Text>{s.name}</Text></b> with {plural(s.messages, "message")}, saved <Time at={s.saved} real />, is deleted for good. The namespace doesn’t change.</p>,
    act: async () => {
      await call("DELETE", at`${namespace}/snapshots/${s.name}`);
      tell(`Deleted ${s.name}.`);
      done();
    },
  });
  return (
    <Panel flush title={<Text>{s.name}</Text>} actions={<><Button small act={restore}>Restore</Button><Button small kind="danger" act={remove}>Delete</Button></>}>
      <Facts dense facts={[["Saved", <Time at={s.saved} real />], ["Messages", number(s.messages)], ["Size", bytes(s.bytes)], ["Entities", number(s.entities)],
        ["Clock", <><Time at={s.now} />{s.frozen && " frozen"}</>]]} />
    </Panel>
  );
}

export function Snapshots() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 5000, (signal) => all<Snapshot>(at`${namespace}/snapshots`, { limit: undefined }, 1000, signal));
  const reset = () => ask({
    title: "Reset the namespace?", yes: "Reset", losing: "reset",
    text: <Lost namespace={namespace} keeps="It gets the entities of its configuration, all of them empty, and this computer’s time. Snapshots and keys stay, faults are removed." />,
    act: () => begin(namespace, `Resetting ${namespace}`, "Cancelled. The reset may have completed already.", async (signal) => {
      await call("POST", at`${namespace}/reset`, { signal });
      return "Reset the namespace.";
    }, p.refresh),
  });
  return (
    <>
      <h1>Snapshots</h1>
      <Running namespace={namespace} />
      <Panel title="New snapshot">
        <p class="hint">Saves the entities, messages, session states and the clock while clients keep working. Locks aren’t saved: locked messages are active in the snapshot.</p>
        <Save namespace={namespace} list={p.value ?? []} done={p.refresh} />
      </Panel>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!p.value && !p.error && <Loading />}
      {p.value?.length === 0 && <Empty title="No snapshots"><p>Save one before a test and restore it afterwards, or keep a state that was hard to reach. Clients stay connected.</p></Empty>}
      {p.value?.map((s) => <Card key={s.name} namespace={namespace} s={s} done={p.refresh} />)}
      <Panel title="Reset" actions={<Button small kind="danger" act={reset}>Reset</Button>}>
        <p class="hint">Empties the namespace and gives it the entities of its configuration and this computer’s time. Snapshots stay.</p>
      </Panel>
    </>
  );
}
