// The namespaces of this Minibus: what each has, a new one, and deleting one after a question that counts what is lost.
import { useState } from "preact/hooks";
import { all, at, call, get, open, textOf, type Connection, type Entity, type Namespace, type Schemas } from "./api";
import { ask } from "./asking";
import { number, plural } from "./format";
import { Badge, Button, Empty, Loading, Panel, Problem, Text } from "./kit";
import { parse, type Node } from "./json";
import { usePoll } from "./poll";
import { go, linkIn, route } from "./route";
import { refresh } from "./state";
import { tell } from "./toasts";

interface Known {
  namespace: Namespace;
  entities: number;
  messages: number;
  connections: number;
}

const messagesOf = (list: Entity[]) =>
  list.reduce((n, { kind, counts: c }) => n + c.scheduled + (kind === "topic" ? 0 : c.active + c.deadLetter + c.transfer + c.transferDeadLetter), 0);

async function know(namespace: Namespace, signal: AbortSignal): Promise<Known> {
  const [list, clients] = await Promise.all([all<Entity>(at`${namespace.name}/entities`, {}, 20_000, signal), all<Connection>(at`${namespace.name}/connections`, {}, 1000, signal)]);
  return { namespace, entities: list.length, messages: messagesOf(list), connections: clients.length };
}

const most = 50; // namespaces of which everything is counted

async function read(signal: AbortSignal): Promise<Known[]> {
  const { namespaces: list } = await get<Schemas["NamespaceListBody"]>("namespaces", {}, signal);
  return Promise.all(list.slice(0, most).map((n) => know(n, signal)));
}

function remove({ namespace, entities, messages, connections }: Known, snapshots: number, fallback: string, done: () => void): void {
  ask({
    title: "Delete the namespace?", yes: "Delete the namespace",
    text: <>
      <p><b><Text>{namespace.name}</Text></b> is deleted for good, with {plural(entities, "entity", "entities")}, <b>{plural(messages, "message")}</b> and {plural(snapshots, "snapshot")}.</p>
      <p>{connections > 0 ? `${plural(connections, "client is", "clients are")} disconnected.` : "No client is connected."} Its connection strings stop working.</p>
    </>,
    act: async () => {
      await call("DELETE", at`${namespace.name}`);
      if (route.value.namespace.toLowerCase() === namespace.name.toLowerCase()) go(linkIn(fallback, "namespaces"));
      refresh();
      done();
      tell(`Deleted ${namespace.name}.`);
    },
  });
}

// bodyOf returns the body that makes a namespace, with the entities of another one as its text has them.
async function bodyOf(name: string, from?: string): Promise<string> {
  if (!from) return JSON.stringify({ name });
  const text = await (await open("GET", at`${from}/config`)).text();
  const child = (n: Node | undefined, key: string) => n?.items?.[n.names?.indexOf(JSON.stringify(key)) ?? -1];
  const whole = child(child(parse(text)?.root, "UserConfig"), "Namespaces")?.items?.[0];
  const parts = ["Queues", "Topics"].flatMap((key) => {
    const n = child(whole, key);
    return n ? [`${JSON.stringify(key)}:${text.slice(n.from, n.to)}`] : [];
  });
  return `{${[`"name":${JSON.stringify(name)}`, ...parts].join(",")}}`;
}

function New({ from, done }: { from: string; done: () => void }) {
  const [name, setName] = useState(""), [like, setLike] = useState(false), [wrong, setWrong] = useState("");
  const submit = async () => {
    try {
      const made = await call<Namespace>("POST", "namespaces", { text: await bodyOf(name.trim(), like ? from : undefined) });
      setName("");
      refresh();
      done();
      tell(`Created ${made.name}.`);
    } catch (e) {
      setWrong(textOf(e).replace(/^body:\d+:\d+: error: \$\S*: /, ""));
    }
  };
  return (
    <Panel title="New namespace">
      <form class="entity-form" onSubmit={(e) => { e.preventDefault(); void submit(); }}>
        <div class="setting name">
          <label class="field-label" for="new-namespace">Name</label>
          <input id="new-namespace" value={name} spellcheck={false} autocomplete="off" placeholder="team-a" aria-describedby="new-namespace-help" aria-invalid={wrong ? true : undefined}
            onInput={(e) => { setName(e.currentTarget.value); setWrong(""); }} />
          <span id="new-namespace-help" class={wrong ? "wrong wrap" : "hint"} role={wrong ? "alert" : undefined}>{wrong || "6 to 50 letters, digits and hyphens."}</span>
        </div>
        <label class="check"><input type="checkbox" checked={like} onChange={(e) => setLike(e.currentTarget.checked)} /> <span>Copy the entities of <b><Text>{from}</Text></b>, without messages</span></label>
        <div class="bar"><Button kind="primary" type="submit" disabled={!name.trim()}>Create the namespace</Button></div>
      </form>
    </Panel>
  );
}

export function Namespaces() {
  const p = usePoll("namespaces", 5000, read), here = route.value.namespace;
  const fallback = p.value?.find((k) => k.namespace.default)?.namespace.name ?? "";
  const drop = async (k: Known) => remove(k, (await all(at`${k.namespace.name}/snapshots`, { limit: undefined }, 1000)).length, fallback, p.refresh);
  return (
    <>
      <h1>Namespaces</h1>
      <p class="hint">Each namespace has its own entities, clock and connection string. Give each team or test one of its own.</p>
      {p.error && <Problem text={p.error} retry={p.refresh} />}
      {!p.value && !p.error && <Loading />}
      {p.value?.length === 0 && <Empty title="No namespaces" />}
      {p.value && p.value.length > 0 && (
        <Panel flush>
          <div class="scroll" tabIndex={0} role="region" aria-label="Namespaces"><table class="plain lines">
            <thead><tr><th>Name</th><th class="right">Entities</th><th class="right">Messages</th><th class="right">Connections</th><th class="right">Port</th><th><span class="hidden">Actions</span></th></tr></thead>
            <tbody>{p.value.map((k) => (
              <tr key={k.namespace.name}>
                <td><a href={linkIn(k.namespace.name, "")}><Text>{k.namespace.name}</Text></a> {k.namespace.default && <Badge>default</Badge>}{k.namespace.name === here && <Badge tone="good">open</Badge>}</td>
                <td class="right" data-label="entities">{number(k.entities)}</td><td class="right" data-label="messages">{number(k.messages)}</td><td class="right" data-label="connections">{number(k.connections)}</td><td class="right" data-label="port">{k.namespace.port ?? "–"}</td>
                <td class="right">{!k.namespace.default && <Button small kind="danger" act={() => drop(k)}>Delete</Button>}</td>
              </tr>
            ))}</tbody>
          </table></div>
        </Panel>
      )}
      {here && <New from={here} done={p.refresh} />}
    </>
  );
}
