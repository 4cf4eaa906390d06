// What the server finds wrong in a text of the form of Config.json: where, and what to do.
import { Failure, textOf } from "./api";

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

// sorted splits a failure into what belongs to fields and the rest. field returns the name of the field of a path, or undefined.
export function sorted(e: unknown, field: (path: string) => string | undefined): { wrong: Record<string, string>; rest: string } {
  const wrong: Record<string, string> = {}, rest: string[] = [];
  const errors = e instanceof Failure ? e.errors : [];
  if (errors.length === 0) return { wrong, rest: textOf(e) };
  for (const text of errors) {
    const f = findingOf(text), name = f && field(f.path);
    if (name && !wrong[name]) wrong[name] = f.text;
    else if (f) rest.push(`${f.path.replace(/^\$\.?(Properties\.)?/, "") || "The text"}: ${f.text}`);
    else rest.push(text);
  }
  return { wrong, rest: rest.join("\n") };
}

// Place tells where the service's parser found an error: lines count from 1, columns from 0.
export function placeOf(text: string): { line: number; column: number } | undefined {
  const m = /\[Token line=(\d+), column=(\d+)/.exec(text);
  return m ? { line: Number(m[1]), column: Number(m[2]) } : undefined;
}

// mark selects the word at a place of a text field.
export function mark(area: HTMLTextAreaElement | null, line: number, column: number): void {
  if (!area) return;
  const lines = area.value.split("\n");
  const from = lines.slice(0, Math.max(line - 1, 0)).reduce((n, l) => n + l.length + 1, 0) + column;
  const word = /^\s*\S+/.exec(area.value.slice(from))?.[0].length ?? 0;
  area.focus();
  area.setSelectionRange(Math.min(from, area.value.length), Math.min(from + Math.max(word, 1), area.value.length));
}
