// Dead letters, by reason, and as a table.
import { useEffect, useState } from "preact/hooks";
import { textOf } from "./api";
import { Export } from "./export";
import { number, plural } from "./format";
import { purgeSome, resubmit } from "./joborders";
import { keptHere } from "./kept";
import { Button, Panel, Problem, Text, Time } from "./kit";
import { everything, read, textOfValue, type Message } from "./message";
import { Messages } from "./messages";
import { deadLetters } from "./names";
import { refine, route } from "./route";
import { entityAt } from "./state";

const most = 5000; // dead letters that are counted by reason
const described = 12; // reasons whose newest message is read
const inLine = 6; // reasons in the folded line

const unfolded = keptHere("reasons", false);

interface Reason {
  reason: string;
  count: number;
  newest: Message;
}

function byReason(list: Message[]): Reason[] {
  const reasons = new Map<string, Reason>();
  for (const m of list) {
    const reason = m.deadLetterReason ?? "", r = reasons.get(reason);
    reasons.set(reason, { reason, count: (r?.count ?? 0) + 1, newest: r && Date.parse(r.newest.enqueuedTime ?? "") > Date.parse(m.enqueuedTime ?? "") ? r.newest : m });
  }
  return [...reasons.values()].sort((a, b) => b.count - a.count);
}

// useDescriptions reads the descriptions of messages, each once.
function useDescriptions(namespace: string, entity: string, messages: Message[]): Map<number, string> {
  const [known, set] = useState<Map<number, string>>(new Map());
  const missing = messages.map((m) => m.sequenceNumber).filter((n) => !known.has(n));
  useEffect(() => {
    const end = new AbortController();
    for (const n of missing) {
      read(namespace, entity, n, end.signal, 0).then(
        (m) => set((old) => new Map(old).set(n, textOfValue(m.applicationProperties?.DeadLetterErrorDescription))),
        () => undefined); // it is gone meanwhile
    }
    return () => end.abort();
  }, [namespace, entity, missing.join()]);
  return known;
}

function ReasonTable({ entity, reasons, of }: { entity: string; reasons: Reason[]; of: number }) {
  const shown = route.value.query.reason;
  const [exporting, exportReason] = useState<Reason>();
  const descriptions = useDescriptions(route.value.namespace, entity, reasons.slice(0, described).map((r) => r.newest));
  return (
    <Panel flush>
      {of > most && <p class="hint pad">Of the first {number(most)} dead letters.</p>}
      <table class="plain by-reason">
        <thead><tr><th>Reason</th><th class="right">Messages</th><th>Newest</th><th>Newest description</th><th><span class="hidden">Actions</span></th></tr></thead>
        <tbody>{reasons.map((r) => (
          <tr key={r.reason} class={shown === (r.reason || "$empty") ? "selected" : ""}>
            <td><button type="button" class="link" onClick={() => refine({ reason: r.reason || "$empty" })}>{r.reason ? <Text>{r.reason}</Text> : "none"}</button></td>
            <td class="right">{number(r.count)}</td>
            <td><Time at={r.newest.enqueuedTime} ageOnly="short" /></td>
            <td class="cut"><Text>{descriptions.get(r.newest.sequenceNumber) ?? ""}</Text></td>
            <td class="right">
              <Button small act={() => exportReason(r)}>Export</Button> <Button small title={plural(r.count, "message")} act={() => resubmit(entity, { reason: r.reason }, r.count)}>Resubmit</Button>{" "}
              <Button small kind="danger" act={() => purgeSome(entity, { reason: r.reason }, r.count)}>Purge</Button>
            </td>
          </tr>
        ))}</tbody>
      </table>
      {exporting && <Export entity={entity} numbers={[]} query={{ reason: exporting.reason || "$empty" }} total={of > most ? undefined : exporting.count} close={() => exportReason(undefined)} />}
    </Panel>
  );
}

// Reasons is one line with the reasons, whatever is open below it, and unfolds to a table of them.
function Reasons({ path }: { path: string }) {
  const namespace = route.value.namespace, entity = path + "/" + deadLetters, chosen = route.value.query.reason;
  const count = entityAt.value.get(path.toLowerCase())?.counts.deadLetter ?? 0;
  const [list, set] = useState<Message[]>(), [error, setError] = useState("");
  useEffect(() => {
    const end = new AbortController();
    everything(namespace, entity, most, end.signal).then((l) => { set(l); setError(""); }, (e) => { if (!end.signal.aborted) setError(textOf(e)); });
    return () => end.abort();
  }, [namespace, entity, count]);
  if (error) return <Problem text={error} />;
  if (list?.length === 0) return null;
  const reasons = byReason(list ?? []), valueOf = (r: Reason) => r.reason || "$empty";
  const first = reasons.filter((r, i) => i < inLine || valueOf(r) === chosen);
  return (
    <>
      <div class="one-line">
        <button type="button" class="unfold" aria-expanded={unfolded.value} onClick={() => (unfolded.value = !unfolded.value)}>By reason</button>
        <div class="chips" role="group" aria-label="Reasons">
          {first.map((r) => (
            <button key={r.reason} type="button" class="chip" aria-pressed={valueOf(r) === chosen} onClick={() => refine({ reason: valueOf(r) === chosen ? undefined : valueOf(r) })}>
              {r.reason ? <Text>{r.reason}</Text> : "no reason"} <b>{number(r.count)}</b>
            </button>
          ))}
          {reasons.length > first.length && <button type="button" class="chip" onClick={() => (unfolded.value = true)}>{number(reasons.length - first.length)} more</button>}
        </div>
      </div>
      {unfolded.value && reasons.length > 0 && <ReasonTable entity={entity} reasons={reasons} of={count} />}
    </>
  );
}

export function DeadLetters({ path, chosen }: { path: string; chosen?: string }) {
  return <><Reasons path={path} /><Messages path={path} dead chosen={chosen} /></>;
}
