// What the server finds wrong in a text of the form of Config.json: where, and what to do.
import { Failure, textOf } from "./api";
import { typedDuration } from "./durations";
import { number } from "./format";

export interface Finding {
  line: number;
  column: number;
  path: string; // such as $.Properties.LockDuration
  text: string;
}

const form = /^body(?:\.\w+)?:(\d+):(\d+): (?:error|warning): (\$\S*): ([^]*)$/;

export function findingOf(text: string): Finding | undefined {
  const m = form.exec(text);
  return m ? { line: Number(m[1]), column: Number(m[2]), path: m[3]!, text: sentence(m[4]!) } : undefined;
}

const sentence = (s: string) => s.charAt(0).toUpperCase() + s.slice(1);

// plain says what is wrong as to somebody who typed it into a form: durations as they are typed there, and what to do.
function plain(text: string): string {
  const typed = text.replace(/"?\b(P(?=[\dT])(?:\d+D)?(?:T(?:\d+H)?(?:\d+M)?(?:[\d.]+S)?)?)\b"?/g, (_, iso: string) => typedDuration(iso)).replace(/\b\d{5,}\b/g, (n) => number(Number(n)));
  const [, found, allowed] = /^Found (.+?); allowed: ([^]+)$/.exec(typed) ?? [];
  if (!found || !allowed) return typed;
  const character = /^the character '([^]+)' in the name/.exec(found)?.[1], target = /^the unknown target "([^"]+)"/.exec(found)?.[1];
  if (character) return `A name can’t have ${character === " " ? "a space" : character}. Use ${allowed}.`;
  if (target) return `There is no queue or topic ${target}. Create it first, or correct the name.`;
  return `${sentence(found.replace(/^the number /, ""))} isn’t allowed. Use ${allowed}.`;
}

// sqlReason is the reason of a parser's refusal, without the place and the words before it.
export const sqlReason = (text: string): string =>
  text.replace(/^Found an expression that can't be used\. /, "").replace(/\s*\[Token line=.*?Additional details=\s*([^]*)\]$/, (_, details: string) => ` ${sentence(details)}.`);

// sorted splits a failure into what belongs to fields and the rest. field returns the name of the field of a path, or undefined.
export function sorted(e: unknown, field: (path: string) => string | undefined): { wrong: Record<string, string>; rest: string } {
  const wrong: Record<string, string> = {}, rest: string[] = [];
  const errors = e instanceof Failure ? e.errors : [];
  if (errors.length === 0) return { wrong, rest: textOf(e) };
  for (const text of errors) {
    const f = findingOf(text), name = f && field(f.path);
    if (name && !wrong[name]) wrong[name] = plain(f.text);
    else if (f) rest.push([f.path.replace(/^\$\.?(Properties\.)?/, ""), plain(f.text)].filter(Boolean).join(": "));
    else rest.push(text);
  }
  return { wrong, rest: rest.join("\n") };
}

// Place tells where the service's parser found an error: lines count from 1, columns from 0.
export function placeOf(text: string): { line: number; column: number } | undefined {
  const m = /\[Token line=(\d+), column=(\d+)/.exec(text);
  return m ? { line: Number(m[1]), column: Number(m[2]) } : undefined;
}

// wordAt returns where the word at a place of a text begins and ends.
export function wordAt(text: string, line: number, column: number): [number, number] {
  const from = text.split("\n").slice(0, Math.max(line - 1, 0)).reduce((n, l) => n + l.length + 1, 0) + column;
  const word = /^\s*\S+/.exec(text.slice(from))?.[0].length ?? 0;
  return [Math.min(from, text.length), Math.min(from + Math.max(word, 1), text.length)];
}
