// What clients were refused lately: links and tokens. A program that "just does not connect" is here, with the reason that it got.
import { all, at, type Schemas } from "./api";
import { entityAt } from "./state";
import { Panel, Problem, Text, Time } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { link } from "./route";

type Refusal = Schemas["Refusal"];

const most = 20;

function Asked({ r }: { r: Refusal }) {
  if (!r.entity) return <span class="faint">the namespace</span>;
  const path = r.subQueue ? `${r.entity}/${r.subQueue}` : r.entity;
  return entityAt.value.has(r.entity.toLowerCase()) ? <a href={link("entity", r.entity)}><Text>{shown(path)}</Text></a> : <Text>{shown(path)}</Text>;
}

export function Refusals({ namespace }: { namespace: string }) {
  const p = usePoll(namespace, 5000, (signal) => all<Refusal>(at`${namespace}/refusals`, { limit: undefined }, 256, signal));
  if (p.error) return <Problem text={p.error} retry={p.refresh} />;
  if (!p.value?.length) return null;
  return (
    <Panel title="Refused lately" flush actions={p.value.length > most && <span class="faint">the latest {most}</span>}>
      <div class="scroll" tabIndex={0} role="region" aria-label="Refused lately">
        <table class="plain refusals">
          <thead><tr><th>When</th><th>Client</th><th>Asked for</th><th>What it was told</th></tr></thead>
          <tbody>{p.value.slice(0, most).map((r, i) => (
            <tr key={r.time + i}>
              <td><Time at={r.time} real brief /></td>
              <td><Text>{r.client.container || r.client.product || r.client.remote}</Text></td>
              <td>{r.operation === "attach" ? "a link to" : "a token for"} <Asked r={r} /></td>
              <td class="wrap"><Text>{r.text}</Text></td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </Panel>
  );
}
