// Application properties with their types, as a form.
import { Button } from "./kit";
import type { Value } from "./message";

const types = ["string", "int", "long", "double", "boolean", "uuid", "timestamp", "float", "short", "byte", "uint", "ulong", "ushort", "ubyte", "char", "symbol", "binary", "decimal32", "decimal64", "decimal128", "null"];

export interface Property {
  name: string;
  type: string;
  text: string;
}

// valueOf makes the value of a property. It throws if the text is not of the type.
export function valueOf(p: Property): Value {
  switch (p.type) {
    case "string":
      return p.text;
    case "null":
      return null;
    case "boolean":
      if (p.text !== "true" && p.text !== "false") throw new Error(`The property ${p.name} is true or false.`);
      return p.text === "true";
    case "int": case "short": case "byte": case "uint": case "ushort": case "ubyte": {
      if (!/^-?\d+$/.test(p.text.trim())) throw new Error(`The property ${p.name} is a whole number.`);
      return { [p.type]: Number(p.text) };
    }
    case "list": case "map": case "array": case "described":
      return { [p.type]: JSON.parse(p.text) as unknown };
    default:
      return { [p.type]: p.text.trim() };
  }
}

// valuesOf makes the application properties that have a name; undefined if there are none.
export function valuesOf(list: Property[]): Record<string, Value> | undefined {
  const named = list.filter((p) => p.name !== "");
  return named.length > 0 ? Object.fromEntries(named.map((p) => [p.name, valueOf(p)])) : undefined;
}

export function Properties({ list, set, title = "Application properties" }: { title?: string; list: Property[]; set: (list: Property[]) => void }) {
  const change = (i: number, p: Partial<Property>) => set(list.map((old, j) => (i === j ? { ...old, ...p } : old)));
  return (
    <fieldset class="properties"><legend>{title}</legend>
      {list.map((p, i) => (
        <div key={i} class="property">
          <input aria-label="Name" placeholder="Name" value={p.name} spellcheck={false} onInput={(e) => change(i, { name: e.currentTarget.value })} />
          <select aria-label={`Type of ${p.name}`} value={p.type} onChange={(e) => change(i, { type: e.currentTarget.value })}>{[...new Set([...types, p.type])].map((t) => <option key={t}>{t}</option>)}</select>
          <input aria-label={`Value of ${p.name}`} placeholder="Value" value={p.text} spellcheck={false} onInput={(e) => change(i, { text: e.currentTarget.value })} />
          <button type="button" class="close" aria-label={`Remove the property ${p.name}`} onClick={() => set(list.filter((_, j) => j !== i))}>×</button>
        </div>
      ))}
      <div><Button small act={() => set([...list, { name: "", type: "string", text: "" }])}>Add a property</Button></div>
    </fieldset>
  );
}

