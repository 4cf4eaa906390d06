// Jobs: work on many messages in the background.
import { all, at, call, type Job } from "./api";
import { ask } from "./asking";
import { number, plural } from "./format";
import { Badge, Button, Empty, Facts, Loading, Panel, Problem, Text, Time } from "./kit";
import { shown } from "./names";
import { usePoll } from "./poll";
import { link, route } from "./route";
import { refresh } from "./state";

const kinds: Record<Job["kind"], string> = { purge: "Purge", move: "Move", resubmit: "Resubmit" };
const tones: Record<Job["state"], string> = { running: "", done: "good", cancelled: "warn", failed: "bad" };

function cancel(namespace: string, j: Job, done: () => void): void {
  ask({
    title: "Cancel this job?", yes: "Cancel the job",
    text: <p>It stops after the current batch. The {plural(j.done, "message")} it has {j.kind === "purge" ? "purged" : "moved"} so far {j.done === 1 ? "isn’t" : "aren’t"} brought back.</p>,
    act: async () => {
      await call("POST", at`${namespace}/jobs/${j.id}/cancel`, { query: { wait: "2s" } });
      done();
      refresh();
    },
  });
}

function Card({ namespace, j, done }: { namespace: string; j: Job; done: () => void }) {
  const title = <>{kinds[j.kind]} <Text>{shown(j.entity)}</Text>{j.target && <> → <Text>{shown(j.target)}</Text></>}</>;
  return (
    <Panel flush title={<>{title} <Badge tone={tones[j.state]}>{j.state}</Badge></>} actions={j.state === "running" && <Button small kind="danger" act={() => cancel(namespace, j, done)}>Cancel</Button>}>
      <progress class="job-progress" max={Math.max(j.total, 1)} value={j.state === "done" ? Math.max(j.total, 1) : j.examined} aria-label={`${number(j.examined)} of ${number(j.total)} messages examined`} />
      <Facts dense facts={[
        ["Examined", `${number(j.examined)} of ${number(j.total)}`], [j.kind === "purge" ? "Purged" : "Moved", number(j.done)],
        ["Failed", j.failed ? <span class="dead-text">{number(j.failed)}</span> : "0"], ["Skipped", <span title="Locked or received by clients meanwhile">{number(j.skipped)}</span>],
        ["Started", <Time at={j.started} />], ["Ended", j.ended ? <Time at={j.ended} /> : "not yet"],
      ]} />
      {j.why && <Problem text={j.why} />}
      {j.errors.length > 0 && (
        <details class="job-errors" open>
          <summary>{plural(j.failed, "message")} failed{j.failed > j.errors.length ? `; the first ${j.errors.length}` : ""}</summary>
          <ul>{j.errors.map((e) => <li key={e.sequenceNumber}><b>#{e.sequenceNumber}</b> <Text class="wrap">{e.detail}</Text></li>)}</ul>
        </details>
      )}
    </Panel>
  );
}

export function Jobs() {
  const namespace = route.value.namespace;
  const p = usePoll(namespace, 1000, (signal) => all<Job>(at`${namespace}/jobs`, { limit: undefined }, 1000, signal));
  return (
    <>
      <h1>Jobs</h1>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!p.value && !p.error && <Loading />}
      {p.value?.length === 0 && <Empty title="No jobs since Minibus started"><p>Purging an entity and resubmitting its dead letters run here in the background. <a href={link("")}>Choose an entity</a></p></Empty>}
      {p.value?.map((j) => <Card key={j.id} namespace={namespace} j={j} done={p.refresh} />)}
    </>
  );
}
