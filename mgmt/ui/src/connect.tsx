// Connection strings to copy, and the program that sends the first message.
import { keptHere } from "./kept";
import { Badge, Code, Empty, Panel, Text } from "./kit";
import { topicOf } from "./names";
import { current, entities, namespaces } from "./state";

const usualPort = "5300";

const language = keptHere("language", "shell");

// literal writes a text as languages with C's escapes do.
const literal = (s: string) => JSON.stringify(s);
// quoted writes a text as one word of a shell.
export const quoted = (s: string) => (/^[\w./-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'");

interface Program {
  name: string;
  title: string;
  text: (connection: string, entity: string) => string;
}

const programs: Program[] = [
  { name: "shell", title: "Shell", text: (c, e) => `minibus send ${quoted(e)} hello --connection ${quoted(c)}` },
  { name: "net", title: ".NET", text: (c, e) => `// dotnet add package Azure.Messaging.ServiceBus
using Azure.Messaging.ServiceBus;

await using var client = new ServiceBusClient(${literal(c)});
await client.CreateSender(${literal(e)}).SendMessageAsync(new ServiceBusMessage("hello"));` },
  { name: "java", title: "Java", text: (c, e) => `// com.azure:azure-messaging-servicebus
try (var sender = new ServiceBusClientBuilder()
        .connectionString(${literal(c)})
        .sender().queueName(${literal(e)}).buildClient()) {
    sender.sendMessage(new ServiceBusMessage("hello"));
}` },
  { name: "js", title: "JavaScript", text: (c, e) => `// npm install @azure/service-bus
import { ServiceBusClient } from "@azure/service-bus";

const client = new ServiceBusClient(${literal(c)});
await client.createSender(${literal(e)}).sendMessages({ body: "hello" });
await client.close();` },
  { name: "python", title: "Python", text: (c, e) => `# pip install azure-servicebus
from azure.servicebus import ServiceBusClient, ServiceBusMessage

connection = ${literal(c)}
with ServiceBusClient.from_connection_string(connection) as client:
    with client.get_queue_sender(${literal(e)}) as sender:
        sender.send_messages(ServiceBusMessage("hello"))` },
  { name: "go", title: "Go", text: (c, e) => `client, err := azservicebus.NewClientFromConnectionString(${literal(c)}, nil)
if err != nil {
	log.Fatal(err)
}
sender, err := client.NewSender(${literal(e)}, nil)
if err != nil {
	log.Fatal(err)
}
err = sender.SendMessage(context.Background(), &azservicebus.Message{Body: []byte("hello")}, nil)` },
];

// Snippets shows how to send to an entity, in each language. A subscription gets what its topic gets.
export function Snippets({ entity }: { entity: string }) {
  const n = namespaces.value?.find((x) => x.name === current.value);
  const program = programs.find((p) => p.name === language.value) ?? programs[0]!;
  const target = topicOf(entity) ?? entity;
  const isTopic = entities.value?.some((e) => e.kind === "topic" && e.path === target);
  let text = program.text(n?.connectionString ?? "", target);
  if (isTopic) text = text.replace("get_queue_sender", "get_topic_sender").replace(".queueName(", ".topicName(");
  return (
    <>
      <div class="tabs small" role="group" aria-label="Language">
        {programs.map((p) => <button key={p.name} type="button" class="tab" aria-pressed={p === program} onClick={() => (language.value = p.name)}>{p.title}</button>)}
      </div>
      <Code text={text} label={`Send in ${program.title}`} />
    </>
  );
}

// Shell shows commands as they are typed in a shell. They look for a Minibus on the usual port and its default namespace; another one is named first.
export function Shell({ lines }: { lines: string[] }) {
  const n = namespaces.value?.find((x) => x.name === current.value);
  const named = n && (location.port !== usualPort || !n.default) ? [`export SERVICEBUS_CONNECTION_STRING=${quoted(n.connectionString)}`] : [];
  return <Code text={[...named, ...lines].join("\n")} label="In a shell" />;
}

export function Connect() {
  const n = namespaces.value?.find((x) => x.name === current.value);
  if (!n) return null;
  const first = entities.value?.find((e) => e.kind !== "subscription");
  return (
    <>
      <h1>Connect</h1>
      <Panel title="Connection strings">
        {n.connectionStrings.length === 0 && <Empty title="The namespace has no policy, and so no connection string." />}
        {n.connectionStrings.map((c) => (
          <div key={c.keyName} class="connection-string">
            <p><b><Text>{c.keyName}</Text></b> {c.rights.map((r) => <Badge key={r}>{r}</Badge>)}</p>
            <Code text={c.connectionString} label={`Connection string of ${c.keyName}`} />
          </div>
        ))}
        <p class="hint">One string serves messages and administration in every language. Clients in containers need a host name that leads here in the place of localhost.</p>
      </Panel>
      {first && <Panel title="Send the first message"><Snippets entity={first.path} /></Panel>}
      <Panel title="In the environment of your program">
        <Code text={`SERVICEBUS_CONNECTION_STRING=${quoted(n.connectionString)}`} label="Variable of the environment" />
      </Panel>
    </>
  );
}

