// Named values with their types: the application properties of a message, those of a correlation filter, parameters of an expression.
import type { Value } from "./message";
import { Button } from "./kit";

export interface Property {
  name: string;
  type: string;
  text: string;
}

// composed are types of values that have parts, which are written in JSON.
const composed = ["list", "map", "array", "described"];

const amqpTypes = ["string", "int", "long", "double", "boolean", "uuid", "timestamp", "float", "short", "byte", "uint", "ulong", "ushort", "ubyte", "char", "symbol", "binary", "decimal32", "decimal64", "decimal128", "null"];

export const isType = (name: string): boolean => amqpTypes.includes(name) || composed.includes(name);

// wholes are the ranges of the types of whole numbers, in bits; u: without a sign.
const wholes: Record<string, bigint> = { byte: 8n, short: 16n, int: 32n, long: 64n, ubyte: 8n, ushort: 16n, uint: 32n, ulong: 64n };

function checkWhole(p: Property): void {
  const text = p.text.trim();
  if (!/^-?\d+$/.test(text)) throw new Error(`The property ${p.name} must be a whole number.`);
  const bits = wholes[p.type]!, unsigned = p.type.startsWith("u"), n = BigInt(text);
  const least = unsigned ? 0n : -(1n << (bits - 1n)), most = (1n << (unsigned ? bits : bits - 1n)) - 1n;
  if (n < least || n > most) throw new Error(`The property ${p.name} must be from ${least} to ${most} for the type ${p.type}.`);
}

const real = /^[-+]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf(inity)?)$|^nan$/i;

const forms: Record<string, [RegExp, string]> = {
  uuid: [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, "a UUID such as 123e4567-e89b-12d3-a456-426614174000"],
  timestamp: [/^\d{4}-\d\d-\d\d/, "an instant such as 2026-11-22T10:00:00Z"],
  double: [real, "a number"],
  float: [real, "a number"],
  binary: [/^[A-Za-z0-9+/]*={0,2}$/, "bytes in Base64"],
  char: [/^[^]$|^\d+$/u, "one character, or its number"],
};

// valueOf makes the value of a property of a message. It throws if the text is not of the type.
export function valueOf(p: Property): Value {
  const form = Object.hasOwn(forms, p.type) ? forms[p.type] : undefined;
  if (form && !form[0].test(p.text.trim())) throw new Error(`The property ${p.name} must be ${form[1]}.`);
  switch (p.type) {
    case "string":
      return p.text;
    case "null":
      return null;
    case "boolean":
      if (p.text !== "true" && p.text !== "false") throw new Error(`The property ${p.name} must be true or false.`);
      return p.text === "true";
    case "int": case "short": case "byte": case "uint": case "ushort": case "ubyte":
      checkWhole(p);
      return { [p.type]: Number(p.text) };
    case "long": case "ulong":
      checkWhole(p);
      return { [p.type]: p.text.trim() };
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

interface PropertiesProps {
  list: Property[];
  set: (list: Property[]) => void;
  types?: string[];
  title?: string;
  add?: string;
  names?: string[]; // to suggest
}

export function Properties({ list, set, types = amqpTypes, title = "Application properties", add = "Add a property", names = [] }: PropertiesProps) {
  const change = (i: number, p: Partial<Property>) => set(list.map((old, j) => (i === j ? { ...old, ...p } : old)));
  return (
    <fieldset class="properties"><legend>{title}</legend>
      {list.map((p, i) => (
        <div key={i} class="property">
          <input aria-label="Name" placeholder="Name" list={names.length > 0 ? "suggested-names" : undefined} value={p.name} spellcheck={false} onInput={(e) => change(i, { name: e.currentTarget.value })} />
          <select aria-label={`Type of ${p.name}`} value={p.type} onChange={(e) => change(i, { type: e.currentTarget.value })}>{[...new Set([...types, p.type])].map((t) => <option key={t}>{t}</option>)}</select>
          <input aria-label={`Value of ${p.name}`} placeholder="Value" value={p.text} spellcheck={false} onInput={(e) => change(i, { text: e.currentTarget.value })} />
          <button type="button" class="close" aria-label={`Remove the property ${p.name}`} onClick={() => set(list.filter((_, j) => j !== i))}>×</button>
        </div>
      ))}
      {names.length > 0 && <datalist id="suggested-names">{names.map((n) => <option key={n} value={n} />)}</datalist>}
      <div><Button small act={() => set([...list, { name: "", type: types[0] ?? "string", text: "" }])}>{add}</Button></div>
    </fieldset>
  );
}
