// Values that the browser keeps. A browser may forbid its storage; then they last as long as the page.
import { effect, signal, type Signal } from "@preact/signals";

export function kept<T>(store: () => Storage, name: string, initial: T): Signal<T> {
  let first = initial;
  try {
    const text = store().getItem(name);
    if (text !== null) first = JSON.parse(text) as T;
  } catch {
    // no storage, or another program's value
  }
  const value = signal(first);
  effect(() => {
    const text = JSON.stringify(value.value);
    try {
      store().setItem(name, text);
    } catch {
      // no storage, or no room in it
    }
  });
  return value;
}

export const keptHere = <T>(name: string, initial: T) => kept(() => localStorage, "minibus." + name, initial);
