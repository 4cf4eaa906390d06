// The fields of the settings of an entity, in groups of which each can be folded.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { topicOf } from "./names";
import { groupsOf, said, statuses, type Group, type Kind, type Setting, type Texts } from "./settings";
import { entities } from "./state";

interface FieldsProps {
  kind: Kind;
  texts: Texts;
  set: (name: string, text: string) => void;
  wrong: Texts;
  before?: Texts; // of an entity that exists
}

const most = 500; // targets that the browser suggests

// Targets are suggestions for fields that name a queue or a topic.
function Targets() {
  const list = (entities.value ?? []).filter((e) => e.kind !== "subscription").slice(0, most);
  return <datalist id="targets">{list.map((e) => <option key={e.path} value={e.path} />)}</datalist>;
}

function initialOf(s: Setting): string {
  if (s.type === "flag") return s.initial === "true" ? "Default: on." : "Default: off.";
  return s.initial && s.type !== "status" ? `Default: ${s.initial}${s.unit ? " " + s.unit : ""}.` : s.type === "entity" ? "Default: none." : "";
}

const examples: Partial<Record<Setting["type"], string>> = { duration: "30s, 5m, 14d, never" };

function Input({ s, text, set, described, wrong, locked }: { s: Setting; text: string; set: (text: string) => void; described: string; wrong: boolean; locked: boolean }) {
  const common = { id: "set-" + s.name, disabled: locked, "aria-describedby": described, "aria-invalid": wrong || undefined };
  if (s.type === "status") {
    return <select {...common} value={text || s.initial} onChange={(e) => set(e.currentTarget.value)}>{statuses.map(([v, title]) => <option key={v} value={v}>{title}</option>)}</select>;
  }
  return (
    <span class="with-unit">
      <input {...common} value={text} spellcheck={false} autocomplete="off" list={s.type === "entity" ? "targets" : undefined} inputMode={s.type === "number" ? "numeric" : undefined}
        placeholder={s.initial || examples[s.type] || ""} onInput={(e) => set(e.currentTarget.value)} />
      {s.unit && <span class="faint">{s.unit}</span>}
    </span>
  );
}

function SettingField({ s, text, set, wrong, exists }: { s: Setting; text: string; set: (text: string) => void; wrong?: string; exists: boolean }) {
  const described = "help-" + s.name, locked = exists && s.fixed === true;
  const note = locked ? "Set at creation, can’t be changed." : [s.help, s.fixed ? "Can’t be changed later." : "", initialOf(s)].filter(Boolean).join(" ");
  const help = <span class={wrong ? "wrong" : "hint"} id={described}>{wrong && <>{wrong} </>}{!wrong && note}</span>;
  if (s.type === "flag") {
    return (
      <div class={`setting ${locked ? "locked" : ""}`}>
        <label class="check"><input type="checkbox" id={"set-" + s.name} checked={(text || s.initial) === "true"} disabled={locked} aria-describedby={described}
          onChange={(e) => set(String(e.currentTarget.checked))} /><span class="field-label">{s.title}</span></label>
        {help}
      </div>
    );
  }
  return (
    <div class={`setting ${locked ? "locked" : ""}`}>
      <label class="field-label" for={"set-" + s.name}>{s.title}</label>
      <Input s={s} text={text} set={set} described={described} wrong={wrong !== undefined} locked={locked} />
      {help}
    </div>
  );
}

// changed reports whether a setting is not what it was, or not its default.
function changed(s: Setting, { texts, before }: FieldsProps): boolean {
  const text = texts[s.name];
  return text !== undefined && text !== (before?.[s.name] ?? s.initial) && (before !== undefined || text !== "");
}

// brief says on the line of a group what was changed in it, and while it is folded what it has.
function brief(g: Group, p: FieldsProps, open: boolean): string {
  const n = g.settings.filter((s) => changed(s, p)).length;
  if (open) return n > 0 ? `${n} changed` : "";
  const values = g.settings.map((s) => said(s, p.texts[s.name])).filter(Boolean).join(", ");
  return n > 0 ? `${n} changed: ${values}` : values;
}

// Folded is a group of settings. It opens when something in it is wrong, and stays as the reader leaves it.
function Folded({ g, p }: { g: Group; p: FieldsProps }) {
  const wrong = g.settings.some((s) => p.wrong[s.name]);
  const [open, setOpen] = useState(p.before !== undefined), group = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => {
    if (wrong) group.current!.open = true; // at once: a field that is folded takes no cursor
  }, [p.wrong]);
  return (
    <details ref={group} class="group" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary><b>{g.title}</b> <span class="faint">{brief(g, p, open)}</span></summary>
      <div class="settings">
        {g.settings.map((s) => <SettingField key={s.name} s={s} text={p.texts[s.name] ?? ""} set={(text) => p.set(s.name, text)} wrong={p.wrong[s.name]} exists={p.before !== undefined} />)}
      </div>
    </details>
  );
}

export function Fields(p: FieldsProps) {
  return (
    <>
      <Targets />
      {groupsOf(p.kind).map((g) => <Folded key={g.title} g={g} p={p} />)}
    </>
  );
}

// useFocusOn puts the cursor into the first field that is wrong, before the next key arrives.
export function useFocusOn(wrong: Texts): void {
  useLayoutEffect(() => {
    if (Object.keys(wrong).length > 0) document.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  }, [wrong]);
}

// fieldOf returns the field of a path in the body of a request.
export const fieldOf = (kind: Kind) => (path: string): string | undefined => {
  const name = path === "$" ? "Name" : /^\$\.(?:Properties\.)?(\w+)$/.exec(path)?.[1]; // what is wrong with the whole is the name, which is in the address
  return name === "Name" || groupsOf(kind).some((g) => g.settings.some((s) => s.name === name)) ? name : undefined;
};

// Loss is what a deletion takes away.
export interface Loss {
  messages: number;
  subscriptions: number;
}

// lossOf counts what goes with an entity. A topic's own messages are its scheduled ones.
export function lossOf(path: string): Loss {
  const of = path.toLowerCase();
  const below = (entities.value ?? []).filter((e) => topicOf(e.path)?.toLowerCase() === of);
  const messages = [...(entities.value ?? []).filter((e) => e.path.toLowerCase() === of), ...below]
    .reduce((n, { kind, counts: c }) => n + c.scheduled + (kind === "topic" ? 0 : c.active + c.deadLetter + c.transfer + c.transferDeadLetter), 0);
  return { messages, subscriptions: below.length };
}
