// One side of compat-tests/exchange: sends the samples of a file to a topic, or receives what a subscription has and prints it,
// one message a line, in the form of samples.json.
//
//   node exchange.mjs send FILE TOPIC
//   node exchange.mjs receive COUNT TOPIC SUBSCRIPTION
import { readFileSync } from "node:fs";
import { ServiceBusClient } from "@azure/service-bus";

const client = new ServiceBusClient(process.env.MINIBUS_CONNECTION_STRING, { retryOptions: { maxRetries: 0 } });
const [role, what, topic, subscription] = process.argv.slice(2);

// A value of the samples, as a program of this SDK has it.
function native(value) {
  const [[kind, v]] = Object.entries(value);
  switch (kind) {
    case "null": return null;
    case "time": return new Date(v);
    case "list": return v.map(native);
    case "map": return natives(v);
    case "uuid": case "binary": throw new Error(`no ${kind} in JavaScript`);
    default: return v;
  }
}

const natives = (values) => values && Object.fromEntries(Object.entries(values).map(([key, v]) => [key, native(v)]));

// The SDK shows the bytes of a property as an object with their places as keys.
const isBytes = (v) => v instanceof Uint8Array || (Object.keys(v).length > 0 && Object.keys(v).every((key, i) => key === String(i)));

// What the SDK shows of a value, as the samples have it.
function shown(v) {
  if (v === null || v === undefined) return { null: true };
  if (Array.isArray(v)) return { list: v.map(shown) };
  if (v instanceof Date) return { time: v.getTime() };
  switch (typeof v) {
    case "string": return { string: v };
    case "boolean": return { bool: v };
    case "number": return Number.isInteger(v) ? { int: v } : { double: v };
    case "object": return isBytes(v) ? { binary: Buffer.from(Object.values(v)).toString("base64") } : { map: showns(v) };
    default: return { unknown: String(v) };
  }
}

const showns = (values) => Object.fromEntries(Object.entries(values ?? {}).map(([key, v]) => [key, shown(v)]));

function message(sample) {
  const { id, properties, app, body, header, annotations, footer } = sample;
  const data = Buffer.from(body?.data?.[0] ?? "", "base64");
  if (!body?.value && !body?.sequence && !header && !annotations && !footer) {
    return { messageId: id, ...properties, applicationProperties: natives(app), body: data };
  }
  const raw = { bodyType: "data", body: data };
  if (body?.value) Object.assign(raw, { bodyType: "value", body: native(body.value) });
  if (body?.sequence) Object.assign(raw, { bodyType: "sequence", body: body.sequence[0].map(native) });
  return { ...raw, properties: { messageId: id }, header, messageAnnotations: natives(annotations), footer: natives(footer) };
}

function bodyOf({ body, _rawAmqpMessage: { bodyType } }) {
  if (bodyType === "value") return { value: shown(body) };
  if (bodyType === "sequence") return { sequence: [body.map(shown)] };
  return { data: (Array.isArray(body) ? body : [body]).map((d) => d.toString("base64")) };
}

const names = ["correlationId", "subject", "contentType", "to", "replyTo", "replyToSessionId", "sessionId", "partitionKey"];

function canonical(m) {
  const raw = m._rawAmqpMessage;
  return {
    id: m.messageId, properties: Object.fromEntries(names.filter((n) => m[n] !== undefined).map((n) => [n, m[n]])),
    app: showns(m.applicationProperties), body: bodyOf(m),
    header: { durable: Boolean(raw.header?.durable), priority: raw.header?.priority ?? 4 },
    annotations: showns(raw.messageAnnotations), footer: showns(raw.footer),
  };
}

if (role === "send") {
  const sender = client.createSender(topic);
  for (const sample of JSON.parse(readFileSync(what, "utf8"))) await sender.sendMessages(message(sample));
} else {
  const receiver = client.createReceiver(topic, subscription, { receiveMode: "receiveAndDelete", skipParsingBodyAsJson: true });
  for (let left = Number(what); left > 0;) {
    const got = await receiver.receiveMessages(left, { maxWaitTimeInMs: 20_000 });
    if (got.length === 0) throw new Error(`${left} messages did not come`);
    left -= got.length;
    for (const m of got) console.log(JSON.stringify(canonical(m)));
  }
}
await client.close();
