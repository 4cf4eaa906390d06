// Asking again and again, politely: only while the page is visible, never before the last answer has come, and less often when answers are slow.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { textOf } from "./api";

// every calls work, then again after the pause, in ms, or as long as work took if that was longer. It returns a function that calls it at once, and one that ends it.
export function every(pause: () => number, work: (signal: AbortSignal) => Promise<void>) {
  const end = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false, again = false;
  const round = async () => {
    clearTimeout(timer);
    if (end.signal.aborted || document.hidden) return;
    if (running) {
      again = true;
      return;
    }
    running = true;
    const began = performance.now();
    await work(end.signal).catch(() => undefined);
    running = false;
    if (end.signal.aborted) return;
    timer = setTimeout(round, again ? 0 : Math.max(pause(), performance.now() - began));
    again = false;
  };
  document.addEventListener("visibilitychange", round);
  void round();
  return {
    now: () => void round(),
    end: () => {
      end.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", round);
    },
  };
}

// useTurns returns a function that begins a turn. What it returns reports whether that is still the latest one: an older answer that is slower must not take its place.
export function useTurns(): () => () => boolean {
  const last = useRef(0);
  return useCallback(() => {
    const n = ++last.current;
    return () => n === last.current;
  }, []);
}

export interface Polled<T> {
  value?: T;
  error?: string;
  refresh: () => void;
}

// usePoll keeps what load returns up to date. The value is kept when an answer fails, and dropped when key changes.
export function usePoll<T>(key: string, pause: number, load: (signal: AbortSignal) => Promise<T>): Polled<T> {
  const [state, set] = useState<{ key: string; value?: T; error?: string }>({ key });
  const latest = useRef(load);
  latest.current = load;
  const now = useRef<() => void>(() => undefined);
  useEffect(() => {
    const p = every(() => pause, async (signal) => {
      try {
        const value = await latest.current(signal);
        if (!signal.aborted) set({ key, value });
      } catch (e) {
        if (!signal.aborted) set((old) => ({ key, value: old.key === key ? old.value : undefined, error: textOf(e) }));
      }
    });
    now.current = p.now;
    return p.end;
  }, [key, pause]);
  const refresh = useCallback(() => now.current(), []);
  return state.key === key ? { value: state.value, error: state.error, refresh } : { refresh };
}
