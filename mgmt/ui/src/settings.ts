// The settings of queues, topics and subscriptions: what they are called, what they hold, and what counts without them.
import type { Schemas } from "./api";
import { isoOf, typedDuration } from "./durations";

export type Kind = "queue" | "topic" | "subscription";

export interface Setting {
  name: keyof Schemas["EntityProperties"];
  title: string;
  type: "duration" | "number" | "flag" | "entity" | "status" | "text";
  unit?: string;
  initial: string; // what counts if nothing is typed, as a text; empty: see help
  help: string;
  kinds: Kind[];
  fixed?: boolean; // at creation
}

export interface Group {
  title: string;
  settings: Setting[];
}

const both: Kind[] = ["queue", "topic"], holders: Kind[] = ["queue", "subscription"], all: Kind[] = ["queue", "topic", "subscription"];

const groups: Group[] = [
  { title: "Delivery", settings: [
    { name: "LockDuration", title: "Lock duration", type: "duration", initial: "1m", kinds: holders, help: "How long a receiver may keep a message before another one gets it." },
    { name: "MaxDeliveryCount", title: "Max delivery count", type: "number", unit: "times", initial: "3", kinds: holders, help: "How often a message is delivered before it goes to the dead-letter queue." },
    { name: "RequiresSession", title: "Sessions", type: "flag", initial: "false", fixed: true, kinds: holders, help: "Every message needs a session id, and one receiver gets a session in order." },
  ] },
  { title: "Time to live and dead letters", settings: [
    { name: "DefaultMessageTimeToLive", title: "Time to live", type: "duration", initial: "1h", kinds: all, help: "How long a message lives unless it asks for less. never: for ever." },
    { name: "DeadLetteringOnMessageExpiration", title: "Keep expired messages as dead letters", type: "flag", initial: "false", kinds: holders, help: "Otherwise they are removed." },
    { name: "DeadLetteringOnFilterEvaluationExceptions", title: "Keep messages for which a rule fails", type: "flag", initial: "true", kinds: ["subscription"], help: "As dead letters. Otherwise the rule is ignored for them." },
  ] },
  { title: "Duplicates", settings: [
    { name: "RequiresDuplicateDetection", title: "Drop duplicates", type: "flag", initial: "false", fixed: true, kinds: both, help: "A message with a message id that came before is dropped." },
    { name: "DuplicateDetectionHistoryTimeWindow", title: "Remember message ids for", type: "duration", initial: "20s", kinds: both, help: "Counts if duplicates are dropped." },
  ] },
  { title: "Forwarding", settings: [
    { name: "ForwardTo", title: "Forward messages to", type: "entity", initial: "", kinds: holders, help: "A queue or topic. Nobody can receive here then. Empty: none." },
    { name: "ForwardDeadLetteredMessagesTo", title: "Forward dead letters to", type: "entity", initial: "", kinds: holders, help: "A queue or topic. Empty: none." },
  ] },
  { title: "Size and storage", settings: [
    { name: "MaxSizeInMegabytes", title: "Size", type: "number", unit: "MiB", initial: "1024", kinds: both, help: "How much it holds; of a partitioned one, each partition." },
    { name: "MaxMessageSizeInKilobytes", title: "Size of a message", type: "number", unit: "KiB", initial: "", kinds: both, help: "Default: that of the limits of the namespace, 256 without any." },
    { name: "EnablePartitioning", title: "Partitions", type: "flag", initial: "false", fixed: true, kinds: both, help: "Messages are spread over 16 partitions, each with numbers of its own." },
    { name: "SupportOrdering", title: "Support ordering", type: "flag", initial: "true", kinds: ["topic"], help: "Default: on, unless the topic is partitioned." },
    { name: "EnableBatchedOperations", title: "Batched operations", type: "flag", initial: "true", kinds: all, help: "Kept and shown; it changes nothing here." },
  ] },
  { title: "Status, lifetime and notes", settings: [
    { name: "Status", title: "Status", type: "status", initial: "Active", kinds: all, help: "What clients may do: all, nothing, not send, not receive." },
    { name: "AutoDeleteOnIdle", title: "Delete when idle for", type: "duration", initial: "never", kinds: all, help: "With its messages. 5m at least; never: it stays." },
    { name: "UserMetadata", title: "Notes", type: "text", initial: "", kinds: all, help: "A text of your own." },
  ] },
];

// groupsOf returns the settings of a kind of entity.
export const groupsOf = (kind: Kind): Group[] =>
  groups.map((g) => ({ ...g, settings: g.settings.filter((s) => s.kinds.includes(kind)) })).filter((g) => g.settings.length > 0);

export const statuses: [string, string][] = [["Active", "Active"], ["Disabled", "Disabled: nobody sends or receives"], ["SendDisabled", "SendDisabled: receive only"], ["ReceiveDisabled", "ReceiveDisabled: send only"]];

// Texts holds the typed text of each setting, by its name.
export type Texts = Record<string, string>;

// textsOf returns the texts of the settings of an entity.
export function textsOf(kind: Kind, properties: Record<string, unknown>): Texts {
  const texts: Texts = {};
  for (const s of groupsOf(kind).flatMap((g) => g.settings)) {
    const v = properties[s.name];
    texts[s.name] = v === undefined || v === null ? s.initial : s.type === "duration" ? typedDuration(String(v)) : String(v);
  }
  return texts;
}

// propertiesOf makes settings of texts. What is empty has its default: null if that replaces what was. Wrong texts have their reasons.
export function propertiesOf(kind: Kind, texts: Texts, before?: Texts): { properties: Record<string, unknown>; wrong: Texts } {
  const properties: Record<string, unknown> = {}, wrong: Texts = {};
  for (const s of groupsOf(kind).flatMap((g) => g.settings)) {
    const text = (texts[s.name] ?? "").trim(), old = before ? before[s.name] ?? "" : s.initial;
    if (text === old || (before && s.fixed)) continue;
    if (text === "") {
      if (before) properties[s.name] = s.type === "entity" || s.type === "text" ? "" : null;
      continue;
    }
    try {
      properties[s.name] = valueOf(s, text);
    } catch (e) {
      wrong[s.name] = (e as Error).message;
    }
  }
  return { properties, wrong };
}

function valueOf(s: Setting, text: string): unknown {
  switch (s.type) {
    case "duration":
      return isoOf(text);
    case "flag":
      return text === "true";
    case "number":
      if (!/^\d[\d\s\u202f]*$/.test(text)) throw new Error("Write a whole number.");
      return Number(text.replace(/\D/g, ""));
    default:
      return text;
  }
}
