// Connection strings to copy, the programs that send and receive the first message, endpoints, and where to read on.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { open, type Entity } from "./api";
import { newEntity } from "./create";
import { keptHere } from "./kept";
import { Badge, Code, CopyButton, Empty, Loading, Panel, Text } from "./kit";
import { nameOf, topicOf } from "./names";
import { current, entities, entityAt, namespaces } from "./state";

const usualPort = "5300";

const language = keptHere("language", "shell");

// literal writes a text as languages with C's escapes do.
const literal = (s: string) => JSON.stringify(s);
// quoted writes a text as one word of a shell.
export const quoted = (s: string) => (/^[\w./-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'");

interface Program {
  name: string;
  title: string;
  send: (connection: string, entity: string, isTopic: boolean) => string;
  receive: (connection: string, from: Source) => string;
}

// Source is what a program receives from: a queue, or a subscription of a topic.
interface Source {
  entity: string; // a queue or a topic
  subscription?: string;
}

const programs: Program[] = [
  {
    name: "shell", title: "Shell",
    send: (c, e) => `minibus send ${quoted(e)} hello --connection ${quoted(c)}`,
    receive: (c, { entity, subscription }) => `minibus receive ${quoted(subscription ? `${entity}/${subscription}` : entity)} --connection ${quoted(c)}`,
  },
  {
    name: "net", title: ".NET",
    send: (c, e) => `// dotnet add package Azure.Messaging.ServiceBus
using Azure.Messaging.ServiceBus;

await using var client = new ServiceBusClient(${literal(c)});
await client.CreateSender(${literal(e)}).SendMessageAsync(new ServiceBusMessage("hello"));`,
    receive: (c, { entity, subscription }) => `// dotnet add package Azure.Messaging.ServiceBus
using Azure.Messaging.ServiceBus;

await using var client = new ServiceBusClient(${literal(c)});
var receiver = client.CreateReceiver(${[entity, subscription].filter(Boolean).map((x) => literal(x!)).join(", ")});
var message = await receiver.ReceiveMessageAsync();
Console.WriteLine(message.Body);
await receiver.CompleteMessageAsync(message);`,
  },
  {
    name: "java", title: "Java",
    send: (c, e, isTopic) => `// com.azure:azure-messaging-servicebus
try (var sender = new ServiceBusClientBuilder()
        .connectionString(${literal(c)})
        .sender().${isTopic ? "topicName" : "queueName"}(${literal(e)}).buildClient()) {
    sender.sendMessage(new ServiceBusMessage("hello"));
}`,
    receive: (c, { entity, subscription }) => `// com.azure:azure-messaging-servicebus
try (var receiver = new ServiceBusClientBuilder()
        .connectionString(${literal(c)})
        .receiver().${subscription ? `topicName(${literal(entity)}).subscriptionName(${literal(subscription)})` : `queueName(${literal(entity)})`}.buildClient()) {
    for (var message : receiver.receiveMessages(1)) {
        System.out.println(message.getBody());
        receiver.complete(message);
    }
}`,
  },
  {
    name: "js", title: "JavaScript",
    send: (c, e) => `// npm install @azure/service-bus
import { ServiceBusClient } from "@azure/service-bus";

const client = new ServiceBusClient(${literal(c)});
await client.createSender(${literal(e)}).sendMessages({ body: "hello" });
await client.close();`,
    receive: (c, { entity, subscription }) => `// npm install @azure/service-bus
import { ServiceBusClient } from "@azure/service-bus";

const client = new ServiceBusClient(${literal(c)});
const receiver = client.createReceiver(${[entity, subscription].filter(Boolean).map((x) => literal(x!)).join(", ")});
const [message] = await receiver.receiveMessages(1);
console.log(message.body);
await receiver.completeMessage(message);
await client.close();`,
  },
  {
    name: "python", title: "Python",
    send: (c, e, isTopic) => `# pip install azure-servicebus
from azure.servicebus import ServiceBusClient, ServiceBusMessage

connection = ${literal(c)}
with ServiceBusClient.from_connection_string(connection) as client:
    with client.${isTopic ? "get_topic_sender" : "get_queue_sender"}(${literal(e)}) as sender:
        sender.send_messages(ServiceBusMessage("hello"))`,
    receive: (c, { entity, subscription }) => `# pip install azure-servicebus
from azure.servicebus import ServiceBusClient

connection = ${literal(c)}
with ServiceBusClient.from_connection_string(connection) as client:
    with client.${subscription ? `get_subscription_receiver(${literal(entity)}, ${literal(subscription)})` : `get_queue_receiver(${literal(entity)})`} as receiver:
        for message in receiver.receive_messages(max_wait_time=5):
            print(message)
            receiver.complete_message(message)`,
  },
  {
    name: "go", title: "Go",
    send: (c, e) => `client, err := azservicebus.NewClientFromConnectionString(${literal(c)}, nil)
if err != nil {
	log.Fatal(err)
}
sender, err := client.NewSender(${literal(e)}, nil)
if err != nil {
	log.Fatal(err)
}
err = sender.SendMessage(context.Background(), &azservicebus.Message{Body: []byte("hello")}, nil)`,
    receive: (c, { entity, subscription }) => `client, err := azservicebus.NewClientFromConnectionString(${literal(c)}, nil)
if err != nil {
	log.Fatal(err)
}
receiver, err := client.${subscription ? `NewReceiverForSubscription(${literal(entity)}, ${literal(subscription)}, nil)` : `NewReceiverForQueue(${literal(entity)}, nil)`}
if err != nil {
	log.Fatal(err)
}
messages, err := receiver.ReceiveMessages(context.Background(), 1, nil)
if err != nil {
	log.Fatal(err)
}
fmt.Println(string(messages[0].Body))
err = receiver.CompleteMessage(context.Background(), messages[0], nil)`,
  },
];

function Languages() {
  return (
    <div class="chips" role="group" aria-label="Language">
      {programs.map((p) => <button key={p.name} type="button" class="chip" aria-pressed={p.name === language.value} onClick={() => (language.value = p.name)}>{p.title}</button>)}
    </div>
  );
}

const programOf = () => programs.find((p) => p.name === language.value) ?? programs[0]!;
const here = () => namespaces.value?.find((x) => x.name === current.value);

function Sends({ entity, connection }: { entity: string; connection: string }) {
  const program = programOf(), target = topicOf(entity) ?? entity;
  return <Code text={program.send(connection, target, entityAt.value.get(target.toLowerCase())?.kind === "topic")} label={`Send in ${program.title}`} />;
}

// Snippets shows how to send to an entity, in each language. A subscription gets what its topic gets.
export function Snippets({ entity }: { entity: string }) {
  return <><Languages /><Sends entity={entity} connection={here()?.connectionString ?? ""} /></>;
}

// Shell shows commands as they are typed in a shell. They look for a Minibus on the usual port and its default namespace; another one is named first.
export function Shell({ lines }: { lines: string[] }) {
  const n = namespaces.value?.find((x) => x.name === current.value);
  const named = n && (location.port !== usualPort || !n.default) ? [`export SERVICEBUS_CONNECTION_STRING=${quoted(n.connectionString)}`] : [];
  return <Code text={[...named, ...lines].join("\n")} label="In a shell" />;
}

// Ways are the places of a client, each with what it takes to connect from there.
const ways = [
  { name: "local", title: "This computer" }, { name: "container", title: "A container" }, { name: "tls", title: "With TLS" },
] as const;

type Way = (typeof ways)[number]["name"];

// stringFor changes a connection string for a client that is elsewhere, or that speaks TLS. Every port takes TLS.
function stringFor(way: Way, connection: string): string {
  if (way === "container") return connection.replace(/^Endpoint=sb:\/\/(localhost|127\.0\.0\.1|\[::1\])/, "Endpoint=sb://host.docker.internal");
  return way === "tls" ? connection.replace(/UseDevelopmentEmulator=true;?/, "") : connection;
}

const notes: Record<Way, ComponentChildren> = {
  local: <>The same string serves messages and administration in every language.</>,
  container: <>If Minibus runs in a container, too, use its service name instead, such as <code>sb://servicebus</code>, without a port.</>,
  tls: <>Clients have to trust Minibus’s <a href="/minibus/ca.pem" download="minibus-ca.pem">CA certificate</a>: set <code>SSL_CERT_FILE</code> for Go and .NET on Linux, <code>NODE_EXTRA_CA_CERTS</code> for JavaScript,{" "}
    <code>connection_verify</code> in Python. For Java, <code>minibus cert</code> shows how.</>,
};

// sample chooses the entity of the programs: one whose name a program would have, the busiest first.
function sample(list: Entity[]): Entity | undefined {
  const plain = (e: Entity) => /^[a-z][a-z0-9-]{2,24}$/.test(e.path), queues = list.filter((e) => e.kind === "queue");
  const [first] = [...queues.filter(plain)].sort((a, b) => b.traffic.stored - a.traffic.stored);
  return first ?? queues[0] ?? list.find((e) => e.kind === "topic");
}

// sourceOf returns what a program receives from, of an entity to which another one sends.
function sourceOf(e: Entity): Source | undefined {
  if (e.kind === "queue") return { entity: e.path };
  const s = entities.value?.find((x) => topicOf(x.path)?.toLowerCase() === e.path.toLowerCase());
  return s && { entity: e.path, subscription: nameOf(s) };
}

function Endpoints({ connection }: { connection: string }) {
  const host = /^Endpoint=sb:\/\/([^;/]+)/.exec(connection)?.[1] ?? "";
  const list = [["AMQP", `amqp://${host}`], ["AMQP over TLS", `amqps://${host}`], ["AMQP over WebSocket", `ws://${host}/$servicebus/websocket`], ["HTTP: REST and administration", `http://${host}/`], ["Control API", `${location.origin}/$minibus/v1/openapi.json`]];
  return (
    <Panel title="Endpoints" flush>
      <div class="scroll" tabIndex={0} role="region" aria-label="Endpoints"><table class="plain lines endpoints">
        <thead><tr><th>Protocol</th><th>Address</th><th><span class="hidden">Actions</span></th></tr></thead>
        <tbody>{list.map(([name, address]) => <tr key={name}><td>{name}</td><td><code>{address}</code></td><td class="right"><CopyButton text={address!} /></td></tr>)}</tbody>
      </table></div>
      <p class="hint pad above">Every port takes all of these protocols.</p>
    </Panel>
  );
}

// About names the version, where there is more to read, and where to write.
function About() {
  const [version, set] = useState(""), issues = document.querySelector<HTMLMetaElement>("meta[name=issues]")?.content; // none until the project has an address
  useEffect(() => void open("GET", "namespaces").then((a) => set((a.headers.get("Server") ?? "").replace(/^Minibus\//, "")), () => undefined), []);
  return (
    <Panel title="About">
      <p>{version && <><b>Minibus {version}</b> · </>}<a href="/$minibus/docs/">Documentation</a> · <a href="/$minibus/docs/troubleshooting">Troubleshooting</a> · <a href="/$minibus/v1/openapi.json">Control API</a>{issues && <> · <a href={issues} target="_blank" rel="noreferrer">Feedback</a></>}</p>
      <p class="hint">To report a problem, run <code>minibus support-bundle</code> and attach its file to an issue. It has no messages and no keys.</p>
    </Panel>
  );
}

export function Connect() {
  const n = here(), [way, go] = useState<Way>("local"), [chosen, choose] = useState("");
  const list = (entities.value ?? []).filter((e) => e.kind !== "subscription"), e = list.find((x) => x.path === chosen) ?? sample(list), from = e && sourceOf(e);
  if (!n) return <><h1>Connect</h1><Loading /></>;
  const program = programOf();
  return (
    <>
      <h1>Connect</h1>
      <Panel title="Connection string" actions={<div class="chips" role="group" aria-label="Where the client runs">{ways.map((w) => <button key={w.name} type="button" class="chip" aria-pressed={w.name === way} onClick={() => go(w.name)}>{w.title}</button>)}</div>}>
        {n.connectionStrings.length === 0 && <Empty title="No connection string"><p>The namespace has no shared access policy.</p></Empty>}
        {n.connectionStrings.map((c) => (
          <div key={c.keyName} class="connection-string">
            <p><b><Text>{c.keyName}</Text></b> {c.rights.map((r) => <Badge key={r}>{r}</Badge>)}</p>
            <Code text={stringFor(way, c.connectionString)} label={`Connection string of ${c.keyName}`} />
          </div>
        ))}
        <p class="hint">{notes[way]}</p>
        <p class="field-label">For programs and tests that read it from the environment</p>
        <Code text={`SERVICEBUS_CONNECTION_STRING=${quoted(stringFor(way, n.connectionString))}`} label="Environment variable" />
      </Panel>
      {e && (
        <Panel title="First program" actions={<label class="check"><span class="field-label">{e.kind === "topic" ? "Topic" : "Queue"}</span><select aria-label="Entity of the programs" value={e.path} onChange={(x) => choose(x.currentTarget.value)}>{list.slice(0, 500).map((x) => <option key={x.path}>{x.path}</option>)}</select></label>}>
          <Languages />
          <div class="programs">
            <div><h3>Send</h3><Sends entity={e.path} connection={stringFor(way, n.connectionString)} /></div>
            <div><h3>Receive</h3>{from ? <Code text={program.receive(stringFor(way, n.connectionString), from)} label={`Receive in ${program.title}`} /> : <p class="hint">The topic has no subscription to receive from. <a href={newEntity("subscription", e.path)}>Create one</a></p>}</div>
          </div>
        </Panel>
      )}
      <Endpoints connection={n.connectionString} />
      <About />
    </>
  );
}
