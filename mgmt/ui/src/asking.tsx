// A question before an act that takes something away: what happens, to how many, and whether there is a way back.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { at, call, textOf } from "./api";
import { Boundary } from "./boundary";
import { Button, Dialog, Problem, type Children } from "./kit";
import { current } from "./state";
import { tell } from "./toasts";

interface Question {
  title: string;
  text: Children;
  yes: string;
  act: () => unknown;
  form?: boolean; // the text has fields: a failure is shown there, and they stay
  harmless?: boolean; // nothing is taken away
  losing?: string; // the act in a word: it takes messages away, which a snapshot of the namespace keeps
}

const question = signal<(Question & { screen: string }) | undefined>(undefined);

// ask shows what is about to happen, and does it if the reader agrees.
export function ask(q: Question): void {
  question.value = { ...q, screen: location.hash };
}

// A question belongs to its screen. On another one it could be confirmed by mistake.
addEventListener("hashchange", () => {
  if (question.value && question.value.screen !== location.hash) question.value = undefined;
});

// nameOf returns a name for a snapshot before an act.
const nameOf = (act: string) => `before-${act}-${new Date().toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-")}`;

async function keep(act: string, signal: AbortSignal): Promise<string> {
  const name = nameOf(act);
  await call("POST", at`${current.value}/snapshots`, { body: { name }, signal });
  return name;
}

export function Asking() {
  const q = question.value;
  return q ? <Ask key={q.title} q={q} /> : null;
}

function Ask({ q }: { q: Question }) {
  const [wrong, setWrong] = useState(""), [keeping, setKeeping] = useState(false), saving = useRef<AbortController>(undefined);
  const close = () => (question.value = undefined);
  useEffect(() => () => saving.current?.abort(), []);
  const act = async () => {
    const end = (saving.current = new AbortController());
    try {
      const kept = keeping && q.losing ? await keep(q.losing, end.signal) : "";
      if (end.signal.aborted) return;
      saving.current = undefined;
      await q.act();
      if (kept) tell(`Saved as snapshot ${kept}. Restore it under Snapshots.`);
    } catch (e) {
      if (end.signal.aborted) return;
      if (q.form) return setWrong(textOf(e));
      close();
      throw e;
    }
    close();
  };
  return (
    <Dialog title={q.title} close={close} wide={q.form}>
      <div class="dialog-body">
        <Boundary instead={(text) => <Problem text={`This question can’t be shown: ${text}`} />}>{q.text}</Boundary>
        {q.losing && <label class="check"><input type="checkbox" checked={keeping} onChange={(e) => setKeeping(e.currentTarget.checked)} /> <span>Save a snapshot of the namespace first. Restoring it is the only way back.</span></label>}
        {wrong && <Problem text={wrong} />}
      </div>
      <footer>
        <Button act={close}>{q.yes.startsWith("Cancel") ? "Back" : "Cancel"}</Button>
        <Button kind={q.harmless ? "primary" : "danger"} act={act}>{q.yes}</Button>
      </footer>
    </Dialog>
  );
}
