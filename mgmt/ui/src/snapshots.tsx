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
          <p class="pad hint running">For {span(Math.max(0, tick.value - w.since))}. It goes on while you look at other screens of this page, and ends if the page is closed.</p>
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
      <p>What is in <b><Text>{namespace}</Text></b> now is lost: {plural(now.messages, "message")} in {plural(now.entities, "entity", "entities")}.</p>
      <p>{keeps}</p>
      <p>Clients stay connected: their links are detached, and SDKs attach them again by themselves. Locks from before are lost, open transactions are rolled back, and jobs end.</p>
    </>
  );
}

function Save({ namespace, list, done }: { namespace: string; list: Snapshot[]; done: () => void }) {
  const [name, set] = useState("");
  const save = (replace: boolean) => begin(namespace, `Saving ${name}`, "Cancelled. Nothing was saved.", async (signal) => {
    const s = await call<Snapshot>("POST", at`${namespace}/snapshots`, { body: { name: name.trim(), replace }, signal });
    set("");
    return `${s.name} is saved: ${plural(s.messages, "message")}.`;
  }, done);
  const submit = (e: Event) => {
    e.preventDefault();
    const old = list.find((s) => s.name.toLowerCase() === name.trim().toLowerCase());
    if (!old) return save(false);
    ask({
      title: "Replace the snapshot?", yes: "Replace 1 snapshot",
      text: <p><b><Text>{old.name}</Text></b> has {plural(old.messages, "message")}, saved <Time at={old.saved} real />. It is lost when the new one is whole, and stays if that fails.</p>, act: () => save(true),
    });
  };
  return (
    <form class="bar" onSubmit={submit}>
      <Field label="Name"><input value={name} maxLength={50} spellcheck={false} placeholder="seeded" onInput={(e) => set(e.currentTarget.value)} /></Field>
      <Button kind="primary" type="submit" disabled={!name.trim()}>Save</Button>
    </form>
  );
}

function Card({ namespace, s, done }: { namespace: string; s: Snapshot; done: () => void }) {
  const restore = () => ask({
    title: "Restore the snapshot?", yes: "Restore", losing: "restoring",
    text: <Lost namespace={namespace} keeps={<>Afterwards it is what it was when <b><Text>{s.name}</Text></b> was saved: {plural(s.messages, "message")} in {plural(s.entities, "entity", "entities")}. Its clock shows <Time at={s.now} /> again{s.frozen ? ", and stands still" : ""}. The snapshot stays.</>} />,
    act: () => begin(namespace, `Restoring ${s.name}`, "Cancelled. The namespace has its old state, or the restored one if that was complete.", async (signal) => {
      await call("POST", at`${namespace}/snapshots/${s.name}/restore`, { signal });
      return `${s.name} is restored: ${plural(s.messages, "message")}.`;
    }, done),
  });
  const remove = () => ask({
    title: "Delete the snapshot?", yes: "Delete 1 snapshot", text: <p><b><Text>{s.name}</Text></b> with {plural(s.messages, "message")}, saved <Time at={s.saved} real />, is deleted. This cannot be undone. The namespace stays as it is.</p>,
    act: async () => {
      await call("DELETE", at`${namespace}/snapshots/${s.name}`);
      tell(`${s.name} is deleted.`);
      done();
    },
  });
  return (
    <Panel flush title={<Text>{s.name}</Text>} actions={<><Button small act={restore}>Restore</Button><Button small kind="danger" act={remove}>Delete</Button></>}>
      <Facts facts={[["Saved", <Time at={s.saved} real />], ["Messages", number(s.messages)], ["Size", bytes(s.bytes)], ["Entities", number(s.entities)],
        ["Clock", <><Time at={s.now} />{s.frozen && " frozen"}</>]]} />
    </Panel>
  );
}

export function Snapshots() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 5000, (signal) => all<Snapshot>(at`${namespace}/snapshots`, { limit: undefined }, 1000, signal));
  const reset = () => ask({
    title: "Reset the namespace?", yes: "Reset", losing: "reset",
    text: <Lost namespace={namespace} keeps="Afterwards it has the entities of its configuration and no others, all of them empty, and its clock shows the machine’s time. Snapshots and keys stay, faults are removed." />,
    act: () => begin(namespace, `Resetting ${namespace}`, "The reset was asked for already, and may be complete.", async (signal) => {
      await call("POST", at`${namespace}/reset`, { signal });
      return "The namespace is what its configuration says, and empty.";
    }, p.refresh),
  });
  return (
    <>
      <h1>Snapshots</h1>
      <Running namespace={namespace} />
      <Panel title="Save what is in the namespace now">
        <p class="hint">Entities, messages in their states, states of sessions and the clock. Clients go on meanwhile. Locks are not saved: a locked message is available in the snapshot.</p>
        <Save namespace={namespace} list={p.value ?? []} done={p.refresh} />
      </Panel>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!p.value && !p.error && <Loading />}
      {p.value?.length === 0 && <Empty title="There is no snapshot."><p>Save one before a test changes everything, and restore it afterwards: clients stay connected. A difficult state can be kept for later, too.</p></Empty>}
      {p.value?.map((s) => <Card key={s.name} namespace={namespace} s={s} done={p.refresh} />)}
      <Panel title="Reset" actions={<Button small kind="danger" act={reset}>Reset</Button>}>
        <p class="hint">A reset makes the namespace what its configuration says, and empty. Snapshots stay.</p>
      </Panel>
    </>
  );
}
