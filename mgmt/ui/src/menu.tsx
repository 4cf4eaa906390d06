// A button that unfolds a small panel over the page. A press elsewhere or Escape folds it.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Children } from "./kit";

export function Menu({ label, children, opened }: { label: Children; children: Children; opened?: () => void }) {
  const box = useRef<HTMLDetailsElement>(null);
  useLayoutEffect(() => { // before the next key arrives
    const close = () => { if (box.current) box.current.open = false; };
    const onPress = (e: Event) => { if (!box.current?.contains(e.target as Node)) close(); };
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== "Escape" || !box.current?.open) return;
      e.stopImmediatePropagation(); // what is below it stays open
      close();
      box.current.querySelector("summary")?.focus();
    };
    addEventListener("pointerdown", onPress);
    addEventListener("keydown", onKey, true);
    return () => {
      removeEventListener("pointerdown", onPress);
      removeEventListener("keydown", onKey, true);
    };
  }, []);
  return (
    <details ref={box} class="choice" onToggle={() => box.current?.open && opened?.()}>
      <summary class="button">{label}</summary>
      <div class="choice-list">{children}</div>
    </details>
  );
}
