// The configuration of a namespace as JSON: the one that runs, and another one to compare with it and to apply.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { at, call, Failure, open, textOf, type Schemas } from "./api";
import { ask } from "./asking";
import { DiffView, lossesOf } from "./configdiff";
import { findingOf } from "./findings";
import { number, plural } from "./format";
import { Button, copy, Loading, Panel, Problem, Text } from "./kit";
import { useTurns } from "./poll";
import { refine, route } from "./route";
import { save } from "./save";
import { Shell } from "./connect";
import { refresh } from "./state";
import { TextEdit, type Place } from "./textedit";
import { tell, tellUndo } from "./toasts";

type Diff = Schemas["ConfigDiff"];

// draft outlives a look at another screen.
const draft = signal<{ namespace: string; text: string }>({ namespace: "", text: "" });

async function running(namespace: string, keys: boolean): Promise<string> {
  return (await open("GET", at`${namespace}/config`, { query: { keys: keys || undefined } })).text();
}

function Running({ namespace, edit }: { namespace: string; edit: (text: string) => void }) {
  const [keys, setKeys] = useState(false), [text, setText] = useState<string>(), [problem, setProblem] = useState("");
  const begin = useTurns();
  const load = async () => {
    const latest = begin();
    try {
      const t = await running(namespace, keys);
      if (!latest()) return;
      setText(t);
      setProblem("");
    } catch (e) {
      if (latest()) setProblem(textOf(e));
    }
  };
  useEffect(() => void load(), [namespace, keys]);
  return (
    <Panel title="Running" actions={<>
      <label class="check small"><input type="checkbox" checked={keys} onChange={(e) => setKeys(e.currentTarget.checked)} /> Include keys</label>
      <Button small act={load}>Refresh</Button>
      <Button small act={async () => copy(await running(namespace, keys))}>Copy</Button>
      <Button small act={async () => save(new Blob([await running(namespace, keys)], { type: "application/json" }), "Config.json")}>Download</Button>
    </>}>
      <p class="hint">A Minibus that starts with this file has the same entities.{keys && " Keep it safe: its keys give access to the namespace."}</p>
      {problem && <Problem text={problem} />}
      {text === undefined ? !problem && <Loading /> : <TextEdit label="Running configuration" text={text} json code fixed />}
      <div class="bar"><Button disabled={text === undefined} act={() => edit(text ?? "")}>Edit a copy</Button></div>
    </Panel>
  );
}

const modules = [["bicep", "Bicep", "servicebus.bicep"], ["terraform", "Terraform", "servicebus.tf"]] as const;

// ForAzure gives the entities as modules that create them in Azure.
function ForAzure({ namespace }: { namespace: string }) {
  const download = async (format: string, name: string) => save(await (await open("GET", at`${namespace}/config/export`, { query: { format } })).blob(), name);
  return (
    <Panel title="For Azure" actions={modules.map(([format, title, file]) => <Button key={format} small act={() => download(format, file)} title={file}>Download {title}</Button>)}>
      <p class="hint">The same entities as a module that adds them to a Service Bus namespace in Azure. Comments name the settings that the format doesn’t have. In a shell:</p>
      <Shell lines={modules.map(([format, , file]) => `minibus export --format ${format} --out ${file}`)} />
    </Panel>
  );
}

// textOfFile reads a file in UTF-8, or in UTF-16 with a byte order mark, as the server does.
async function textOfFile(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [a, b] = bytes;
  return new TextDecoder(a === 0xff && b === 0xfe ? "utf-16le" : a === 0xfe && b === 0xff ? "utf-16be" : "utf-8").decode(bytes);
}

interface Compared {
  diff: Diff;
  text: string;
  prune: boolean;
}

// Wrong shows what is wrong in the text, with its places.
function Wrong({ e, lead }: { e: unknown; lead: (p: Place) => void }) {
  const errors = e instanceof Failure ? e.errors : [];
  if (errors.length === 0) return <Problem text={textOf(e)} />;
  return (
    <div class="problem column" role="alert">
      <p>Nothing was changed. {plural(errors.length, "error")}:</p>
      <ul>{errors.map((text, i) => {
        const f = findingOf(text);
        return <li key={i} class="wrap">{f ? <><button type="button" class="link" onClick={() => lead({ line: f.line, column: f.column - 1 })}>line {f.line}, column {f.column}</button> <code><Text>{f.path}</Text></code> <Text>{f.text}</Text></> : <Text>{text}</Text>}</li>;
      })}</ul>
    </div>
  );
}

function apply({ diff, text, prune }: Compared, namespace: string, done: (d: Diff) => void): void {
  const s = diff.summary, lost = lossesOf(diff);
  ask({
    title: "Apply the configuration?", yes: s.delete > 0 ? `Apply and delete ${plural(s.delete, "entity", "entities")}` : "Apply",
    text: <>
      <p>{plural(s.create, "entity", "entities")} created, {number(s.change)} changed, {number(s.delete)} deleted, in one step.</p>
      <p>{lost > 0 ? <><b>{plural(lost, "message")}</b> of deleted entities are lost.</> : "No message is lost."}</p>
      {s.change > 0 && <p>Clients of changed entities reconnect by themselves.</p>}
    </>,
    losing: lost > 0 ? "configuration" : undefined,
    act: async () => {
      const before = lost > 0 ? undefined : await running(namespace, true).catch(() => undefined); // a file cannot say everything
      const applied = await call<Diff>("POST", at`${namespace}/config`, { query: { prune: prune || undefined }, text });
      refresh();
      done(applied);
      if (before === undefined) return tell("Applied the configuration.");
      tellUndo("Applied the configuration.", async () => {
        await call<Diff>("POST", at`${namespace}/config`, { text: before });
        refresh();
        return `Changes and deletions are undone.${s.create > 0 ? " New entities stay." : ""}`;
      });
    },
  });
}

export function Configuration() {
  const { namespace, query } = route.value, prune = query.prune === "1";
  const text = draft.value.namespace === namespace ? draft.value.text : "";
  const [compared, setCompared] = useState<Compared>(), [wrong, setWrong] = useState<unknown>(), [applied, setApplied] = useState(0);
  const [place, lead] = useState<Place>(), [turn, setTurn] = useState(0), begin = useTurns();
  const set = (next: string) => {
    begin(); // what was asked of another text does not count
    draft.value = { namespace, text: next };
    setCompared(undefined);
    setWrong(undefined);
  };
  const compare = async (with_: string, pruned: boolean) => {
    const latest = begin();
    setWrong(undefined);
    try {
      const diff = await call<Diff>("POST", at`${namespace}/config/diff`, { query: { prune: pruned || undefined }, text: with_ });
      if (latest()) setCompared({ diff, text: with_, prune: pruned });
    } catch (e) {
      if (!latest()) return;
      setCompared(undefined);
      setWrong(e);
    }
  };
  const edit = (t: string) => {
    set(t);
    lead({ line: 1, column: 0, caret: true });
  };
  const choose = async (f?: File) => f && set(await textOfFile(f));
  return (
    <>
      <h1>Configuration</h1>
      <Running key={applied} namespace={namespace} edit={edit} />
      <Panel title="Compare and apply">
        <form class="entity-form" onSubmit={(e) => { e.preventDefault(); if (text.trim()) void compare(text, prune).then(() => setTurn((n) => n + 1)); }}>
          <p class="hint">Paste a Config.json, or an object with <code>Queues</code> and <code>Topics</code>, or choose a file. You see the changes before anything is applied.</p>
          <TextEdit label="Config.json" text={text} set={set} json code hint={'{"Queues": [{"Name": "orders", "Properties": {"MaxDeliveryCount": 5}}]}'} place={place} />
          <label class="check"><input type="checkbox" checked={prune} onChange={(e) => { const on = e.currentTarget.checked; refine({ prune: on ? "1" : undefined }); if (compared) void compare(compared.text, on); }} /> Delete entities it doesn’t have, with their messages</label>
          {wrong !== undefined && <Wrong e={wrong} lead={lead} />}
          <div class="bar">
            <Button kind={compared ? "plain" : "primary"} type="submit" disabled={!text.trim()}>Compare</Button>
            <label class="button">Choose a file<input type="file" accept=".json,application/json" class="hidden" onChange={(e) => { void choose(e.currentTarget.files?.[0]); e.currentTarget.value = ""; }} /></label>
            <Button disabled={!text} act={() => set("")}>Clear</Button>
          </div>
        </form>
      </Panel>
      {compared && (
        <DiffView key={turn} diff={compared.diff}>
          {!compared.diff.same && !compared.diff.applied && <Button kind="primary" disabled={compared.diff.refused !== undefined}
            act={() => apply(compared, namespace, (diff) => { setCompared({ ...compared, diff }); setApplied((n) => n + 1); })}>Apply</Button>}
        </DiffView>
      )}
      <ForAzure namespace={namespace} />
    </>
  );
}
