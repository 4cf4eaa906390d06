// A field for an instant, which has 24 hours in every browser and takes what people type.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { textOf } from "./api";
import { zone } from "./format";

const form = "Write a date and a time such as 2026-12-24 18:00, or a time such as 18:00";

// instantTyped returns the instant that was typed, in ms. A time alone is the next one after now. It throws if the text is none.
export function instantTyped(text: string, now: number): number {
  const utc = zone.value === "utc", m = /^(?:(\d{4})-(\d{1,2})-(\d{1,2})[T\s]+)?(\d{1,2}):(\d\d)(?::(\d\d))?\s*(z)?$/i.exec(text.trim());
  if (!m) throw new Error(`${form}.`);
  const [, year, month, day, hours, minutes, seconds = "0", z] = m, inUTC = utc || z !== undefined, today = new Date(now);
  const date = year ? [Number(year), Number(month) - 1, Number(day)] : inUTC ? [today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate()] : [today.getFullYear(), today.getMonth(), today.getDate()];
  const at = (later: number) => {
    const parts = [date[0]!, date[1]!, date[2]! + later, Number(hours), Number(minutes), Number(seconds)] as const;
    return inUTC ? Date.UTC(...parts) : new Date(...parts).getTime();
  };
  const real = new Date(at(0)), shownDay = inUTC ? real.getUTCDate() : real.getDate(), shownHour = inUTC ? real.getUTCHours() : real.getHours();
  if (Number.isNaN(at(0)) || shownDay !== date[2] || shownHour !== Number(hours)) throw new Error("There is no such date or time.");
  return year || at(0) > now ? at(0) : at(1);
}

function reason(text: string, now: number): string {
  try {
    if (text.trim()) instantTyped(text, now);
    return "";
  } catch (e) {
    return textOf(e);
  }
}

// InstantField keeps its form from being sent while its text is no instant.
export function InstantField({ label, value, set, now, wrong, hint = "" }: { label: string; value: string; set: (text: string) => void; now: number; wrong?: string; hint?: string }) {
  const input = useRef<HTMLInputElement>(null), [left, leave] = useState(false);
  const local = reason(value, now), shown = (left && local) || wrong;
  useLayoutEffect(() => input.current?.setCustomValidity(local), [local]);
  const refuse = (e: Event) => {
    e.preventDefault(); // the reason stands below the field
    leave(true);
    input.current?.focus();
  };
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input ref={input} value={value} spellcheck={false} autocomplete="off" placeholder="2026-12-24 18:00" aria-invalid={shown ? true : undefined} onInput={(e) => set(e.currentTarget.value)}
        onBlur={() => leave(true)} onInvalid={refuse} />
      {shown ? <span class="wrong" role="alert">{shown}</span> : <span class="hint">{zone.value === "utc" ? "UTC" : "Local time"}, 24 hours{hint}</span>}
    </label>
  );
}
