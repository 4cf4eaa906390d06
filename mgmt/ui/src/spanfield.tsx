// A field for a duration, which says at the field what is wrong with it.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isoOf, typedDuration } from "./durations";
import { textOf } from "./api";
import { Text } from "./kit";

// isoSpan returns the duration that was typed in the form of ISO 8601, and undefined for an empty text. It throws if the text is none.
export const isoSpan = (text?: string): string | undefined => (text?.trim() ? isoOf(text) : undefined);

// typedSpan returns the text for a duration, or the duration itself if a text would change it.
export function typedSpan(iso: string): string {
  const text = typedDuration(iso);
  try {
    return isoOf(text) === iso ? text : iso;
  } catch {
    return iso;
  }
}

function reason(text: string): string {
  try {
    if (!text.includes("{{")) isoSpan(text); // placeholders have their values later
    return "";
  } catch (e) {
    return textOf(e);
  }
}

export const spanHint = "Such as 90s, 2h, 1d";

// SpanField keeps its form from being sent while its text is no duration. wrong is what the server has against it.
export function SpanField({ label, hint = spanHint, value, set, wrong }: { label: string; hint?: string; value: string; set: (text: string) => void; wrong?: string }) {
  const input = useRef<HTMLInputElement>(null), [left, leave] = useState(false);
  const local = reason(value), shown = (left && local) || wrong;
  useLayoutEffect(() => input.current?.setCustomValidity(local), [local]);
  const refuse = (e: Event) => {
    e.preventDefault(); // the reason stands below the field
    leave(true);
    input.current?.focus();
  };
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input ref={input} value={value} spellcheck={false} aria-invalid={shown ? true : undefined} onInput={(e) => set(e.currentTarget.value)} onBlur={() => leave(true)} onInvalid={refuse} />
      {shown ? <span class="wrong" role="alert"><Text>{shown}</Text></span> : <span class="hint">{hint}</span>}
    </label>
  );
}
