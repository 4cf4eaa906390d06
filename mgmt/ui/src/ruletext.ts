// Rules in the form of Config.json, and as they are typed.
import type { Property } from "./properties";
import { words } from "./names";

// valueTypes are the types of values in rules.
export const valueTypes = ["string", "long", "double", "boolean", "int", "dateTime", "duration", "guid", "decimal", "float", "short", "byte", "unsignedByte", "unsignedShort", "unsignedInt", "unsignedLong"];

export const correlationFields: [string, string][] = [
  ["Label", "Subject"], ["MessageId", "Message id"], ["CorrelationId", "Correlation id"], ["SessionId", "Session id"],
  ["ContentType", "Content type"], ["To", "To"], ["ReplyTo", "Reply to"], ["ReplyToSessionId", "Reply to session"],
];

// fieldName is what a correlation filter calls a field, for people: Label is the subject.
export const fieldName = (name: string): string => correlationFields.find(([f]) => f === name)?.[1].toLowerCase() ?? name;

export type FilterType = "Sql" | "Correlation" | "True" | "False";

export const filterTypes: [FilterType, string][] = [["Sql", "SQL filter"], ["Correlation", "Correlation filter"], ["True", "Every message"], ["False", "No message"]];

// Draft is a rule while it is typed.
export interface Draft {
  type: FilterType;
  sql: string;
  parameters: Property[];
  fields: Record<string, string>; // of a correlation filter; an empty one must be there and empty, one that is missing is not compared
  properties: Property[];
  action: string;
  actionParameters: Property[];
}

export const emptyDraft: Draft = { type: "Sql", sql: "", parameters: [], fields: {}, properties: [], action: "", actionParameters: [] };

// Digits is a number as it was written. JSON.parse would lose the difference between 5 and 5.0, and the last digits of a long.
export class Digits {
  constructor(readonly text: string) {}
  toJSON(): number {
    return Number(this.text);
  }
}

// parse reads JSON with its numbers as they are written, in browsers that tell.
export function parse(text: string): unknown {
  const reviver = (_: string, value: unknown, context?: { source?: string }) => (typeof value === "number" ? new Digits(context?.source ?? String(value)) : value);
  return JSON.parse(text, reviver as (this: unknown, key: string, value: unknown) => unknown);
}

interface Typed {
  Type: string;
  Value: unknown;
}

// textOf returns the text of a value that parse has read.
const textOf = (v: unknown) => (v instanceof Digits ? v.text : String(v));

function propertyOf(name: string, v: unknown): Property {
  if (v instanceof Digits || typeof v === "number") return { name, type: /[.eE]/.test(textOf(v)) ? "double" : "long", text: textOf(v) };
  if (typeof v === "boolean") return { name, type: "boolean", text: String(v) };
  if (v !== null && typeof v === "object" && "Type" in v) return { name, type: (v as Typed).Type, text: textOf((v as Typed).Value) };
  return { name, type: "string", text: String(v ?? "") };
}

const listOf = (o: unknown): Property[] => Object.entries((o ?? {}) as Record<string, unknown>).map(([name, v]) => propertyOf(name, v));

interface Expression {
  SqlExpression?: string;
  Parameters?: unknown;
}

// draftOf makes a draft of the properties of a rule, which parse has read.
export function draftOf(p: Record<string, unknown>): Draft {
  const sql = (p.SqlFilter ?? {}) as Expression, action = (p.Action ?? {}) as Expression, { Properties, ...fields } = (p.CorrelationFilter ?? {}) as Record<string, unknown>;
  return {
    type: (p.FilterType as FilterType) ?? "Sql", sql: sql.SqlExpression ?? "", parameters: listOf(sql.Parameters),
    fields: fields as Record<string, string>, properties: listOf(Properties), action: action.SqlExpression ?? "", actionParameters: listOf(action.Parameters),
  };
}

// draftOfText makes a draft of a rule in an address; undefined if it is none.
export function draftOfText(rule: string): Draft | undefined {
  try {
    return draftOf(parse(rule) as Record<string, unknown>);
  } catch {
    return undefined;
  }
}

// valueOf makes the value of a property of a rule. It throws if a truth value is none; the server reads the other types.
function valueOf(p: Property): unknown {
  if (p.type === "string") return p.text;
  if (p.type !== "boolean") return { Type: p.type, Value: p.text.trim() };
  if (p.text !== "true" && p.text !== "false") throw new Error(`The property ${p.name} is true or false.`);
  return p.text === "true";
}

function valuesOf(list: Property[]): Record<string, unknown> | undefined {
  const named = list.filter((p) => p.name !== "");
  return named.length > 0 ? Object.fromEntries(named.map((p) => [p.name, valueOf(p)])) : undefined;
}

// propertiesOf makes the properties of a rule of a draft.
export function propertiesOf(d: Draft): Record<string, unknown> {
  const p: Record<string, unknown> = { FilterType: d.type };
  if (d.type === "Sql") p.SqlFilter = { SqlExpression: d.sql, Parameters: valuesOf(d.parameters) };
  if (d.type === "Correlation") {
    p.CorrelationFilter = { ...d.fields, Properties: valuesOf(d.properties) };
  }
  if (d.action.trim()) p.Action = { SqlExpression: d.action, Parameters: valuesOf(d.actionParameters) };
  return p;
}

// terms takes the parts of a filter and an action apart, so that each has a line.
export function terms(of: Record<string, unknown>, before = ""): [string, unknown][] {
  return Object.entries(of).flatMap(([k, v]): [string, unknown][] =>
    (v !== null && typeof v === "object" && !Array.isArray(v) ? terms(v as Record<string, unknown>, before + words(k) + " › ") : [[before + words(k), v]]));
}
