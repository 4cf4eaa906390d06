// Dead letters, by reason, and as a table.
import { useEffect, useState } from "preact/hooks";
import { textOf } from "./api";
import { Export } from "./export";
import { number, plural } from "./format";
import { purgeSome, resubmit } from "./joborders";
import { Button, Loading, Panel, Problem, Text } from "./kit";
import { everything, type Message } from "./message";
import { Messages } from "./messages";
import { deadLetters } from "./names";
import { refine, route } from "./route";
import { entityAt } from "./state";

const most = 5000; // dead letters that are counted by reason

function byReason(list: Message[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const m of list) counts.set(m.deadLetterReason ?? "", (counts.get(m.deadLetterReason ?? "") ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function Reasons({ path }: { path: string }) {
  const namespace = route.value.namespace, entity = path + "/" + deadLetters;
  const count = entityAt.value.get(path.toLowerCase())?.counts.deadLetter ?? 0;
  const [list, set] = useState<Message[]>(), [error, setError] = useState(""), [exporting, exportReason] = useState<string>();
  useEffect(() => {
    const end = new AbortController();
    everything(namespace, entity, most, end.signal).then((l) => { set(l); setError(""); }, (e) => { if (!end.signal.aborted) setError(textOf(e)); });
    return () => end.abort();
  }, [namespace, entity, count]);
  if (error) return <Problem text={error} />;
  if (!list) return <Loading />;
  if (list.length === 0) return null;
  const total = count > most ? undefined : list.filter((m) => (m.deadLetterReason ?? "") === exporting).length;
  const rows = byReason(list), shown = route.value.query.reason;
  return (
    <Panel title="By reason" flush actions={count > most && <span class="faint">of the first {number(most)}</span>}>
      <table class="plain by-reason">
        <thead><tr><th>Reason</th><th class="right">Messages</th><th><span class="hidden">Actions</span></th></tr></thead>
        <tbody>{rows.map(([reason, n]) => (
          <tr key={reason} class={shown === (reason || "$empty") ? "selected" : ""}>
            <td><button type="button" class="link" onClick={() => refine({ reason: reason || "$empty" })}>{reason ? <Text>{reason}</Text> : "none"}</button></td>
            <td class="right">{number(n)}</td>
            <td class="right"><Button small act={() => exportReason(reason)}>Export</Button> <Button small title={plural(n, "message")} act={() => resubmit(entity, { reason }, n)}>Resubmit</Button> <Button small kind="danger" act={() => purgeSome(entity, { reason }, n)}>Remove</Button></td>
          </tr>
        ))}</tbody>
      </table>
      {exporting !== undefined && <Export entity={entity} numbers={[]} query={{ reason: exporting || "$empty" }} total={total} close={() => exportReason(undefined)} />}
    </Panel>
  );
}

export function DeadLetters({ path, chosen }: { path: string; chosen?: string }) {
  return <>{!chosen && <Reasons path={path} />}<Messages path={path} dead chosen={chosen} /></>;
}
