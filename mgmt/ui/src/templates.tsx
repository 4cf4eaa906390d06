// Templates: messages that are being written, kept under names in this browser.
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ask } from "./asking";
import { checkedDraft, type Draft } from "./draft";
import { Button, Field, Panel, Text } from "./kit";
import { plural } from "./format";
import { save } from "./save";
import { tell, tellUndo } from "./toasts";

const key = "minibus.templates";

type Templates = Record<string, Draft>;

// checked returns what is a template of a document. It throws if one is none.
function checked(x: unknown): Templates {
  if (typeof x !== "object" || x === null || Array.isArray(x)) throw new Error("This is not a file of templates: such a file is an object with a template under each name.");
  return Object.fromEntries(Object.entries(x).map(([name, d]) => {
    try {
      return [name, checkedDraft(d)];
    } catch (e) {
      throw new Error(`${name}: ${(e as Error).message}`);
    }
  }));
}

function load(): Templates {
  try {
    return checked(JSON.parse(localStorage.getItem(key) ?? "{}"));
  } catch {
    return {}; // no storage, or another program's value
  }
}

const templates = signal<Templates>(load());
addEventListener("storage", (e) => { if (e.key === key) templates.value = load(); });

// keep writes all templates, unless the browser has no room for them.
function keep(next: Templates): void {
  try {
    localStorage.setItem(key, JSON.stringify(next));
  } catch {
    throw new Error("The browser cannot save it: its storage is full or disabled. Delete templates or use a smaller body.");
  }
  templates.value = next;
}

// replace writes all templates where some are lost by it, and tells of it.
function replace(next: Templates, text: string): void {
  const before = templates.value;
  keep(next);
  tellUndo(text, () => { keep(before); return "The templates are restored."; });
}

const named = (name: string): Draft | undefined => (Object.hasOwn(templates.value, name) ? templates.value[name] : undefined);

export const templateNamed = named;

function Row({ name, use, was }: { name: string; use: (name: string, d: Draft) => void; was: boolean }) {
  const [renaming, rename] = useState<string>();
  const act = (e: Event) => {
    e.preventDefault();
    const to = renaming!.trim();
    if (to === "" || (to !== name && named(to))) return tell(to ? `There already is a template ${to}. Choose another name.` : "Enter a name for the template.", true);
    try {
      keep(Object.fromEntries(Object.entries(templates.value).map(([n, d]) => [n === name ? to : n, d])));
      rename(undefined);
    } catch (x) {
      tell((x as Error).message, true);
    }
  };
  const remove = () => ask({
    title: "Delete the template?", yes: "Delete 1 template", text: <p>The template <b><Text>{name}</Text></b> will be deleted from this browser.</p>,
    act: () => replace(Object.fromEntries(Object.entries(templates.value).filter(([n]) => n !== name)), `Template ${name} deleted.`),
  });
  if (renaming !== undefined) {
    return <li><form class="bar" onSubmit={act}><input autofocus aria-label={`New name of ${name}`} value={renaming} onInput={(e) => rename(e.currentTarget.value)} /><Button small type="submit">Rename</Button><Button small act={() => rename(undefined)}>Cancel</Button></form></li>;
  }
  return (
    <li class={was ? "selected" : ""}><button type="button" class="link" onClick={() => use(name, named(name)!)}><Text>{name}</Text></button>
      <span class="actions"><Button small act={() => use(name, named(name)!)}>Load</Button><Button small act={() => rename(name)}>Rename</Button><Button small kind="danger" act={remove}>Delete</Button></span></li>
  );
}

// Templates lists them. use puts one into the form; draft is what the form has now.
export function Templates({ draft, use, chosen }: { draft: Draft; use: (name: string, d: Draft) => void; chosen?: string }) {
  const [name, setName] = useState(chosen ?? "");
  const names = Object.keys(templates.value).sort((a, b) => a.localeCompare(b));
  const add = () => {
    const to = name.trim();
    const next = { ...templates.value, [to]: draft }, text = `Template ${to} saved.`;
    if (!named(to)) { keep(next); return tell(text); }
    ask({ title: "Replace the template?", yes: "Replace 1 template", text: <p>The template <b><Text>{to}</Text></b> will be replaced with the message in the form.</p>, act: () => replace(next, text) });
  };
  const read = async (file?: File) => {
    if (!file) return;
    try {
      const found = checked(JSON.parse(await file.text()));
      const old = Object.keys(found).filter((n) => named(n)).length, next = { ...templates.value, ...found }, text = `${plural(Object.keys(found).length, "template")} imported.`;
      if (old === 0) { keep(next); tell(text); }
      else ask({ title: "Replace templates?", yes: `Replace ${plural(old, "template")}`, text: <p>The file has {plural(Object.keys(found).length, "template")}. {plural(old, "template")} of the same name will be replaced.</p>, act: () => replace(next, text) });
    } catch (e) {
      tell(e instanceof SyntaxError ? `The file is not JSON: ${e.message}` : (e as Error).message, true);
    }
  };
  return (
    <Panel title="Templates" actions={<>
      <label class="button small">Import<input type="file" accept=".json,application/json" class="hidden" onChange={(e) => { void read(e.currentTarget.files?.[0]); e.currentTarget.value = ""; }} /></label>
      {names.length > 0 && <Button small act={() => save(new Blob([JSON.stringify(templates.value, null, 2)], { type: "application/json" }), "minibus-templates.json")}>Export</Button>}
    </>}>
      {names.length === 0 && <p class="hint">Save a message that you send often and load it here next time. Templates stay in this browser and work for all entities and namespaces.</p>}
      {names.length > 0 && <ul class="templates">{names.map((n) => <Row key={n} name={n} use={use} was={n === chosen} />)}</ul>}
      <form class="bar" onSubmit={(e) => { e.preventDefault(); try { add(); } catch (x) { tell((x as Error).message, true); } }}>
        <Field label="Template name"><input value={name} spellcheck={false} onInput={(e) => setName(e.currentTarget.value)} /></Field>
        <Button type="submit" disabled={name.trim() === ""}>Save as template</Button>
      </form>
    </Panel>
  );
}
