// Toasts are short texts about what was done, or what failed. Some have a way back.
import { signal } from "@preact/signals";
import { textOf } from "./api";

interface Toast {
  id: number;
  text: string;
  failed: boolean;
  at: string; // the address of the screen on which it was told
  undo?: Undo;
  see?: { title: string; href: string };
}

// Undo makes undone what a toast tells of, and returns what to say then.
export type Undo = () => string | Promise<string>;

const mostToasts = 2; // at a time, since they stand over the page
const briefly = 4_000, long = 15_000, undoable = 30_000; // ms

const toasts = signal<Toast[]>([]);
let last = 0;

function show(t: Omit<Toast, "id" | "at">, ms: number): void {
  const id = ++last;
  toasts.value = [...toasts.value, { ...t, id, at: location.hash }].slice(-mostToasts);
  setTimeout(() => drop(id), ms);
}

// tell shows a toast. An act that goes to another screen goes there first, or its toast stays behind.
export function tell(text: string, failed = false): void {
  show({ text, failed }, failed ? long : briefly);
}

// tellOf tells of something that has an address.
export function tellOf(text: string, title: string, href: string): void {
  show({ text, failed: false, see: { title, href } }, long);
}

// tellUndo tells of an act that can be undone for a while, also from other screens.
export function tellUndo(text: string, undo: Undo): void {
  show({ text, failed: false, undo }, undoable);
}

function drop(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id);
}

// What was done on another screen is of no more use. A failure stays, and so does what can be undone.
addEventListener("hashchange", () => {
  toasts.value = toasts.value.filter((t) => t.failed || t.undo || t.at === location.hash);
});

async function undo(t: Toast): Promise<void> {
  drop(t.id);
  try {
    tell(await t.undo!());
  } catch (e) {
    tell(textOf(e), true);
  }
}

// undoLast undoes what the newest toast offers to undo.
export function undoLast(): void {
  const t = toasts.value.findLast((x) => x.undo);
  if (t) void undo(t);
  else tell("There is nothing to undo. What can be undone says so when it is done.");
}

export function Toasts() {
  return (
    <div class="toasts" aria-live="polite">
      {toasts.value.map((t) => (
        <div key={t.id} class={`toast ${t.failed ? "failed" : ""}`} role={t.failed ? "alert" : "status"}>
          <span class="wrap">{t.text}</span>
          {t.see && <a class="button small" href={t.see.href}>{t.see.title}</a>}
          {t.undo && <button type="button" class="button small" title="Undo (z)" onClick={() => void undo(t)}>Undo</button>}
          <button type="button" class="close" aria-label="Dismiss" onClick={() => drop(t.id)}>×</button>
        </div>
      ))}
    </div>
  );
}
