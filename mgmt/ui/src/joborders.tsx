// Orders for jobs, each after a question that says what happens and to how many messages.
import { AgainForm, asTheyAre, orderOf, type Again } from "./again";
import { at, call, type Job, type Schemas } from "./api";
import { ask } from "./asking";
import { number, plural } from "./format";
import { Text } from "./kit";
import { shown } from "./names";
import { go, link, route } from "./route";
import { refresh } from "./state";
import { tell } from "./toasts";

export type Order = Schemas["JobOrder"];

// start starts a job and shows it.
export async function start(order: Order): Promise<void> {
  const job = await call<Job>("POST", at`${route.value.namespace}/jobs`, { body: order, query: { wait: "1s" } });
  refresh();
  if (job.state !== "done" || job.failed > 0) go(link("jobs"));
  tell(job.state === "done" ? `Done: ${plural(job.done, "message")}${job.failed ? `, ${number(job.failed)} failed` : ""}.` : "The job runs in the background.");
}

// purge removes all messages of an entity or a sub-queue.
export function purge(entity: string, count: number): void {
  ask({
    title: "Purge messages?", yes: `Purge ${plural(count, "message")}`, losing: "purge",
    text: <>
      <p>All messages that are active in <b><Text>{shown(entity)}</Text></b> are removed: {plural(count, "message")} now. Deferred and scheduled ones stay, and so do those that clients have locked.</p>
      <p>Export them first if they may be of use.</p>
    </>,
    act: () => start({ kind: "purge", entity }),
  });
}

type Filter = NonNullable<Order["filter"]>;

const words = (f: Filter) => [f.reason !== undefined && `with the reason ${f.reason || "none"}`, f.text && `with the text ${f.text}`, f.sql && `for which ${f.sql}`,
  f.sessionId !== undefined && `of the session ${f.sessionId || "(the empty text)"}`, f.sequenceNumbers && "that are selected"].filter(Boolean).join(", ");

// without leaves out what is not given.
const without = (f: Filter): Filter => Object.fromEntries(Object.entries(f).filter(([k, v]) => v !== undefined && (v !== "" || k === "reason" || k === "sessionId")));

const some = (n?: number) => (n === undefined ? "all messages that fit" : plural(n, "message"));

// purgeSome removes the messages that fit.
export function purgeSome(entity: string, filter: Filter, count?: number): void {
  ask({
    title: "Remove messages?", yes: `Remove ${some(count)}`, losing: "removing",
    text: <><p>Of <b><Text>{shown(entity)}</Text></b>, {some(count)} <Text>{words(filter)}</Text> are removed. Those that clients have locked stay.</p><p>Export them first if they may be of use.</p></>,
    act: () => start({ kind: "purge", entity, filter: without(filter) }),
  });
}

// resubmit sends dead letters again to their own entity or to another one, as they are or edited.
export function resubmit(entity: string, filter: Filter, count?: number, then?: () => unknown): void {
  const order: { now: Again } = { now: asTheyAre };
  ask({
    title: "Send dead letters again?", yes: `Resubmit ${some(count)}`, form: true,
    text: <AgainForm keep={(a) => (order.now = a)}>
      <p>Of <b><Text>{shown(entity)}</Text></b>, {some(count)} <Text>{words(filter)}</Text> move as new messages, in batches that are each one change on the disk. Their receivers may get them at once, so this cannot be undone; the job can be cancelled in between.</p>
    </AgainForm>,
    act: async () => {
      await start({ kind: "resubmit", entity, filter: without(filter), ...orderOf(order.now) });
      await then?.();
    },
  });
}
