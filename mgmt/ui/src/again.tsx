// What to change in dead letters that are sent again, as a form.
import { useState } from "preact/hooks";
import type { Schemas } from "./api";
import { Field, type Children } from "./kit";
import { shown } from "./names";
import { Properties, valuesOf, type Property } from "./properties";
import { entities } from "./state";

export interface Again {
  target: string; // empty: their own entity
  strip: boolean;
  subject: string; // empty: as it is
  set: Property[];
  remove: string; // names, with commas between
}

export const asTheyAre: Again = { target: "", strip: true, subject: "", set: [], remove: "" };

// orderOf makes the part of an order for a job. It throws if a value is not of its type, or a target is none.
export function orderOf(a: Again): Pick<Schemas["JobOrder"], "target" | "edit"> {
  const target = a.target.trim();
  if (target !== "" && !targets().some((e) => e.path.toLowerCase() === target.toLowerCase())) throw new Error(`There is no queue or topic ${target}. Choose one from the list, or leave the field empty.`);
  const removed = a.remove.split(",").map((s) => s.trim()).filter((s) => s !== "");
  const edit: Schemas["JobEdit"] = { strip: a.strip, properties: valuesOf(a.set) };
  if (removed.length > 0) edit.removeProperties = removed;
  if (a.subject !== "") edit.subject = a.subject;
  return { target: target || undefined, edit };
}

const targets = () => (entities.value ?? []).filter((e) => e.kind !== "subscription");

// AgainForm is the form; keep gets what it says.
export function AgainForm({ keep, children }: { keep: (a: Again) => void; children: Children }) {
  const [a, put] = useState(asTheyAre);
  const change = (p: Partial<Again>) => {
    const next = { ...a, ...p };
    put(next);
    keep(next);
  };
  return (
    <>
      {children}
      <Field label="Send to" hint="Empty: the entity they were sent to">
        <input list="again-targets" value={a.target} spellcheck={false} placeholder="Their own entity" onInput={(e) => change({ target: e.currentTarget.value })} />
        <datalist id="again-targets">{targets().map((e) => <option key={e.path} value={e.path}>{shown(e.path)}</option>)}</datalist>
      </Field>
      <label class="check"><input type="checkbox" checked={a.strip} onChange={(e) => change({ strip: e.currentTarget.checked })} /> Remove DeadLetterReason and DeadLetterErrorDescription</label>
      <details class="changes">
        <summary>Change the messages</summary>
        <Field label="New subject" hint="Empty: unchanged"><input value={a.subject} spellcheck={false} onInput={(e) => change({ subject: e.currentTarget.value })} /></Field>
        <Properties title="Application properties to set" list={a.set} set={(set) => change({ set })} />
        <Field label="Application properties to remove" hint="Names, separated by commas"><input value={a.remove} spellcheck={false} onInput={(e) => change({ remove: e.currentTarget.value })} /></Field>
      </details>
    </>
  );
}
