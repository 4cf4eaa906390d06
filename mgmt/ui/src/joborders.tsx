// Orders for jobs, each after a question that says what happens and to how many messages.
import { at, call, type Job, type Schemas } from "./api";
import { number, plural } from "./format";
import { ask, tell, Text } from "./kit";
import { shown } from "./names";
import { go, link, route } from "./route";
import { refresh } from "./state";

export type Order = Schemas["JobOrder"];

// start starts a job and shows it.
export async function start(order: Order): Promise<void> {
  const job = await call<Job>("POST", at`${route.value.namespace}/jobs`, { body: order, query: { wait: "1s" } });
  refresh();
  tell(job.state === "done" ? `Done: ${plural(job.done, "message")}${job.failed ? `, ${number(job.failed)} failed` : ""}.` : "The job runs in the background.");
  if (job.state !== "done" || job.failed > 0) go(link("jobs"));
}

// purge removes all messages of an entity or a sub-queue.
export function purge(entity: string, count: number): void {
  ask({
    title: "Remove messages?", yes: `Remove ${plural(count, "message")}`,
    text: <>
      <p>All messages that are active in <b><Text>{shown(entity)}</Text></b> are removed: {plural(count, "message")} now. Deferred and scheduled ones stay, and so do those that clients have locked.</p>
      <p>This cannot be undone.</p>
    </>,
    act: () => start({ kind: "purge", entity }),
  });
}
