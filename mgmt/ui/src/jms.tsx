// What JMS clients make: subscriptions with a client id in their name, temporary queues and topics.
import type { Entity } from "./api";
import { plural } from "./format";
import { Badge, Text, type Children } from "./kit";

type Client = NonNullable<Entity["clientAffine"]>;

const kindOf = (c: Client) => `${c.durable ? "durable" : "not durable"}, ${c.shared ? "shared" : "one consumer at a time"}`;

// JMSBadge marks an entity of JMS clients.
export function JMSBadge({ e }: { e: Pick<Entity, "clientAffine" | "temporary"> }) {
  const c = e.clientAffine;
  if (e.temporary) return <Badge title="Made by a JMS client. It ends with the client's connection.">temporary</Badge>;
  return c ? <Badge title={`Client id: ${c.clientId || "none"}. ${kindOf(c)}`}>JMS</Badge> : null;
}

// jmsFacts are what is known of the clients.
export function jmsFacts(e: Pick<Entity, "clientAffine" | "temporary">): [string, Children][] {
  const c = e.clientAffine, facts: [string, Children][] = [];
  if (e.temporary) facts.push(["Lifetime", "temporary: it ends with the connection of its JMS client"]);
  if (!c) return facts;
  facts.push(["JMS client id", c.clientId ? <Text>{c.clientId}</Text> : <span class="faint">none</span>]);
  facts.push(["JMS subscription", `${kindOf(c)}; ${plural(c.consumers, "active consumer")}`]);
  return facts;
}
